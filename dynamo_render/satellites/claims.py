"""PersistentVolumeClaims that a graph asks for. Specification: rendering.md section 23.3."""

from __future__ import annotations

from collections.abc import Iterable

from dynamo_render.errors import Problem
from dynamo_render.facts import FactQuery
from dynamo_render.kube.manifest import Manifest, framed
from dynamo_render.satellites.contract import Graph, GraphSatellite
from dynamo_render.values import Value, frozen


@frozen(kw_only=True)
class ClaimPlan(Value):
    """One claim to create."""

    name: str
    namespace: str
    access_mode: str
    size: str
    storage_class: str


def _planned(graph: Graph) -> Iterable[ClaimPlan]:
    """Yield the claims to create; report one that should exist and, as far as is known, does not.

    A claim that exists is still part of the result when the graph asks to create it: what is already there is the
    applier's concern, as claims are never rewritten.
    """
    known = graph.scope.namespace_facts.pvcs
    seen: set[str] = set()
    for index, claim in enumerate(graph.spec.pvcs or ()):
        if not claim.name or claim.name in seen:
            continue
        seen.add(claim.name)
        if claim.create:
            yield ClaimPlan(
                name=claim.name,
                namespace=graph.scope.namespace,
                access_mode=claim.volume_access_mode or "",
                size=claim.size or "0",
                storage_class=claim.storage_class or "",
            )
        elif known is not None and claim.name not in known:
            message = f'the claim "{claim.name}" does not exist and create is not true'
            hint = "set create: true with size, storageClass and volumeAccessMode, or create the claim first"
            graph.scope.problems.append(Problem("CTL-09", ("spec", "pvcs", index, "name"), message, hint))


def _needs(graph: Graph) -> FactQuery:
    names = (claim.name for claim in graph.spec.pvcs or () if claim.name)
    return FactQuery(claims=frozenset((graph.scope.namespace, name) for name in names))


def _build(plan: ClaimPlan) -> tuple[Manifest, ...]:
    spec = {
        "accessModes": [plan.access_mode],
        "resources": {"requests": {"storage": plan.size}},
        "storageClassName": plan.storage_class,
    }
    return (framed("v1", "PersistentVolumeClaim", plan.name, plan.namespace, spec=spec),)


CLAIMS = GraphSatellite(planned=_planned, build=_build, needs=_needs)

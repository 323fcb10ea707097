"""The SSH key of TensorRT-LLM multinode, copied into the graph's namespace. rendering.md section 23.6."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dynamo_render import backends
from dynamo_render.backends import detect
from dynamo_render.components import component_type
from dynamo_render.facts import FactQuery
from dynamo_render.kube import structural
from dynamo_render.kube.manifest import Manifest, framed
from dynamo_render.satellites.contract import Graph, GraphSatellite
from dynamo_render.scope import ComponentScope
from dynamo_render.values import Value, frozen


@frozen(kw_only=True)
class SecretPlan(Value):
    """A copy of a Secret; *content* holds its type and data."""

    name: str
    namespace: str
    content: Mapping[str, Any]


def _planned(graph: Graph) -> Iterable[SecretPlan]:
    """Yield the copy where the source's content is among the facts and the target is not there yet."""
    scope = graph.scope
    source, present = scope.facts.mpi_source, scope.namespace_facts.mpi_secret
    if source is None or present or not _is_wanted(graph):
        return
    content = {key: source[key] for key in ("type", "data") if key in source}
    yield SecretPlan(name=scope.settings.mpi_ssh_secret_name, namespace=scope.namespace, content=content)


def _is_wanted(graph: Graph) -> bool:
    return not graph.scope.profile.mpi_secret_only_where_used or _is_used(graph)


def _is_used(graph: Graph) -> bool:
    return any(component.is_multinode and _starts_mpi(component) for component in graph.components)


def _starts_mpi(component: ComponentScope) -> bool:
    if not component_type(component.component_type).runs_engine:
        return False
    container = component.spec.main_container
    try:
        name = detect.choose(container.get("command", ()), container.get("args", ()), component.engine)
    except ValueError:
        return False  # reported where the pod is planned
    return backends.BACKENDS[name].workers_start_first


def _needs(graph: Graph) -> FactQuery:
    here = frozenset({graph.scope.namespace})
    return FactQuery(
        mpi_secret_namespaces=here if _is_wanted(graph) else frozenset(),
        mpi_key_namespaces=here if _is_used(graph) else frozenset(),
    )


def _build(plan: SecretPlan) -> tuple[Manifest, ...]:
    return (framed("v1", "Secret", plan.name, plan.namespace, **structural.copied(dict(plan.content))),)


MPI_SECRET = GraphSatellite(planned=_planned, build=_build, owned=False, needs=_needs)

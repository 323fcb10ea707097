"""Contradictions within a graph, as the admission rules name them. Specification: api.md sections 9.2 to 9.4."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_render.errors import Problem
from dynamo_render.kinds.shared.component_rules import component_problems
from dynamo_render.kube import quantity
from dynamo_render.profiles import Profile
from dynamo_render.spec.graph import Claim, GraphSpec


def problems(spec: GraphSpec, profile: Profile) -> Iterator[Problem]:
    """Yield every refusal and warning about a graph: its claims, its restart, then its services by name."""
    if not spec.services:
        yield Problem("DGD-V01", ("spec", "services"), "must hold at least one service")
    for index, claim in enumerate(spec.pvcs or ()):
        yield from _claim_problems(claim, ("spec", "pvcs", index))
    yield from _restart_problems(spec)
    for service in sorted(spec.services or ()):
        yield from component_problems((spec.services or {})[service], ("spec", "services", service), profile)


def _claim_problems(claim: Claim, path: tuple[str | int, ...]) -> Iterator[Problem]:
    if not claim.name:
        yield Problem("DGD-V02", (*path, "name"), "is required")
    if not claim.create:
        return
    if None in (claim.storage_class, claim.size, claim.volume_access_mode):
        # The API server refuses what is missing, and then no webhook is asked about what is there and empty.
        yield Problem("schema/claim", path, Claim.DEMANDS[0].message)
    if not claim.storage_class:
        yield Problem("DGD-V03", (*path, "storageClass"), "is required when create is true")
    if claim.size is None or quantity.is_zero(claim.size):
        yield Problem("DGD-V04", (*path, "size"), "is required when create is true")
    if not claim.volume_access_mode:
        hint = "ReadWriteMany lets the pods of several nodes share the claim"
        yield Problem("DGD-V05", (*path, "volumeAccessMode"), "is required when create is true", hint)


def _restart_problems(spec: GraphSpec) -> Iterator[Problem]:
    strategy = spec.restart and spec.restart.strategy
    if not strategy or not strategy.order:
        return
    path = ("spec", "restart", "strategy", "order")
    services = spec.services or {}
    distinct = list(dict.fromkeys(strategy.order))
    if strategy.type == "Parallel":
        yield Problem("DGD-V07", path, "cannot be combined with type Parallel")
        return
    if len(distinct) != len(strategy.order):
        yield Problem("DGD-V08", path, "must not name a service twice")
    if len(distinct) != len(services):
        yield Problem("DGD-V09", path, f"must name each of the {len(services)} services exactly once")
    for name in distinct:
        if name not in services:
            at = (*path, strategy.order.index(name))
            known = ", ".join(sorted(services))
            yield Problem("DGD-V10", at, f'"{name}" is no service of this graph', f"services: {known}")

"""What admission refuses when a graph is changed. Specification: api.md sections 9.2, 9.4 and 9.5."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_render.errors import Problem
from dynamo_render.kinds.contract import Reading
from dynamo_render.kinds.shared.update_rules import backend_problems, may_change_replicas
from dynamo_render.spec.component import ComponentSpec
from dynamo_render.spec.graph import GraphSpec

ADAPTER_HINT = "change spec.replicas of the service's DynamoGraphDeploymentScalingAdapter, or turn scalingAdapter off"


def groups(old: Reading, new: Reading, user: str) -> Iterator[tuple[Problem, ...]]:
    """Yield the refusals of a change by *user*, in the groups in which admission evaluates them."""
    before, after = old.spec, new.spec
    yield (
        *backend_problems("DGD-U01", before.backend_framework, after.backend_framework),
        *_topology_problems(before, after),
    )
    yield tuple(_service_set_problems(before, after))
    yield () if may_change_replicas(user) else tuple(_replica_problems(before, after))


def _in_both(old: GraphSpec, new: GraphSpec) -> Iterator[tuple[str, ComponentSpec, ComponentSpec]]:
    before, after = old.services or {}, new.services or {}
    for service in sorted(before.keys() & after.keys()):
        yield service, before[service], after[service]


def _topology_problems(old: GraphSpec, new: GraphSpec) -> Iterator[Problem]:
    for service, before, after in _in_both(old, new):
        if (before.nodes > 1) != (after.nodes > 1):
            change = "one node to several" if after.nodes > 1 else "several nodes to one"
            hint = "delete the graph and create it again; the number of nodes may change as long as there are several"
            path = ("spec", "services", service, "multinode")
            yield Problem("DGD-U02", path, f"cannot be changed from {change}", hint)


def _service_set_problems(old: GraphSpec, new: GraphSpec) -> Iterator[Problem]:
    before, after = set(old.services or ()), set(new.services or ())
    changes = [
        f"{verb}: {', '.join(sorted(names))}"
        for verb, names in (("added", after - before), ("removed", before - after))
        if names
    ]
    if changes:
        message = f"the services of a graph cannot be changed; {'; '.join(changes)}"
        yield Problem("DGD-U03", ("spec", "services"), message, "delete the graph and create it again")


def _replica_problems(old: GraphSpec, new: GraphSpec) -> Iterator[Problem]:
    for service, before, after in _in_both(old, new):
        is_held = after.scaling_adapter is not None and after.scaling_adapter.enabled
        if is_held and _replicas(before) != _replicas(after):
            message = (
                f"belongs to the scaling adapter and cannot be changed from {_replicas(before)} to {_replicas(after)}"
            )
            yield Problem("DGD-U04", ("spec", "services", service, "replicas"), message, ADAPTER_HINT)


def _replicas(spec: ComponentSpec) -> int:
    return 1 if spec.replicas is None else spec.replicas

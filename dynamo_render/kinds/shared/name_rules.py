"""Computed names: that they are legal, within their limits, and do not collide. Specification: api.md section 12."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dynamo_render.errors import Problem
from dynamo_render.kube import names
from dynamo_render.satellites.services import STEALING_ANNOTATION
from dynamo_render.scope import ComponentScope

GROVE_BUDGET = 45

_SAME_NAME = "service names must differ in more than upper and lower case"
_ADDED_NAME = "a service must not be called like another one with -p, -d, -ldr or -wkr, which are added to names"


def name_problems(components: Sequence[ComponentScope]) -> Iterator[Problem]:
    """Yield every computed name that a cluster would refuse, and every pair of services that share their names."""
    yield from _collisions(components)
    for scope in components:
        yield from _service_name(scope)
        yield from _label_values(scope)
        if scope.pathway == "grove":
            yield from _grove_names(scope)


def _collisions(components: Sequence[ComponentScope]) -> Iterator[Problem]:
    taken: dict[str, ComponentScope] = {}
    for scope in components:
        for name in _taken_names(scope):
            first = taken.setdefault(name, scope)
            if first is not scope:
                message = f'its objects would be called "{name}" like those of service "{first.service}"'
                hint = _SAME_NAME if scope.name == first.name else _ADDED_NAME
                yield Problem("names/collision", scope.path, message, hint)


def _taken_names(scope: ComponentScope) -> Iterator[str]:
    """Yield the names that a component's objects share: its own, those of a debug pod, those of its Grove cliques."""
    yield scope.name
    if _splits(scope):
        yield from (f"{scope.name}-p", f"{scope.name}-d")
    if scope.pathway == "grove" and scope.is_multinode:
        yield from (f"{scope.name}-ldr", f"{scope.name}-wkr")


def _splits(scope: ComponentScope) -> bool:
    """Say whether the component has Services and a Deployment of its own for debugging."""
    return scope.pathway == "component" and scope.annotations.get(STEALING_ANNOTATION) == "true"


def _service_name(scope: ComponentScope) -> Iterator[Problem]:
    """Yield a problem if the longest Service name of the component is no DNS label."""
    longest = f"{scope.name}-d" if _splits(scope) else scope.name
    reason = names.why_not_dns_label_starting_with_letter(longest)
    if reason:
        message = f'the Service name "{longest}" ({len(longest)} characters) is illegal: {reason}'
        hint = f"at most {names.MAX_DNS_LABEL} characters: small letters, digits and hyphens, a letter first"
        yield Problem("names/service", scope.path, message, hint)


def _label_values(scope: ComponentScope) -> Iterator[Problem]:
    values = {
        "nvidia.com/dynamo-graph-deployment-name": (scope.graph.name, ()),
        "nvidia.com/dynamo-namespace": (scope.dynamo_namespace, ()),
        "nvidia.com/dynamo-component": (scope.service, ()),
        "nvidia.com/dynamo-component-type": (scope.component_type, ("componentType",)),
        "nvidia.com/dynamo-sub-component-type": (scope.spec.sub_component_type or "", ("subComponentType",)),
    }
    for label, (value, field) in values.items():
        reason = names.why_not_label_value(value)
        if reason:
            message = f'the label {label} would be "{value}" ({len(value)} characters), which is illegal: {reason}'
            yield Problem("names/label", (*scope.path, *field), message)


def _grove_names(scope: ComponentScope) -> Iterator[Problem]:
    return grove_problems(scope.graph.name, scope.service, scope.path, is_multinode=scope.is_multinode)


def grove_problems(graph: str, service: str, path: tuple[str | int, ...], *, is_multinode: bool) -> Iterator[Problem]:
    """Yield a problem if the names that Grove composes for the component's pods exceed its budget."""
    service = service.lower()
    parts = (graph, service, f"{service}-ldr") if is_multinode else (graph, service)
    used = sum(map(len, parts))
    if used > GROVE_BUDGET:
        message = f"Grove composes {' + '.join(parts)}: {used} characters, the limit is {GROVE_BUDGET}"
        yield Problem("names/grove", path, message, f"shorten graph and service by {used - GROVE_BUDGET} in all")

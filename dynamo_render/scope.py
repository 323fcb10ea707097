"""The inputs of the plan stage, side by side: a graph's or component's fields, settings, facts and profile.

Scopes are read while planning only; plans never hold one. The few values here that are computed (names, the effective
discovery backend) are those that several rooms need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import attrs

from dynamo_render.errors import Problem
from dynamo_render.facts import ClusterFacts, NamespaceFacts
from dynamo_render.observed import Observed
from dynamo_render.profiles import Profile
from dynamo_render.settings import OperatorSettings
from dynamo_render.spec.component import ComponentSpec
from dynamo_render.values import Value, frozen

Pathway = Literal["grove", "component"]

DISCOVERY_ANNOTATION = "nvidia.com/dynamo-discovery-backend"
METRICS_ANNOTATION = "nvidia.com/enable-metrics"
RESTART_ANNOTATION = "nvidia.com/restartAt"


def _found(value: Callable[[Any], Any]) -> Any:
    """Declare a field that is found out from the others once, when the scope is made: many rooms ask for it."""
    return attrs.field(init=False, default=attrs.Factory(value, takes_self=True))


def _discovery(annotations: Mapping[str, str], settings: OperatorSettings) -> str:
    """Return the discovery backend that *annotations* choose, even an empty one, before that of the settings."""
    return annotations.get(DISCOVERY_ANNOTATION, settings.discovery_backend)


@frozen(kw_only=True)
class GraphScope(Value):
    """One graph: where it lives and what surrounds it.

    A component deployment that no graph owns has an empty *name* in profiles that say so. *problems* is where the plan
    stage reports what it finds, so that one run shows all of it.
    """

    name: str
    namespace: str
    annotations: Mapping[str, str]
    settings: OperatorSettings
    facts: ClusterFacts
    profile: Profile
    observed: Observed
    problems: list[Problem]
    namespace_facts: NamespaceFacts = _found(lambda graph: graph.facts.view(graph.namespace))
    """What is known of the graph's namespace."""
    discovery: str = _found(lambda graph: _discovery(graph.annotations, graph.settings))
    """The discovery backend of the graph itself."""

    def dynamo_namespace(self, spec: ComponentSpec) -> str:
        """Return the Dynamo namespace in which a component of this graph registers."""
        return "dynamo" if spec.global_dynamo_namespace else f"{self.namespace}-{self.name}"


@frozen(kw_only=True)
class ComponentScope(Value):
    """One component of a graph, or a component deployment of its own.

    *service* is the name users gave it, *name* the name of its objects, *engine* the explicit backend
    framework, *envs* the variables of graph and component, later ones winning, *dynamo_namespace* where its pods
    register and *selected_namespace* the one that its Services select; the two differ only for shipped oddities.
    *annotations* are those that steer it after the graph's have been folded in, *path* is where problems of its fields
    are reported. The rest is metadata in the making: *labels* and *object_annotations* of its objects; *pod_labels* of
    its pods, over which *extra_pod_labels* come last; *pod_annotations*.
    """

    graph: GraphScope
    pathway: Pathway
    service: str
    name: str
    spec: ComponentSpec
    engine: str | None
    envs: tuple[dict[str, Any], ...]
    dynamo_namespace: str
    selected_namespace: str
    annotations: Mapping[str, str]
    labels: Mapping[str, str]
    object_annotations: Mapping[str, str]
    pod_labels: Mapping[str, str]
    extra_pod_labels: Mapping[str, str]
    pod_annotations: Mapping[str, str]
    path: tuple[str | int, ...]
    profile: Profile = _found(lambda component: component.graph.profile)
    """The profile of the render."""
    component_type: str = _found(lambda component: component.spec.component_type or "")
    """The component type as written, empty when absent."""
    discovery: str = _found(lambda component: _discovery(component.annotations, component.graph.settings))
    """The effective discovery backend of the component."""
    is_multinode: bool = _found(lambda component: component.spec.nodes > 1)
    """Whether one replica spans several nodes."""

    def warn(self, rule: str, field: tuple[str | int, ...], message: str, hint: str | None = None) -> None:
        """Report something doubtful about *field*, given from the component down."""
        self.graph.problems.append(Problem(rule, (*self.path, *field), message, hint, "warning"))

    def refuse(self, rule: str, field: tuple[str | int, ...], message: str, hint: str | None = None) -> None:
        """Report that *field*, given from the component down, makes the resource unrenderable."""
        self.graph.problems.append(Problem(rule, (*self.path, *field), message, hint))

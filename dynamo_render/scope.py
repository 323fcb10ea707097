"""The inputs of the plan stage, side by side: a graph's or component's fields, settings, facts and profile.

Scopes are read while planning only; plans never hold one. The few values here that are computed (names, the effective
discovery backend) are those that several rooms need.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

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

    @property
    def namespace_facts(self) -> NamespaceFacts:
        """What is known of the graph's namespace."""
        return self.facts.view(self.namespace)

    @property
    def discovery(self) -> str:
        """The discovery backend of the graph itself: its annotation, even an empty one, before the setting."""
        return self.annotations.get(DISCOVERY_ANNOTATION, self.settings.discovery_backend)

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

    @property
    def profile(self) -> Profile:
        """The profile of the render."""
        return self.graph.profile

    @property
    def component_type(self) -> str:
        """The component type as written, empty when absent."""
        return self.spec.component_type or ""

    @property
    def discovery(self) -> str:
        """The effective discovery backend of the component."""
        return self.annotations.get(DISCOVERY_ANNOTATION, self.graph.settings.discovery_backend)

    @property
    def is_multinode(self) -> bool:
        """Whether one replica spans several nodes."""
        return self.spec.nodes > 1

    def warn(self, rule: str, field: tuple[str | int, ...], message: str, hint: str | None = None) -> None:
        """Report something doubtful about *field*, given from the component down."""
        self.graph.problems.append(Problem(rule, (*self.path, *field), message, hint, "warning"))

    def refuse(self, rule: str, field: tuple[str | int, ...], message: str, hint: str | None = None) -> None:
        """Report that *field*, given from the component down, makes the resource unrenderable."""
        self.graph.problems.append(Problem(rule, (*self.path, *field), message, hint))

"""Scopes and pod plans for tests of single rooms: small, complete, and without a resource around them."""

from __future__ import annotations

from typing import Any

from dynamo_render import ClusterFacts, NamespaceFacts, Observed, OperatorSettings
from dynamo_render.errors import Problem
from dynamo_render.kube.schema_nodes import Findings
from dynamo_render.plans.launch import LaunchPlan
from dynamo_render.plans.pod import Overrides, PodPlan, VolumePlan
from dynamo_render.profiles import PROFILES
from dynamo_render.satellites.contract import Graph
from dynamo_render.scope import ComponentScope, GraphScope
from dynamo_render.spec import structure
from dynamo_render.spec.component import ComponentDeploymentSpec
from dynamo_render.spec.graph import GraphSpec


def graph_scope(
    *,
    profile: str = "0.9",
    annotations: dict[str, str] | None = None,
    facts: ClusterFacts | None = None,
    namespace_facts: NamespaceFacts | None = None,
    **settings: Any,
) -> GraphScope:
    """Return the graph ``demo`` in ``team-a``; *settings* are the operator's."""
    known = facts or ClusterFacts(namespaces={"team-a": namespace_facts or NamespaceFacts()})
    problems: list[Problem] = []
    return GraphScope(
        name="demo",
        namespace="team-a",
        annotations=annotations or {},
        settings=OperatorSettings(**{"discovery_backend": "etcd", "restricted_namespace": "team-a", **settings}),
        facts=known,
        profile=PROFILES[profile],
        observed=Observed(),
        problems=problems,
    )


def component_scope(
    spec: dict[str, Any] | None = None,
    *,
    graph: GraphScope | None = None,
    service: str = "It",
    pathway: Any = "grove",
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
) -> ComponentScope:
    """Return one service of a graph, from its fields as a user writes them."""
    graph = graph or graph_scope()
    structured = structure.decoder_of(ComponentDeploymentSpec)(spec or {}, None, Findings())
    return ComponentScope(
        graph=graph,
        pathway=pathway,
        service=service,
        name=f"demo-{service.lower()}",
        spec=structured,
        engine=None,
        envs=(),
        dynamo_namespace="team-a-demo",
        selected_namespace="team-a-demo",
        annotations={**(structured.annotations or {}), **(annotations or {})},
        labels=labels or {},
        object_annotations=annotations or {},
        pod_labels={},
        extra_pod_labels={},
        pod_annotations={},
        path=("spec", "services", service),
    )


def whole_graph(*components: ComponentScope, scope: GraphScope | None = None, **spec: Any) -> Graph:
    """Return a graph as satellites see it, with the fields of *spec*."""
    structured = structure.decoder_of(GraphSpec)(spec, None, Findings())
    return Graph(scope or graph_scope(), structured, components)


def pod_plan(**changes: Any) -> PodPlan:
    """Return a plan for a pod with one plain container, with *changes*."""
    plain: dict[str, Any] = {
        "container": {"name": "main"},
        "pod": {"restartPolicy": "Always"},
        "probes": {},
        "env": {},
        "field_env": {},
        "component_env": (),
        "main_container": Overrides(content={"image": "i"}),
        "pod_overrides": Overrides(content={}),
        "component_probes": {},
        "resources": None,
        "env_from_secret": None,
        "volumes": VolumePlan(),
        "security_context": None,
        "account": None,
        "pull_secrets": (),
        "launch": LaunchPlan(backend="none"),
    }
    return PodPlan(**{**plain, **changes})

"""A graph without Grove: one DynamoComponentDeployment per service, and what each leads to. rendering.md section 18."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from dynamo_render.components import component_type, planner
from dynamo_render.errors import Problem
from dynamo_render.kinds.dynamo_graph_deployment import deployment_config
from dynamo_render.kinds.shared import component_path, metadata
from dynamo_render.kube import structural
from dynamo_render.plans.graph import Owner, Step
from dynamo_render.plans.workload import ComponentResourcePlan
from dynamo_render.pods import env
from dynamo_render.satellites.endpoint_picker import CONFIG_API_VERSION, CONFIG_KIND
from dynamo_render.satellites.ingress import default_ingress
from dynamo_render.scope import (
    DISCOVERY_ANNOTATION,
    METRICS_ANNOTATION,
    RESTART_ANNOTATION,
    ComponentScope,
    GraphScope,
)
from dynamo_render.spec import structure
from dynamo_render.spec.component import ComponentDeploymentSpec, ComponentSpec, ExtraPodSpec, Ingress
from dynamo_render.spec.graph import GraphSpec


def component_scope(
    graph: GraphScope, spec: GraphSpec, service: str, component: ComponentSpec, stamp: str | None
) -> ComponentScope:
    """Return the scope of the component deployment made of one service; *stamp* is its restart annotation."""
    path = ("spec", "services", service)
    dynamo_namespace = graph.dynamo_namespace(component)
    identity = metadata.identity_labels(service, dynamo_namespace, graph.name)
    labels = identity
    if graph.profile.metadata_reaches_every_object:
        user = metadata.UserMetadata(component, graph.profile, path, graph.problems)
        labels = {**user.labels, **identity}
    if spec.envs:
        component = attrs.evolve(component, envs=env.merged_lists(spec.envs, component.envs or ()))
    component = _configured(graph, service, component)
    derived = ComponentDeploymentSpec(
        **{
            **vars(component),
            "backend_framework": spec.backend_framework,
            "service_name": service,
            "dynamo_namespace": dynamo_namespace,
            "labels": labels,
            "annotations": _annotations(graph, component, stamp),
            "extra_pod_spec": _extra_pod_spec(graph, component),
            "ingress": component.ingress or _default_ingress(graph, component),
        }
    )
    name = f"{graph.name}-{service.lower()}"
    return component_path.component_scope(graph, name, derived, identity, dynamo_namespace, path)


def _default_ingress(graph: GraphScope, component: ComponentSpec) -> Ingress | None:
    return default_ingress(graph) if component.component_type == "frontend" else None


def _configured(graph: GraphScope, service: str, component: ComponentSpec) -> ComponentSpec:
    try:
        return deployment_config.applied(component, service)
    except deployment_config.InvalidDeploymentConfig as error:
        path = ("spec", "services", service, "envs")
        graph.problems.append(Problem("CTL-05", path, f"{deployment_config.NAME} {error}"))
        return component


def _annotations(graph: GraphScope, component: ComponentSpec, stamp: str | None) -> dict[str, str]:
    result = dict(component.annotations or {})
    for key in (METRICS_ANNOTATION, DISCOVERY_ANNOTATION):
        if key in graph.annotations:
            result[key] = graph.annotations[key]
    if stamp is not None:
        result[RESTART_ANNOTATION] = stamp
    return result


def _extra_pod_spec(graph: GraphScope, component: ComponentSpec) -> ExtraPodSpec | None:
    """Return the pod overrides; a planner's name its account, unless the profile keeps one that the user set."""
    if component.component_type != "planner":
        return component.extra_pod_spec
    if graph.profile.user_account_is_kept and component.pod.get("serviceAccountName"):
        return component.extra_pod_spec
    main_container = component.extra_pod_spec.main_container if component.extra_pod_spec else None
    return ExtraPodSpec(main_container, **{**component.pod, "serviceAccountName": planner.ACCOUNT})


def steps(graph: GraphScope, components: Sequence[ComponentScope], owner: Owner) -> Iterator[Step]:
    """Yield the steps of a graph without Grove: every component deployment."""
    if graph.profile.multinode_needs_an_orchestrator and not graph.facts.has_leader_worker_set:
        _refuse_multinode(components)
    for scope in components:
        yield Step("component_resource", _resource(scope), owner)


def nested_steps(components: Sequence[ComponentScope]) -> Iterator[Step]:
    """Yield what each component deployment of a graph leads to."""
    for scope in components:
        of_component = Owner("nvidia.com/v1alpha1", "DynamoComponentDeployment", scope.name)
        yield from component_path.component_steps(scope, of_component)


def _refuse_multinode(components: Sequence[ComponentScope]) -> None:
    message = "no multinode orchestrator is available: neither Grove nor LeaderWorkerSet with Volcano is installed"
    hint = "add grove.io, or leaderworkerset.x-k8s.io and scheduling.volcano.sh, to the facts' api_groups"
    for scope in components:
        if scope.is_multinode:
            scope.refuse("CTL-02", ("multinode",), message, hint)


def _resource(scope: ComponentScope) -> ComponentResourcePlan:
    spec = structure.encoded(scope.spec)
    config = spec.get("eppConfig", {}).get("config")
    if config is not None and component_type(scope.component_type).account is not None:
        config |= {"apiVersion": CONFIG_API_VERSION, "kind": CONFIG_KIND}
    if scope.profile.explicit_zero_overrides and scope.spec.extra_pod_spec is not None:
        _keep_cleared_defaults(scope, spec["extraPodSpec"])
    own_labels: Mapping[str, str] = scope.spec.labels or {}
    spread = scope.profile.metadata_reaches_every_object
    user_annotations = {key: text for key, text in scope.object_annotations.items() if key in scope.annotations}
    return ComponentResourcePlan(
        name=scope.name,
        namespace=scope.graph.namespace,
        labels=own_labels,
        annotations=user_annotations if spread else {},
        spec=spec,
    )


def _keep_cleared_defaults(scope: ComponentScope, written: dict[str, Any]) -> None:
    """Add the empty values that clear a default to *written*, which alone leads to the same pods then (D-07)."""
    base = component_type(scope.component_type).base(scope)
    for target, given, defaults in (
        (written, scope.spec.pod, base.pod),
        (written.get("mainContainer", {}), scope.spec.main_container, base.container),
    ):
        target |= {key: structural.copied(value) for key, value in given.items() if not value and key in defaults}

"""Services through which components are reached. Specification: rendering.md sections 21.1 to 21.3."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dynamo_render.components import component_type
from dynamo_render.kube.manifest import Manifest, framed
from dynamo_render.satellites.contract import ComponentSatellite
from dynamo_render.scope import ComponentScope
from dynamo_render.values import Value, frozen

STEALING_ANNOTATION = "nvidia.com/enable-stealing-traffic-debug-mode"
DISCOVERY_BACKEND_LABEL = "nvidia.com/dynamo-discovery-backend"
DISCOVERY_ENABLED_LABEL = "nvidia.com/dynamo-discovery-enabled"
DEBUG_TARGET = {"nvidia.com/dynamo-deployment-target-type": "debug"}


@frozen(kw_only=True)
class ServicePlan(Value):
    """One Service with one port."""

    name: str
    namespace: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    selector: Mapping[str, str]
    port: Mapping[str, Any]


def _planned(scope: ComponentScope) -> Iterable[ServicePlan]:
    return _on_grove(scope) if scope.pathway == "grove" else _beside_component(scope)


def _on_grove(scope: ComponentScope) -> Iterable[ServicePlan]:
    """Yield the Service of a component on Grove: of each with Kubernetes discovery, otherwise of frontends only."""
    discovers = scope.graph.discovery == "kubernetes"
    if not discovers and scope.component_type != "frontend":
        return
    labels = dict(scope.labels)
    if discovers:
        labels |= {DISCOVERY_BACKEND_LABEL: "kubernetes", DISCOVERY_ENABLED_LABEL: "true"}
    yield _service(scope, labels, "", {}, with_app_protocol=True)


def _beside_component(scope: ComponentScope) -> Iterable[ServicePlan]:
    """Yield the Services of a component deployment: its own, and those that tell production pods from a debug pod."""
    discovers = scope.discovery == "kubernetes"
    is_frontend = scope.component_type == "frontend"
    labels = dict(scope.labels)
    if discovers:
        labels[DISCOVERY_BACKEND_LABEL] = "kubernetes"
        if not is_frontend:
            labels[DISCOVERY_ENABLED_LABEL] = "true"
    selector = {"role": "leader"} if scope.is_multinode else {}
    yield _service(scope, labels, "", selector)
    splits = scope.annotations.get(STEALING_ANNOTATION) == "true"
    if splits or (not scope.profile.debug_services_only_in_debug_mode and (discovers or is_frontend)):
        yield _service(scope, labels, "-p", selector)
        yield _service(scope, labels, "-d", {**selector, **DEBUG_TARGET})


def _service(
    scope: ComponentScope,
    labels: Mapping[str, str],
    suffix: str,
    selector: Mapping[str, str],
    *,
    with_app_protocol: bool = False,
) -> ServicePlan:
    port = component_type(scope.component_type).port
    return ServicePlan(
        name=scope.name + suffix,
        namespace=scope.graph.namespace,
        labels=labels,
        annotations=scope.object_annotations,
        selector={
            "nvidia.com/dynamo-component-type": scope.component_type,
            "nvidia.com/dynamo-namespace": scope.selected_namespace,
            **selector,
        },
        port=port.manifest(with_app_protocol=with_app_protocol),
    )


def _build(plan: ServicePlan) -> tuple[Manifest, ...]:
    spec = {"selector": dict(plan.selector), "ports": [dict(plan.port)]}
    manifest = framed(
        "v1", "Service", plan.name, plan.namespace, labels=plan.labels, annotations=plan.annotations, spec=spec
    )
    return (manifest,)


SERVICES = ComponentSatellite(planned=_planned, build=_build)

"""Ingresses and Istio VirtualServices. Specification: rendering.md section 22, decisions D-19 to D-21."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dynamo_render.kube.manifest import Manifest, framed
from dynamo_render.satellites.contract import ComponentSatellite
from dynamo_render.scope import ComponentScope, GraphScope
from dynamo_render.spec.component import Ingress, IngressTls
from dynamo_render.values import Value, frozen

DEFAULT_HOST_SUFFIX = "local"
BACKEND_PORT = 8000


@frozen(kw_only=True)
class IngressPlan(Value):
    """A host routed to a component by an ingress controller; *tls* is None, or the entry of its certificate."""

    name: str
    namespace: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    host: str
    class_name: str
    tls: Mapping[str, Any] | None


@frozen(kw_only=True)
class VirtualServicePlan(Value):
    """A host routed to a component by an Istio gateway."""

    name: str
    namespace: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    host: str
    gateway: str


def default_ingress(graph: GraphScope) -> Ingress:
    """Return the ingress of a frontend that has none of its own, from the operator's settings."""
    settings = graph.settings
    return Ingress(
        enabled=bool(settings.virtual_service_gateway or settings.ingress_class_name),
        host=graph.name,
        use_virtual_service=bool(settings.virtual_service_gateway),
        ingress_controller_class_name=settings.ingress_class_name or None,
        tls=IngressTls(secret_name=settings.ingress_tls_secret) if settings.ingress_tls_secret else None,
        host_suffix=settings.ingress_host_suffix or None,
        virtual_service_gateway=settings.virtual_service_gateway or None,
    )


def _effective(scope: ComponentScope) -> Ingress | None:
    """Return the ingress that applies to a component, or None when it has none or has it turned off."""
    ingress = scope.spec.ingress
    if scope.pathway == "grove":
        if scope.component_type != "frontend":
            return None
        ingress = ingress or default_ingress(scope.graph)
    return ingress if ingress is not None and ingress.enabled else None


def _host(ingress: Ingress) -> str:
    suffix = DEFAULT_HOST_SUFFIX if ingress.host_suffix is None else ingress.host_suffix
    return f"{ingress.host_prefix or ''}{ingress.host or ''}.{suffix}"


def _gateway(scope: ComponentScope, ingress: Ingress) -> str | None:
    """Return the gateway of the component's VirtualService, or None when it gets none."""
    if not ingress.use_virtual_service:
        return None
    if scope.profile.virtual_service_replaces_ingress:
        return ingress.virtual_service_gateway or scope.graph.settings.virtual_service_gateway or None
    return ingress.virtual_service_gateway if scope.graph.settings.virtual_service_gateway else None


def _metadata(scope: ComponentScope, ingress: Ingress) -> dict[str, Mapping[str, str]]:
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    if scope.profile.metadata_reaches_every_object:
        labels, annotations = dict(scope.labels), dict(scope.object_annotations)
    if scope.profile.ingress_metadata_is_applied:
        labels.update(ingress.labels or {})
        annotations.update(ingress.annotations or {})
    return {"labels": labels, "annotations": annotations}


def _planned_ingress(scope: ComponentScope) -> Iterable[IngressPlan]:
    ingress = _effective(scope)
    if ingress is None or ingress.ingress_controller_class_name is None:
        return
    if scope.profile.virtual_service_replaces_ingress and _gateway(scope, ingress):
        return
    host = _host(ingress)
    yield IngressPlan(
        name=scope.name,
        namespace=scope.graph.namespace,
        host=host,
        class_name=ingress.ingress_controller_class_name,
        tls=_tls(ingress.tls, host),
        **_metadata(scope, ingress),
    )


def _tls(tls: IngressTls | None, host: str) -> dict[str, Any] | None:
    if tls is None:
        return None
    return {"hosts": [host], "secretName": tls.secret_name} if tls.secret_name else {"hosts": [host]}


def _planned_virtual_service(scope: ComponentScope) -> Iterable[VirtualServicePlan]:
    ingress = _effective(scope)
    if ingress is None:
        return
    gateway = _gateway(scope, ingress)
    if gateway is not None:
        yield VirtualServicePlan(
            name=scope.name,
            namespace=scope.graph.namespace,
            host=_host(ingress),
            gateway=gateway,
            **_metadata(scope, ingress),
        )
    elif ingress.use_virtual_service and ingress.ingress_controller_class_name is None:
        hint = "set ingress.virtualServiceGateway, or the setting virtual_service_gateway"
        scope.warn("ingress/no-gateway", ("ingress", "useVirtualService"), "names no gateway; nothing is exposed", hint)


def _build_ingress(plan: IngressPlan) -> tuple[Manifest, ...]:
    backend = {"service": {"name": plan.name, "port": {"number": BACKEND_PORT}}}
    path = {"path": "/", "pathType": "Prefix", "backend": backend}
    spec: dict[str, Any] = {
        "ingressClassName": plan.class_name,
        "rules": [{"host": plan.host, "http": {"paths": [path]}}],
    }
    if plan.tls is not None:
        spec["tls"] = [dict(plan.tls)]
    return (_framed("networking.k8s.io/v1", "Ingress", plan, spec),)


def _build_virtual_service(plan: VirtualServicePlan) -> tuple[Manifest, ...]:
    route = {"destination": {"host": plan.name, "port": {"number": BACKEND_PORT}}}
    spec = {
        "hosts": [plan.host],
        "gateways": [plan.gateway],
        "http": [{"match": [{"uri": {"prefix": "/"}}], "route": [route]}],
    }
    return (_framed("networking.istio.io/v1beta1", "VirtualService", plan, spec),)


def _framed(api_version: str, kind: str, plan: IngressPlan | VirtualServicePlan, spec: dict[str, Any]) -> Manifest:
    return framed(
        api_version, kind, plan.name, plan.namespace, labels=plan.labels, annotations=plan.annotations, spec=spec
    )


INGRESS = ComponentSatellite(planned=_planned_ingress, build=_build_ingress)
VIRTUAL_SERVICE = ComponentSatellite(planned=_planned_virtual_service, build=_build_virtual_service)

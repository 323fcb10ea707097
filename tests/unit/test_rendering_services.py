"""The rows of rendering.md section 21 (Services) and section 22 (Ingress, VirtualService)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.small import (
    BOTH,
    DOCUMENTED,
    ETCD,
    GROVE,
    KUBERNETES,
    LEADER_WORKER_SET,
    NOTHING,
    SHIPPED,
    Json,
    component,
    graph,
    names,
    of_kind,
    problems,
    rendered,
    service,
    the,
    worker,
)

PATHS = pytest.mark.parametrize("facts", [pytest.param(GROVE, id="grove"), pytest.param(NOTHING, id="component")])
PICKER: Json = {"eppConfig": {"configMapRef": {"name": "a", "key": "b"}}}
DEBUG = {"nvidia.com/enable-stealing-traffic-debug-mode": "true"}
BACKEND, ENABLED = "nvidia.com/dynamo-discovery-backend", "nvidia.com/dynamo-discovery-enabled"
IDENTITY = {
    "nvidia.com/dynamo-component": "It",
    "nvidia.com/dynamo-namespace": "team-a-demo",
    "nvidia.com/dynamo-graph-deployment-name": "demo",
}
HTTP = {"name": "http", "port": 8000, "targetPort": "http", "protocol": "TCP"}
GRPC = {"name": "grpc", "port": 9002, "targetPort": 9002, "protocol": "TCP"}
SYSTEM = {"name": "system", "port": 9090, "targetPort": "system", "protocol": "TCP"}


def found(written: Json, profile: str, kind: str = "Service", name: str | None = "demo-it", **more: Any) -> Json:
    return the(rendered(graph(It=written), profile, **more), kind, name)


@BOTH
@pytest.mark.parametrize(
    ("component_type", "on_grove", "without"),
    [
        pytest.param("frontend", HTTP, HTTP, id="21.1-frontend"),
        pytest.param("epp", {**GRPC, "appProtocol": "http2"}, GRPC, id="21.1-epp"),
        *[
            pytest.param(kind, SYSTEM, SYSTEM, id=f"21.1-{kind or 'none'}")
            for kind in ("worker", "planner", "other", None)
        ],
    ],
)
def test_port(profile: str, component_type: str | None, on_grove: Json, without: Json) -> None:
    written = service(component_type, **(PICKER if component_type == "epp" else {}))
    assert found(written, profile, settings=KUBERNETES)["spec"]["ports"] == [on_grove]
    assert found(written, profile, settings=KUBERNETES, facts=NOTHING)["spec"]["ports"] == [without]


@BOTH
@pytest.mark.parametrize(
    ("settings", "services"),
    [
        pytest.param(KUBERNETES, ["demo-front", "demo-pick", "demo-work"], id="21.2-kubernetes"),
        pytest.param(ETCD, ["demo-front"], id="21.2-etcd-frontends-only"),
    ],
)
def test_services_on_grove(profile: str, settings: Json, services: list[str]) -> None:
    resource = graph(Front=service("frontend"), Pick=service("epp", **PICKER), Work=worker())
    assert names(rendered(resource, profile, settings=settings), "Service") == services


@BOTH
def test_21_2_metadata_and_selector(profile: str) -> None:
    made = found(worker(labels={"a": "b"}), profile, settings=KUBERNETES)
    assert made["metadata"] == {
        "name": "demo-it",
        "namespace": "team-a",
        "labels": {"a": "b", BACKEND: "kubernetes", ENABLED: "true"},
    }
    assert set(made["spec"]) == {"selector", "ports"}
    assert made["spec"]["selector"] == {
        "nvidia.com/dynamo-component-type": "worker",
        "nvidia.com/dynamo-namespace": "team-a-demo",
    }


@BOTH
def test_21_2_labels_of_a_frontend_say_that_discovery_is_enabled(profile: str) -> None:
    assert found(service("frontend"), profile, settings=KUBERNETES)["metadata"]["labels"][ENABLED] == "true"


@BOTH
def test_21_2_the_selector_of_no_type_is_empty_text(profile: str) -> None:
    assert found(service(), profile, settings=KUBERNETES)["spec"]["selector"]["nvidia.com/dynamo-component-type"] == ""


ONE, THREE = ["demo-it"], ["demo-it", "demo-it-p", "demo-it-d"]


@pytest.mark.parametrize(
    ("written", "settings", "documented", "shipped"),
    [
        pytest.param(worker(), ETCD, ONE, ONE, id="21.3-generic"),
        pytest.param(worker(), KUBERNETES, ONE, THREE, id="21.3-kubernetes"),
        pytest.param(service("frontend"), ETCD, ONE, THREE, id="21.3-frontend"),
        pytest.param(worker(annotations=DEBUG), ETCD, THREE, THREE, id="21.3-debug-mode"),
    ],
)
def test_services_without_grove(written: Json, settings: Json, documented: list[str], shipped: list[str]) -> None:
    for profile, expected in ((DOCUMENTED, documented), (SHIPPED, shipped)):
        result = rendered(graph(It=written), profile, settings=settings, facts=NOTHING)
        assert names(result, "Service") == expected


@BOTH
@pytest.mark.parametrize(
    ("name", "extra"),
    [
        pytest.param("demo-it", {}, id="21.3-selector-generic"),
        pytest.param("demo-it-p", {}, id="21.3-selector-production"),
        pytest.param("demo-it-d", {"nvidia.com/dynamo-deployment-target-type": "debug"}, id="21.3-selector-debug"),
    ],
)
def test_selectors_without_grove(profile: str, name: str, extra: Json) -> None:
    made = found(worker(annotations=DEBUG), profile, name=name, facts=NOTHING)
    base = {"nvidia.com/dynamo-component-type": "worker", "nvidia.com/dynamo-namespace": "team-a-demo"}
    assert made["spec"]["selector"] == {**base, **extra}


@BOTH
def test_21_3_multinode_services_select_leaders(profile: str) -> None:
    written = worker(multinode={}, resources={"limits": {"gpu": "1"}})
    assert found(written, profile, facts=LEADER_WORKER_SET)["spec"]["selector"]["role"] == "leader"


@BOTH
@pytest.mark.parametrize(
    ("component_type", "labels"),
    [
        pytest.param("worker", {**IDENTITY, BACKEND: "kubernetes", ENABLED: "true"}, id="21.3-labels"),
        pytest.param("frontend", {**IDENTITY, BACKEND: "kubernetes"}, id="21.3-labels-frontend"),
    ],
)
def test_labels_without_grove(profile: str, component_type: str, labels: Json) -> None:
    made = found(service(component_type), profile, settings=KUBERNETES, facts=NOTHING)
    assert made["metadata"]["labels"] == labels


@BOTH
def test_21_3_annotations_are_those_of_the_deployment(profile: str) -> None:
    written = service(annotations={"own": "x"}, modelRef={"name": "m"}, extraPodMetadata={"annotations": {"p": "y"}})
    result = rendered(graph(It=written), profile, facts=NOTHING)
    deployment, made = the(result, "Deployment"), the(result, "Service", "demo-it")
    assert made["metadata"]["annotations"] == deployment["metadata"]["annotations"]


def test_21_3_a_component_without_dynamo_namespace_is_refused() -> None:
    assert problems(component(service()), SHIPPED) == [("CTL-17", "spec.dynamoNamespace")]


@BOTH
@PATHS
def test_21_4_model_service(profile: str, facts: Json) -> None:
    written = service(modelRef={"name": "Qwen/Qwen3"}, labels={"own": "x"}, annotations={"own": "x"})
    assert found(written, profile, name="dynamo-model-cf172107", facts=facts) == {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "dynamo-model-cf172107",
            "namespace": "team-a",
            "labels": {
                "nvidia.com/dynamo-base-model-hash": "cf172107",
                "nvidia.com/managed-by": "dynamo-operator",
            },
            "annotations": {"nvidia.com/dynamo-base-model": "Qwen/Qwen3"},
        },
        "spec": {
            "clusterIP": "None",
            "selector": {"nvidia.com/dynamo-base-model-hash": "cf172107"},
            "ports": [{"name": "system", "port": 9090, "targetPort": 9090, "protocol": "TCP"}],
        },
    }


@BOTH
@PATHS
def test_21_4_one_service_per_model(profile: str, facts: Json) -> None:
    resource = graph(
        A=service(modelRef={"name": "m"}),
        B=service(modelRef={"name": "m", "revision": "x"}),
        C=service(modelRef={"name": "n"}),
        D=service(modelRef={"name": ""}),
    )
    models = [name for name in names(rendered(resource, profile, facts=facts), "Service") if "model" in name]
    assert len(models) == 2


# Section 22

NGINX = {"enabled": True, "host": "chat", "ingressControllerClassName": "nginx"}


@BOTH
@PATHS
@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        pytest.param({}, None, id="22.1-disabled"),
        pytest.param({"ingress_class_name": "nginx"}, "Ingress", id="22.1-class"),
        pytest.param({"virtual_service_gateway": "g"}, "VirtualService", id="22.1-gateway"),
    ],
)
def test_default(profile: str, facts: Json, settings: Json, kind: str | None) -> None:
    result = rendered(graph(It=service("frontend")), profile, settings={**ETCD, **settings}, facts=facts)
    kinds = [made["kind"] for made in result.objects if made["kind"] in {"Ingress", "VirtualService"}]
    assert kinds == ([] if kind is None else [kind])


@BOTH
@PATHS
def test_22_1_values_of_the_default(profile: str, facts: Json) -> None:
    settings = {**ETCD, "ingress_class_name": "nginx", "ingress_tls_secret": "t", "ingress_host_suffix": "example.com"}
    spec = found(service("frontend"), profile, "Ingress", settings=settings, facts=facts)["spec"]
    assert (spec["ingressClassName"], spec["rules"][0]["host"]) == ("nginx", "demo.example.com")
    assert spec["tls"] == [{"hosts": ["demo.example.com"], "secretName": "t"}]


@BOTH
@PATHS
def test_22_1_an_ingress_of_the_user_replaces_the_default_completely(profile: str, facts: Json) -> None:
    settings = {**ETCD, "ingress_class_name": "nginx", "ingress_tls_secret": "t", "ingress_host_suffix": "example.com"}
    spec = found(
        service("frontend", ingress={**NGINX, "ingressControllerClassName": "own"}),
        profile,
        "Ingress",
        settings=settings,
        facts=facts,
    )["spec"]
    assert (spec["ingressClassName"], spec["rules"][0]["host"], "tls" in spec) == ("own", "chat.local", False)


@BOTH
@pytest.mark.parametrize(
    ("fields", "host"),
    [
        pytest.param({}, "chat.local", id="22.2-default-suffix"),
        pytest.param({"hostPrefix": "p-"}, "p-chat.local", id="22.2-prefix"),
        pytest.param({"hostSuffix": "example.com"}, "chat.example.com", id="22.2-suffix"),
    ],
)
def test_host(profile: str, fields: Json, host: str) -> None:
    spec = found(service("frontend", ingress={**NGINX, **fields}), profile, "Ingress")["spec"]
    assert spec["rules"][0]["host"] == host


@BOTH
@pytest.mark.parametrize(
    ("component_type", "facts", "count"),
    [
        pytest.param("frontend", GROVE, 1, id="22.3-frontend-on-grove"),
        pytest.param("worker", GROVE, 0, id="22.3-others-on-grove"),
        pytest.param("worker", NOTHING, 1, id="22.3-others-without-grove"),
    ],
)
def test_which_components(profile: str, component_type: str, facts: Json, count: int) -> None:
    result = rendered(graph(It=service(component_type, ingress=NGINX)), profile, facts=facts)
    assert len(of_kind(result, "Ingress")) == count


@pytest.mark.parametrize(
    ("ingress", "documented", "shipped"),
    [
        pytest.param(NGINX, True, True, id="22.3-rendered"),
        pytest.param({**NGINX, "enabled": False}, False, False, id="22.3-not-enabled"),
        pytest.param({"enabled": True, "host": "chat"}, False, False, id="22.3-no-class"),
        pytest.param({**NGINX, "ingressControllerClassName": ""}, True, True, id="22.3-empty-class"),
        pytest.param(
            {**NGINX, "useVirtualService": True, "virtualServiceGateway": "g"}, False, True, id="22.3-virtual-service"
        ),
    ],
)
def test_when_there_is_an_ingress(ingress: Json, *, documented: bool, shipped: bool) -> None:
    for profile, expected in ((DOCUMENTED, documented), (SHIPPED, shipped)):
        result = rendered(graph(It=service("frontend", ingress=ingress)), profile)
        assert bool(of_kind(result, "Ingress")) == expected


@BOTH
def test_22_3_shape(profile: str) -> None:
    tls = {"tls": {"secretName": "t"}}
    backend = {"service": {"name": "demo-it", "port": {"number": 8000}}}
    assert found(service("frontend", ingress={**NGINX, **tls}), profile, "Ingress") == {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": "demo-it", "namespace": "team-a"},
        "spec": {
            "ingressClassName": "nginx",
            "rules": [
                {"host": "chat.local", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}
            ],
            "tls": [{"hosts": ["chat.local"], "secretName": "t"}],
        },
    }


MESH = {"enabled": True, "host": "chat", "useVirtualService": True, "virtualServiceGateway": "own"}


def without(key: str) -> Json:
    return {name: value for name, value in MESH.items() if name != key}


@pytest.mark.parametrize(
    ("ingress", "operators", "documented", "shipped"),
    [
        pytest.param(MESH, "g", "own", "own", id="22.4-both-gateways"),
        pytest.param(MESH, "", "own", None, id="22.4-gateway-of-the-component"),
        pytest.param(without("virtualServiceGateway"), "g", "g", None, id="22.4-gateway-of-the-operator"),
        pytest.param(without("virtualServiceGateway"), "", None, None, id="22.4-no-gateway"),
        pytest.param({**MESH, "enabled": False}, "g", None, None, id="22.4-not-enabled"),
        pytest.param(without("useVirtualService"), "g", None, None, id="22.4-not-wanted"),
    ],
)
def test_when_there_is_a_virtual_service(
    ingress: Json, operators: str, documented: str | None, shipped: str | None
) -> None:
    settings = {**ETCD, "virtual_service_gateway": operators}
    for profile, expected in ((DOCUMENTED, documented), (SHIPPED, shipped)):
        result = rendered(graph(It=service("frontend", ingress=ingress)), profile, settings=settings)
        gateways = [made["spec"]["gateways"] for made in of_kind(result, "VirtualService")]
        assert gateways == ([] if expected is None else [[expected]])


@BOTH
def test_22_4_shape(profile: str) -> None:
    settings = {**ETCD, "virtual_service_gateway": "g"}
    ingress = {**MESH, "tls": {"secretName": "t"}}
    destination = {"host": "demo-it", "port": {"number": 8000}}
    assert found(service("frontend", ingress=ingress), profile, "VirtualService", settings=settings) == {
        "apiVersion": "networking.istio.io/v1beta1",
        "kind": "VirtualService",
        "metadata": {"name": "demo-it", "namespace": "team-a"},
        "spec": {
            "hosts": ["chat.local"],
            "gateways": ["own"],
            "http": [{"match": [{"uri": {"prefix": "/"}}], "route": [{"destination": destination}]}],
        },
    }


def test_22_4_a_wish_for_a_mesh_without_any_gateway_warns() -> None:
    result = rendered(graph(It=service("frontend", ingress=without("virtualServiceGateway"))))
    assert [problem.rule for problem in result.warnings] == ["ingress/no-gateway"]

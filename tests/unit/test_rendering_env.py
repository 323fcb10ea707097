"""The rows of rendering.md section 8: environment variables and the deployment configuration."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.small import (
    BOTH,
    DOCUMENTED,
    ETCD,
    GROVE,
    KUBERNETES,
    NOTHING,
    SHIPPED,
    Json,
    env,
    graph,
    main,
    problems,
    rendered,
    service,
    the,
    worker,
)


def variables(written: Json, profile: str, *, spec: Json | None = None, **surroundings: Any) -> Json:
    return env(main(rendered(graph(spec=spec, It=written), profile, **surroundings), "it"))


def field(path: str) -> Json:
    return {"fieldRef": {"fieldPath": path}}


@BOTH
@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("DYN_NAMESPACE", "team-a-demo", id="8.1-DYN_NAMESPACE"),
        pytest.param("DYN_COMPONENT", "planner", id="8.1-DYN_COMPONENT"),
        pytest.param("DYN_PARENT_DGD_K8S_NAME", "demo", id="8.1-DYN_PARENT_DGD_K8S_NAME"),
        pytest.param("DYN_PARENT_DGD_K8S_NAMESPACE", "team-a", id="8.1-DYN_PARENT_DGD_K8S_NAMESPACE"),
        pytest.param("POD_NAME", field("metadata.name"), id="8.1-POD_NAME"),
        pytest.param("POD_NAMESPACE", field("metadata.namespace"), id="8.1-POD_NAMESPACE"),
        pytest.param("POD_UID", field("metadata.uid"), id="8.1-POD_UID"),
        pytest.param("DYN_DISCOVERY_BACKEND", "kubernetes", id="8.1-DYN_DISCOVERY_BACKEND"),
    ],
)
def test_base_set(profile: str, name: str, value: object) -> None:
    assert variables(service("planner"), profile, settings=KUBERNETES)[name] == value


@BOTH
def test_8_1_component_without_type_is_an_entry_without_value(profile: str) -> None:
    entries = main(rendered(graph(It=service()), profile), "it")["env"]
    assert {"name": "DYN_COMPONENT"} in entries


@BOTH
@pytest.mark.parametrize(
    ("backend", "present"),
    [
        pytest.param("etcd", False, id="8.1-no-discovery-variable-with-etcd"),
        pytest.param("", True, id="8.1-discovery-variable-with-empty-backend"),
        pytest.param("other", True, id="8.1-discovery-variable-with-unknown-backend"),
    ],
)
def test_discovery_variable(profile: str, backend: str, *, present: bool) -> None:
    resource = graph(annotations={"nvidia.com/dynamo-discovery-backend": backend}, It=service())
    found = env(main(rendered(resource, profile, facts=NOTHING), "it"))
    assert ("DYN_DISCOVERY_BACKEND" in found) == present


OF_WORKERS = {
    "DYN_SYSTEM_ENABLED": "true",
    "DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS": '["generate"]',
    "DYN_SYSTEM_PORT": "9090",
    "DYN_HEALTH_CHECK_ENABLED": "false",
}
OF_EVERY_TYPE = {
    "DYN_NAMESPACE",
    "DYN_COMPONENT",
    "DYN_PARENT_DGD_K8S_NAME",
    "DYN_PARENT_DGD_K8S_NAMESPACE",
    "POD_NAME",
    "POD_NAMESPACE",
    "POD_UID",
}


@BOTH
@pytest.mark.parametrize(
    ("component_type", "added"),
    [
        pytest.param("frontend", {"DYNAMO_PORT": "8000", "DYN_HTTP_PORT": "8000"}, id="8.1-frontend"),
        pytest.param("worker", OF_WORKERS, id="8.1-worker"),
        pytest.param("prefill", OF_WORKERS, id="8.1-prefill"),
        pytest.param("decode", OF_WORKERS, id="8.1-decode"),
        pytest.param("planner", {"PLANNER_PROMETHEUS_PORT": "9085"}, id="8.1-planner"),
        pytest.param(
            "epp",
            {
                "DYN_KV_BLOCK_SIZE": "16",
                "DYN_DISCOVERY_TIMEOUT_SEC": "300",
                "USE_STREAMING": "true",
                "RUST_LOG": "debug,dynamo_llm::kv_router=trace",
            },
            id="8.1-epp",
        ),
        pytest.param("other", {}, id="8.1-other"),
    ],
)
def test_variables_of_a_type(profile: str, component_type: str, added: Json) -> None:
    fields = {"eppConfig": {"configMapRef": {"name": "a", "key": "b"}}} if component_type == "epp" else {}
    found = variables(service(component_type, **fields), profile)
    assert {name: value for name, value in found.items() if name not in OF_EVERY_TYPE} == added


@BOTH
@pytest.mark.parametrize(
    ("setting", "name"),
    [
        pytest.param("nats_address", "NATS_SERVER", id="8.2-NATS_SERVER"),
        pytest.param("etcd_address", "ETCD_ENDPOINTS", id="8.2-ETCD_ENDPOINTS"),
        pytest.param("model_express_url", "MODEL_EXPRESS_URL", id="8.2-MODEL_EXPRESS_URL"),
        pytest.param("prometheus_endpoint", "PROMETHEUS_ENDPOINT", id="8.2-PROMETHEUS_ENDPOINT"),
    ],
)
def test_standard_variables(profile: str, setting: str, name: str) -> None:
    assert variables(service(), profile, settings={**ETCD, setting: "address"})[name] == "address"
    assert name not in variables(service(), profile, settings=ETCD)


def entries(**values: str) -> list[Json]:
    return [{"name": name, "value": value} for name, value in values.items()]


LEVELS = [
    ("8.3-1-standard-variables", {}, "operator"),
    ("8.3-3-main-container", {"container": True}, "container"),
    ("8.3-4-graph", {"container": True, "graph": True}, "graph"),
    ("8.3-5-service", {"container": True, "graph": True, "service": True}, "service"),
]


@BOTH
@pytest.mark.parametrize("facts", [GROVE, NOTHING], ids=["grove", "component"])
@pytest.mark.parametrize(("levels", "value"), [pytest.param(levels, value, id=name) for name, levels, value in LEVELS])
def test_precedence(profile: str, facts: Json, levels: Json, value: str) -> None:
    settings = {**ETCD, "nats_address": "operator"}
    container = {"env": entries(NATS_SERVER="container")} if levels.get("container") else {}
    own: Json = {"envs": entries(NATS_SERVER="service")} if levels.get("service") else {}
    spec = {"envs": entries(NATS_SERVER="graph")} if levels.get("graph") else {}
    found = variables(service(main=container, **own), profile, spec=spec, settings=settings, facts=facts)
    assert found["NATS_SERVER"] == value


@BOTH
def test_8_3_2_the_base_set_is_below_main_container(profile: str) -> None:
    assert variables(service(main={"env": entries(DYN_NAMESPACE="mine")}), profile)["DYN_NAMESPACE"] == "mine"


@BOTH
def test_8_3_an_entry_is_replaced_whole(profile: str) -> None:
    written = service(main={"env": entries(A="plain")}, envs=[{"name": "A", "valueFrom": field("status.podIP")}])
    assert variables(written, profile)["A"] == field("status.podIP")


@BOTH
def test_8_3_a_later_duplicate_wins_within_a_list(profile: str) -> None:
    written = service(envs=[*entries(A="first"), *entries(A="second")])
    assert variables(written, profile)["A"] == "second"


@BOTH
def test_8_3_the_list_is_sorted_by_bytes(profile: str) -> None:
    written = service("frontend", envs=entries(b="", _c="", A=""))
    found = [entry["name"] for entry in main(rendered(graph(It=written), profile), "it")["env"]]
    assert found == sorted(found)
    assert found.index("DYNAMO_PORT") < found.index("DYN_COMPONENT") < found.index("_c") < found.index("b")


@BOTH
def test_8_3_envs_of_the_component_deployment_are_merged_and_sorted_if_the_graph_has_any(profile: str) -> None:
    written = service(envs=[*entries(B="1"), *entries(A="2")])

    def in_component(spec: Json) -> list[str]:
        result = rendered(graph(spec=spec, It=written), profile, facts=NOTHING)
        return [entry["name"] for entry in the(result, "DynamoComponentDeployment")["spec"]["envs"]]

    assert in_component({}) == ["B", "A"]
    assert in_component({"envs": entries(C="3")}) == ["A", "B", "C"]


def cached(*mounts: Json, engine: str = "vllm") -> Json:
    return worker(engine, volumeMounts=[{"useAsCompilationCache": True, **mount} for mount in mounts])


@pytest.mark.parametrize(
    ("written", "documented", "shipped"),
    [
        pytest.param(cached({"name": "a", "mountPoint": "/a"}), "/a", "/a", id="8.4-cache-root-of-a-mount-point"),
        pytest.param(cached({"name": "a"}), "/root/.cache/vllm", None, id="8.4-cache-root-of-the-default"),
        pytest.param(
            cached({"name": "a", "mountPoint": "/a"}, {"name": "b", "mountPoint": "/b"}),
            "/a",
            "/a",
            id="8.4-cache-root-of-the-first",
        ),
        pytest.param(
            cached({"name": "a", "mountPoint": "/a", "useAsCompilationCache": False}), None, None, id="8.4-no-cache"
        ),
        pytest.param(cached({"name": "a", "mountPoint": "/a"}, engine="sglang"), None, None, id="8.4-other-engine"),
    ],
)
def test_cache_root(written: Json, documented: str | None, shipped: str | None) -> None:
    assert variables(written, DOCUMENTED).get("VLLM_CACHE_ROOT") == documented
    assert variables(written, SHIPPED).get("VLLM_CACHE_ROOT") == shipped


@BOTH
@pytest.mark.parametrize("role", ["ldr", "wkr"], ids="8.4-fqdn-hostnames-{}".format)
def test_mpi_variable_is_appended_last(profile: str, role: str) -> None:
    written = worker("trtllm", multinode={"nodeCount": 2}, envs=entries(Z="z"))
    last = main(rendered(graph(It=written), profile), f"it-{role}")["env"][-1]
    assert last == {"name": "OMPI_MCA_orte_keep_fqdn_hostnames", "value": "1"}


@BOTH
def test_8_5_env_from_secret_is_appended(profile: str) -> None:
    first = [{"configMapRef": {"name": "a"}}, {"secretRef": {"name": "s"}}]
    written = service(main={"envFrom": first}, envFromSecret="s")
    found = main(rendered(graph(It=written), profile), "it")["envFrom"]
    assert found == [*first, {"secretRef": {"name": "s"}}]


# Section 8.6


def configured(document: object, *, profile: str = DOCUMENTED, kind: str = "frontend", **fields: Any) -> Json:
    """Return the spec of the component deployment of a service that carries a deployment configuration."""
    text = document if isinstance(document, str) else json.dumps(document)
    written = service(kind, envs=entries(DYN_DEPLOYMENT_CONFIG=text), **fields)
    return the(rendered(graph(It=written), profile, facts=NOTHING), "DynamoComponentDeployment")["spec"]


def text_of(spec: Json) -> str:
    return env({"env": spec["envs"]})["DYN_DEPLOYMENT_CONFIG"]


@BOTH
@pytest.mark.parametrize(
    ("document", "text"),
    [
        pytest.param('{"It": {"port": 1, "a": 2}}', '{"It":{"a":2,"port":8000}}', id="8.6-port-of-a-frontend"),
        pytest.param('{"Other": {"b": 1, "a": 2}}', '{"Other":{"a":2,"b":1}}', id="8.6-written-anew-without-change"),
        pytest.param('{"X": {"x": "<&>"}}', '{"X":{"x":"\\u003c\\u0026\\u003e"}}', id="8.6-html-characters"),
        pytest.param('{"X": {"x": "\u2028"}}', '{"X":{"x":"\\u2028"}}', id="8.6-line-separator"),
        pytest.param('{"X": {"x": 1.0}}', '{"X":{"x":1}}', id="8.6-whole-number"),
        pytest.param('{"X": {"x": 12345678901234567890}}', '{"X":{"x":12345678901234567000}}', id="8.6-double"),
        pytest.param('{"X": {"x": 1e21}}', '{"X":{"x":1e+21}}', id="8.6-large-exponent"),
        pytest.param('{"X": {"x": 0.000001}}', '{"X":{"x":0.000001}}', id="8.6-small"),
        pytest.param('{"X": {"x": 0.0000001}}', '{"X":{"x":1e-7}}', id="8.6-small-exponent"),
    ],
)
def test_text_of_a_frontend(profile: str, document: str, text: str) -> None:
    assert text_of(configured(document, profile=profile)) == text


@BOTH
def test_8_6_text_of_other_components_stays(profile: str) -> None:
    text = '{"It": {"port": 1}}'
    assert text_of(configured(text, profile=profile, kind="other")) == text


@BOTH
@pytest.mark.parametrize(
    ("own", "replicas"),
    [pytest.param({}, 3, id="8.6-workers"), pytest.param({"replicas": 1}, 1, id="8.6-workers-below-replicas")],
)
def test_workers(profile: str, own: Json, replicas: int) -> None:
    assert configured({"It": {"ServiceArgs": {"Workers": 3}}}, profile=profile, **own)["replicas"] == replicas


@BOTH
@pytest.mark.parametrize("key", ["cpu", "memory", "gpu"], ids="8.6-resources-{}".format)
def test_amounts_of_the_configuration_replace_both_sides(profile: str, key: str) -> None:
    document = {"It": {"ServiceArgs": {"resources": {key.upper(): "7"}}}}
    own: Json = {"resources": {"limits": {key: "1", "gpuType": "x"}}}
    found = configured(document, profile=profile, **own)["resources"]
    assert found == {"limits": {key: "7", "gpuType": "x"}, "requests": {key: "7"}}


@BOTH
def test_8_6_custom_resources_are_replaced_as_a_whole(profile: str) -> None:
    document = {"It": {"ServiceArgs": {"resources": {"custom": {"new": "1"}}}}}
    found = configured(document, profile=profile, resources={"limits": {"custom": {"old": "1"}}})["resources"]
    assert found == {"limits": {"custom": {"new": "1"}}, "requests": {"custom": {"new": "1"}}}


@BOTH
def test_8_6_service_names_match_exactly(profile: str) -> None:
    assert "replicas" not in configured({"it": {"ServiceArgs": {"workers": 3}}}, profile=profile)


@BOTH
@pytest.mark.parametrize(
    "entry",
    [
        pytest.param({"value": "no JSON"}, id="8.6-error-no-json"),
        pytest.param({"value": "[]"}, id="8.6-error-no-object"),
        pytest.param({}, id="8.6-error-empty"),
        pytest.param({"valueFrom": field("metadata.name")}, id="8.6-error-value-from"),
        pytest.param({"value": '{"It": {"ServiceArgs": {"workers": "3"}}}'}, id="8.6-error-type"),
        pytest.param({"value": '{"Other": {"ServiceArgs": {"workers": 3000000000}}}'}, id="8.6-error-range-elsewhere"),
    ],
)
def test_errors_of_the_configuration(profile: str, entry: Json) -> None:
    written = service("frontend", envs=[{"name": "DYN_DEPLOYMENT_CONFIG", **entry}])
    assert problems(graph(It=written), profile, facts=NOTHING) == [("CTL-05", "spec.services.It.envs")]


@BOTH
def test_8_6_is_ignored_on_grove(profile: str) -> None:
    assert variables(service(envs=entries(DYN_DEPLOYMENT_CONFIG="x")), profile)["DYN_DEPLOYMENT_CONFIG"] == "x"

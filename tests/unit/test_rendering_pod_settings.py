"""The rows of rendering.md section 12 (pod-level settings) and section 13 (discovery)."""

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
    clique,
    component,
    env,
    graph,
    main,
    names,
    pod,
    rendered,
    service,
    the,
    worker,
)

BACKEND = "nvidia.com/dynamo-discovery-backend"
SHARED_PATHS = [pytest.param(GROVE, id="grove"), pytest.param(NOTHING, id="component")]


@BOTH
@pytest.mark.parametrize(
    ("fields", "context"),
    [
        pytest.param({}, {"fsGroup": 1000}, id="12.1-absent"),
        pytest.param({"securityContext": None}, {"fsGroup": 1000}, id="12.1-null"),
        pytest.param({"securityContext": {}}, {}, id="12.1-empty"),
        pytest.param({"securityContext": {"runAsUser": 0}}, {"runAsUser": 0}, id="12.1-verbatim"),
    ],
)
def test_security_context(profile: str, fields: Json, context: Json) -> None:
    assert pod(rendered(graph(It=service(pod=fields)), profile), "it")["securityContext"] == context


def pull_secrets(image: str | None, index: Json, profile: str, **fields: Any) -> list[str] | None:
    written = {
        **service(),
        "extraPodSpec": {**fields.pop("pod", {}), "mainContainer": {"image": image} if image else {}},
        **fields,
    }
    facts = {
        **GROVE,
        "namespaces": {"team-a": {"pull_secrets": index}, "other": {"pull_secrets": {"nvcr.io": ["theirs"]}}},
    }
    found = pod(rendered(graph(It=written), profile, facts=facts), "it").get("imagePullSecrets")
    return None if found is None else [entry["name"] for entry in found]


INDEX = {"nvcr.io": ["regcred-a", "regcred-b"], "my-registry.com:5005": ["regcred-a"], "index.docker.io": ["hub"]}
NGC = "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.8.0"
OFF = {"nvidia.com/disable-image-pull-secret-discovery": "true"}
OFF_IN_ANOTHER_CASE = {"nvidia.com/disable-image-pull-secret-discovery": "True"}


@pytest.mark.parametrize(
    ("image", "fields", "documented", "shipped"),
    [
        pytest.param(NGC, {}, ["regcred-a", "regcred-b"], ["regcred-a", "regcred-b"], id="12.2-found"),
        pytest.param(
            NGC,
            {"pod": {"imagePullSecrets": [{"name": "mine"}, {"name": "regcred-b"}]}},
            *[["mine", "regcred-b", "regcred-a"]] * 2,
            id="12.2-after-those-of-the-user",
        ),
        pytest.param(NGC, {"annotations": OFF}, None, None, id="12.2-turned-off"),
        pytest.param(
            NGC, {"annotations": OFF_IN_ANOTHER_CASE}, *[["regcred-a", "regcred-b"]] * 2, id="12.2-turned-off-exactly"
        ),
        pytest.param("my-registry.com:5005/x/y", {}, *[["regcred-a"]] * 2, id="12.2-host-with-port"),
        pytest.param("my-registry.com/x/y", {}, None, None, id="12.2-host-without-port"),
        pytest.param("docker.io/me/app:1", {}, ["hub"], None, id="12.2-docker-hub"),
        pytest.param("me/app:1", {}, ["hub"], None, id="12.2-no-host"),
        pytest.param(
            "app:1.2",
            {"pod": {"imagePullSecrets": [{"name": "x"}]}},
            ["x", "hub"],
            ["x"],
            id="12.2-tag-that-is-no-port",
        ),
        pytest.param("other.io/x", {}, None, None, id="12.2-unknown-host"),
    ],
)
def test_pull_secrets(image: str, fields: Json, documented: list[str] | None, shipped: list[str] | None) -> None:
    assert pull_secrets(image, INDEX, DOCUMENTED, **fields) == documented
    assert pull_secrets(image, INDEX, SHIPPED, **fields) == shipped


def test_12_2_without_an_image_nothing_is_looked_up() -> None:
    assert pull_secrets(None, INDEX, SHIPPED) is None


@BOTH
def test_12_2_secrets_of_other_namespaces_do_not_count(profile: str) -> None:
    assert pull_secrets("nvcr.io/a/b", {"ghcr.io": ["g"]}, profile) is None


@BOTH
def test_12_3_fields_of_the_pod_pass(profile: str) -> None:
    fields = {"priorityClassName": "high", "dnsPolicy": "None", "runtimeClassName": "nvidia", "subdomain": "s"}
    found = pod(rendered(graph(It=service(pod=fields)), profile), "it")
    assert {key: found[key] for key in fields} == fields


LABELLED = {"namespaces": {"team-a": {"component_service_account": "labelled"}}}


@pytest.mark.parametrize(
    ("written", "settings", "facts", "documented", "shipped"),
    [
        pytest.param(service("planner"), KUBERNETES, GROVE, *["planner-serviceaccount"] * 2, id="12.4-base-planner"),
        pytest.param(
            service("epp", eppConfig={"configMapRef": {"name": "a", "key": "b"}}),
            KUBERNETES,
            GROVE,
            *["epp-serviceaccount"] * 2,
            id="12.4-base-epp",
        ),
        pytest.param(service(pod={"serviceAccountName": "mine"}), KUBERNETES, GROVE, "mine", "mine", id="12.4-user"),
        pytest.param(
            service(pod={"serviceAccountName": "mine"}), KUBERNETES, NOTHING, "mine", "mine", id="12.4-user-component"
        ),
        pytest.param(
            service("planner", pod={"serviceAccountName": "mine"}), ETCD, GROVE, "mine", "mine", id="12.4-user-planner"
        ),
        pytest.param(
            service("planner", pod={"serviceAccountName": "mine"}),
            ETCD,
            NOTHING,
            "mine",
            "planner-serviceaccount",
            id="12.4-user-planner-component",
        ),
        pytest.param(service(), KUBERNETES, GROVE, *["demo-k8s-service-discovery"] * 2, id="12.4-discovery"),
        pytest.param(
            service(), KUBERNETES, NOTHING, *["demo-k8s-service-discovery"] * 2, id="12.4-discovery-component"
        ),
        pytest.param(service(), ETCD, GROVE, None, None, id="12.4-none-on-grove"),
        pytest.param(service(), ETCD, LABELLED, "labelled", "labelled", id="12.4-labelled-component"),
        pytest.param(service(), ETCD, NOTHING, "default", "default", id="12.4-default-component"),
    ],
)
def test_service_account(
    written: Json, settings: Json, facts: Json, documented: str | None, shipped: str | None
) -> None:
    for profile, account in ((DOCUMENTED, documented), (SHIPPED, shipped)):
        result = rendered(graph(It=written), profile, settings=settings, facts=facts)
        assert pod(result, "it").get("serviceAccountName") == account


@pytest.mark.parametrize(
    ("profile", "account"),
    [
        pytest.param(DOCUMENTED, "solo-k8s-service-discovery", id="12.4-standalone-documented"),
        pytest.param(SHIPPED, "-k8s-service-discovery", id="12.4-standalone-shipped"),
    ],
)
def test_account_of_a_standalone_component(profile: str, account: str) -> None:
    result = rendered(component({**service(), "dynamoNamespace": "x"}), profile, settings=KUBERNETES)
    assert the(result, "Deployment")["spec"]["template"]["spec"]["serviceAccountName"] == account


DEBUGGER = {
    "name": "debugger",
    "image": "python:3.12-slim",
    "command": ["sleep", "infinity"],
    "securityContext": {"capabilities": {"add": ["SYS_PTRACE"]}},
    "resources": {"requests": {"cpu": "100m", "memory": "100Mi"}, "limits": {"cpu": "1", "memory": "1000Mi"}},
    "stdin": True,
    "tty": True,
}
DEBUG = {"nvidia.com/enable-debug-mode": "true"}
STEALING = {"nvidia.com/enable-stealing-traffic-debug-mode": "true"}


@BOTH
def test_12_5_debug_mode_adds_a_container_to_every_pod(profile: str) -> None:
    found = pod(rendered(graph(It=service(annotations=DEBUG)), profile, facts=NOTHING), "it")
    assert found["containers"][-1] == DEBUGGER
    assert found["shareProcessNamespace"] is True


@BOTH
def test_12_5_debug_mode_adds_a_container_to_leaders_and_workers(profile: str) -> None:
    written = worker(annotations=DEBUG, multinode={"nodeCount": 2}, resources={"limits": {"gpu": "1"}})
    template = the(rendered(graph(It=written), profile, facts=LEADER_WORKER_SET), "LeaderWorkerSet")["spec"]
    for role in ("leaderTemplate", "workerTemplate"):
        assert template["leaderWorkerTemplate"][role]["spec"]["containers"][-1] == DEBUGGER


@BOTH
def test_12_5_stealing_mode_adds_a_deployment_of_its_own(profile: str) -> None:
    result = rendered(graph(It=service(annotations=STEALING, replicas=3)), profile, facts=NOTHING)
    plain, debug = (the(result, "Deployment", name)["spec"] for name in ("demo-it", "demo-it-d"))
    assert [found["name"] for found in plain["template"]["spec"]["containers"]] == ["main"]
    assert [found["name"] for found in debug["template"]["spec"]["containers"]] == ["main", "debugger"]
    assert (plain["replicas"], debug["replicas"]) == (3, 1)


@BOTH
def test_12_5_stealing_mode_is_ignored_for_leader_worker_sets(profile: str) -> None:
    written = worker(annotations=STEALING, multinode={"nodeCount": 2}, resources={"limits": {"gpu": "1"}})
    result = rendered(graph(It=written), profile, facts=LEADER_WORKER_SET)
    assert (names(result, "Deployment"), names(result, "LeaderWorkerSet")) == ([], ["demo-it-0"])


@BOTH
def test_12_5_the_image_is_a_setting(profile: str) -> None:
    settings = {**ETCD, "debugger_image": "example.com/debugger:1"}
    found = pod(rendered(graph(It=service(annotations=DEBUG)), profile, settings=settings, facts=NOTHING), "it")
    assert found["containers"][-1]["image"] == "example.com/debugger:1"


# Section 13


def discovery(profile: str, facts: Json, *, setting: str, on_graph: str | None, on_service: str | None) -> str | None:
    """Return the discovery annotation with which a service ends up, in its clique or its component deployment."""
    annotations = None if on_graph is None else {BACKEND: on_graph}
    own: Json = {} if on_service is None else {"annotations": {BACKEND: on_service}}
    settings = {"restricted_namespace": "team-a", "discovery_backend": setting}
    result = rendered(graph(annotations=annotations, It=service(**own)), profile, settings=settings, facts=facts)
    if facts:
        return clique(result, "it").get("annotations", {}).get(BACKEND)
    return the(result, "DynamoComponentDeployment")["spec"].get("annotations", {}).get(BACKEND)


@BOTH
@pytest.mark.parametrize(
    ("facts", "setting", "on_graph", "on_service", "annotation"),
    [
        pytest.param(GROVE, "kubernetes", None, None, "kubernetes", id="13-grove-takes-the-setting"),
        pytest.param(GROVE, "kubernetes", "etcd", None, "etcd", id="13-grove-takes-the-graph"),
        pytest.param(GROVE, "kubernetes", None, "etcd", "kubernetes", id="13-grove-overwrites-the-service"),
        pytest.param(GROVE, "kubernetes", "", "etcd", "etcd", id="13-grove-with-an-empty-annotation-keeps-the-service"),
        pytest.param(NOTHING, "kubernetes", None, None, None, id="13-component-has-none"),
        pytest.param(NOTHING, "kubernetes", "etcd", "kubernetes", "etcd", id="13-component-takes-the-graph"),
        pytest.param(NOTHING, "kubernetes", None, "etcd", "etcd", id="13-component-keeps-the-service"),
    ],
)
def test_how_the_annotation_arrives(
    profile: str, facts: Json, setting: str, on_graph: str | None, on_service: str | None, annotation: str | None
) -> None:
    found = discovery(profile, facts, setting=setting, on_graph=on_graph, on_service=on_service)
    assert found == annotation


@BOTH
@pytest.mark.parametrize("facts", SHARED_PATHS)
@pytest.mark.parametrize(
    ("backend", "variable", "account"),
    [
        pytest.param("kubernetes", "kubernetes", True, id="13-effects-kubernetes"),
        pytest.param("etcd", None, False, id="13-effects-etcd"),
        pytest.param("Kubernetes", "kubernetes", False, id="13-effects-unknown"),
        pytest.param("", "kubernetes", False, id="13-effects-empty"),
    ],
)
def test_effects(profile: str, facts: Json, backend: str, variable: str | None, *, account: bool) -> None:
    # On Grove an empty annotation of the graph does not reach its services, so the service has it too.
    written = service(annotations={BACKEND: backend})
    result = rendered(graph(annotations={BACKEND: backend}, It=written), profile, facts=facts)
    assert env(main(result, "it")).get("DYN_DISCOVERY_BACKEND") == variable
    assert (pod(result, "it").get("serviceAccountName") == "demo-k8s-service-discovery") == account
    assert bool(names(result, "Role")) == account


@BOTH
def test_13_services_of_all_components_and_their_labels(profile: str) -> None:
    with_kubernetes = rendered(graph(It=service()), profile, settings=KUBERNETES)
    found = the(with_kubernetes, "Service")["metadata"]["labels"]
    assert found == {BACKEND: "kubernetes", "nvidia.com/dynamo-discovery-enabled": "true"}
    assert names(rendered(graph(It=service()), profile, settings=ETCD), "Service") == []

"""Decisions about accounts, pull secrets, variables and names, in both profiles.

A name holds the id of the row in decisions.md section 2; what disagrees stands in rendering.md section 25.
"""

from __future__ import annotations

import pytest

from tests.small import (
    BOTH,
    DOCUMENTED,
    ETCD,
    KUBERNETES,
    NOTHING,
    SHIPPED,
    Json,
    component,
    container,
    env,
    graph,
    pod,
    problems,
    rendered,
    service,
    the,
    warnings,
    worker,
)

# D-24 to D-28: accounts, secrets, names


def pull_secrets(written: Json, profile: str, **index: list[str]) -> list[str]:
    facts = {"api_groups": ["grove.io"], "namespaces": {"team-a": {"pull_secrets": index}}}
    found = pod(rendered(graph(It=written), profile, facts=facts), "it").get("imagePullSecrets", [])
    return [entry["name"] for entry in found]


def test_d_24_every_image_of_the_pod_is_looked_up() -> None:
    written = service(
        main={"image": "ghcr.io/a/b:1"},
        pod={
            "initContainers": [{"name": "init", "image": "quay.io/a/b:1"}],
            "containers": [{"name": "sidecar", "image": "gcr.io/a/b:1"}],
        },
    )
    index = {"ghcr.io": ["z"], "quay.io": ["y"], "gcr.io": ["x"]}
    assert pull_secrets(written, DOCUMENTED, **index) == ["x", "y", "z"]
    assert pull_secrets(written, SHIPPED, **index) == ["z"]


@pytest.mark.parametrize("image", ["ubuntu:22.04", "me/app:1", "docker.io/me/app", "index.docker.io/me/app"])
@pytest.mark.parametrize("server", ["docker.io", "index.docker.io", "https://index.docker.io/v1/"])
def test_d_24_an_image_without_host_is_of_docker_io(image: str, server: str) -> None:
    assert pull_secrets(service(main={"image": image}), DOCUMENTED, **{server: ["hub"]}) == ["hub"]


def test_d_24_the_released_operator_takes_the_first_word_for_the_host() -> None:
    assert pull_secrets(service(main={"image": "ubuntu:22.04"}), SHIPPED, **{"docker.io": ["hub"]}) == []
    assert pull_secrets(service(main={"image": "library/ubuntu"}), SHIPPED, library=["odd"]) == ["odd"]
    assert pull_secrets(service(main={"image": "library/ubuntu"}), DOCUMENTED, library=["odd"]) == []


def test_d_25_an_account_that_the_user_sets_is_never_replaced() -> None:
    resource = graph(It=service("planner", pod={"serviceAccountName": "mine"}))
    assert pod(rendered(resource, DOCUMENTED, facts=NOTHING), "it")["serviceAccountName"] == "mine"
    assert pod(rendered(resource, SHIPPED, facts=NOTHING), "it")["serviceAccountName"] == "planner-serviceaccount"


@BOTH
@pytest.mark.parametrize(
    ("component_type", "settings", "facts", "account"),
    [
        ("planner", ETCD, NOTHING, "planner-serviceaccount"),
        ("epp", ETCD, NOTHING, "epp-serviceaccount"),
        ("frontend", KUBERNETES, NOTHING, "demo-k8s-service-discovery"),
        ("frontend", ETCD, {"namespaces": {"team-a": {"component_service_account": "labelled"}}}, "labelled"),
        ("frontend", ETCD, NOTHING, "default"),
    ],
)
def test_d_25_accounts_are_as_shipped_where_the_user_sets_none(
    profile: str, component_type: str, settings: Json, facts: Json, account: str
) -> None:
    fields = {"eppConfig": {"configMapRef": {"name": "a", "key": "b"}}} if component_type == "epp" else {}
    result = rendered(graph(It=service(component_type, **fields)), profile, settings=settings, facts=facts)
    assert pod(result, "it")["serviceAccountName"] == account


@BOTH
def test_d_26_the_variables_are_those_of_the_released_operator(profile: str) -> None:
    found = env(container(worker(), profile, settings={**KUBERNETES, "nats_address": "nats://n"}))
    assert set(found) == {
        *("DYN_COMPONENT", "DYN_DISCOVERY_BACKEND", "DYN_HEALTH_CHECK_ENABLED", "DYN_NAMESPACE", "NATS_SERVER"),
        *("DYN_PARENT_DGD_K8S_NAME", "DYN_PARENT_DGD_K8S_NAMESPACE", "DYN_SYSTEM_ENABLED", "DYN_SYSTEM_PORT"),
        *("DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS", "POD_NAME", "POD_NAMESPACE", "POD_UID"),
    }


@BOTH
def test_d_27_names_of_a_graphs_service_are_computed(profile: str) -> None:
    result = rendered(graph(It=service(serviceName="Other", dynamoNamespace="other")), profile, facts=NOTHING)
    spec = the(result, "DynamoComponentDeployment")["spec"]
    assert (spec["serviceName"], spec["dynamoNamespace"]) == ("It", "team-a-demo")
    assert warnings(result) == [("SVC-W01", "spec.services.It.dynamoNamespace")]


def test_d_27_a_standalone_component_honours_its_dynamo_namespace() -> None:
    resource = component({**service(), "dynamoNamespace": "shared"})

    def found(profile: str) -> Json:
        return env(the(rendered(resource, profile), "Deployment")["spec"]["template"]["spec"]["containers"][0])

    assert (found(DOCUMENTED)["DYN_NAMESPACE"], found(DOCUMENTED)["DYN_PARENT_DGD_K8S_NAME"]) == ("shared", "solo")
    assert (found(SHIPPED)["DYN_NAMESPACE"], found(SHIPPED)["DYN_PARENT_DGD_K8S_NAME"]) == ("team-a-", None)


def test_d_27_a_standalone_component_without_one_has_a_namespace_of_its_own() -> None:
    resource = component(service())
    documented = the(rendered(resource, DOCUMENTED), "Service")
    assert documented["spec"]["selector"]["nvidia.com/dynamo-namespace"] == "team-a-solo"
    assert problems(resource, SHIPPED) == [("CTL-17", "spec.dynamoNamespace")]


@BOTH
def test_d_28_the_picker_is_a_full_type(profile: str) -> None:
    found = container(service("epp", eppConfig={"configMapRef": {"name": "a", "key": "b"}}), profile)
    assert found["livenessProbe"]["grpc"] == {"port": 9003, "service": "inference-extension"}
    assert (len(found["args"]), found["volumeMounts"][0]["name"]) == (16, "epp-config")

"""The rows of rendering.md section 18 (component deployments) and section 19 (Deployment)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.small import (
    BOTH,
    DOCUMENTED,
    ETCD,
    LEADER_WORKER_SET,
    NOTHING,
    SHIPPED,
    Json,
    component,
    graph,
    names,
    rendered,
    service,
    the,
)

IDENTITY = {
    "nvidia.com/dynamo-component": "It",
    "nvidia.com/dynamo-namespace": "team-a-demo",
    "nvidia.com/dynamo-graph-deployment-name": "demo",
}


def made(written: Json, profile: str, kind: str = "DynamoComponentDeployment", **more: Any) -> Json:
    """Return what a graph without Grove makes of the service ``It``."""
    surroundings = {key: more.pop(key) for key in ("settings", "facts") if key in more}
    return the(rendered(graph(It=written, **more), profile, **{"facts": NOTHING, **surroundings}), kind)


# Section 18


@BOTH
def test_18_name_and_namespace(profile: str) -> None:
    found = made(service(), profile)
    assert (found["apiVersion"], found["metadata"]["name"], found["metadata"]["namespace"]) == (
        "nvidia.com/v1alpha1",
        "demo-it",
        "team-a",
    )
    assert "annotations" not in found["metadata"]


@pytest.mark.parametrize(
    ("profile", "labels"),
    [
        pytest.param(DOCUMENTED, {**IDENTITY, "team": "a"}, id="18-labels-documented"),
        pytest.param(SHIPPED, IDENTITY, id="18-labels-shipped"),
    ],
)
def test_labels(profile: str, labels: Json) -> None:
    found = made(service(labels={"team": "a"}), profile)
    assert (found["metadata"]["labels"], found["spec"]["labels"]) == (labels, labels)


@BOTH
def test_18_spec_is_a_copy_of_the_service(profile: str) -> None:
    own = {
        "componentType": "worker",
        "subComponentType": "decode",
        "replicas": 2,
        "envFromSecret": "s",
        "volumeMounts": [{"name": "c", "mountPoint": "/c"}],
        "multinode": {"nodeCount": 2},
        "modelRef": {"name": "m"},
        "sharedMemory": {"size": "1Gi"},
        "resources": {"limits": {"gpu": "8"}},
        "livenessProbe": {"tcpSocket": {"port": 1}},
        "extraPodMetadata": {"labels": {"a": "b"}},
        "scalingAdapter": {"enabled": True},
        "extraPodSpec": {"mainContainer": {"image": "i", "args": ["./run"]}, "nodeSelector": {"a": "b"}},
    }
    spec = made(own, profile, facts=LEADER_WORKER_SET)["spec"]
    added = {"serviceName": "It", "dynamoNamespace": "team-a-demo", "labels": IDENTITY}
    assert spec == {**own, **added}


@BOTH
@pytest.mark.parametrize(
    ("spec", "framework"),
    [
        pytest.param({"backendFramework": "vllm"}, "vllm", id="18-backendFramework"),
        pytest.param({}, None, id="18-backendFramework-absent"),
    ],
)
def test_backend_framework(profile: str, spec: Json, framework: str | None) -> None:
    assert made(service(), profile, spec=spec)["spec"].get("backendFramework") == framework


@BOTH
def test_18_service_name_and_dynamo_namespace_are_overwritten(profile: str) -> None:
    spec = made(service(serviceName="x", dynamoNamespace="y"), profile)["spec"]
    assert (spec["serviceName"], spec["dynamoNamespace"]) == ("It", "team-a-demo")


@BOTH
@pytest.mark.parametrize("key", ["enable-metrics", "dynamo-discovery-backend"], ids="18-annotation-{}".format)
def test_annotations_of_the_graph_override(profile: str, key: str) -> None:
    annotations = {f"nvidia.com/{key}": "graph", "nvidia.com/other": "stays with the graph"}
    written = service(annotations={f"nvidia.com/{key}": "service", "own": "x"})
    spec = made(written, profile, annotations=annotations)["spec"]
    assert spec["annotations"] == {f"nvidia.com/{key}": "graph", "own": "x"}


@pytest.mark.parametrize(
    ("profile", "account"),
    [
        pytest.param(DOCUMENTED, "mine", id="18-account-of-a-planner-documented"),
        pytest.param(SHIPPED, "planner-serviceaccount", id="18-account-of-a-planner-shipped"),
    ],
)
def test_account_of_a_planner(profile: str, account: str) -> None:
    own = service("planner", pod={"serviceAccountName": "mine"})
    assert made(own, profile)["spec"]["extraPodSpec"]["serviceAccountName"] == account


@pytest.mark.parametrize("written", [{"componentType": "planner"}], ids=["18-account-of-a-planner-without-pod"])
def test_account_of_a_planner_without_pod(written: Json) -> None:
    assert made(written, SHIPPED)["spec"]["extraPodSpec"] == {"serviceAccountName": "planner-serviceaccount"}


@BOTH
@pytest.mark.parametrize(
    ("written", "settings", "ingress"),
    [
        pytest.param(service("frontend"), {}, {"host": "demo"}, id="18-ingress-default-disabled"),
        pytest.param(
            service("frontend"),
            {"ingress_class_name": "nginx", "ingress_tls_secret": "t", "ingress_host_suffix": "s"},
            {
                "enabled": True,
                "host": "demo",
                "ingressControllerClassName": "nginx",
                "tls": {"secretName": "t"},
                "hostSuffix": "s",
            },
            id="18-ingress-default",
        ),
        pytest.param(service("frontend", ingress={"host": "x"}), {}, {"host": "x"}, id="18-ingress-of-the-user"),
        pytest.param(service(), {"ingress_class_name": "nginx"}, None, id="18-ingress-of-others"),
    ],
)
def test_ingress(profile: str, written: Json, settings: Json, ingress: Json | None) -> None:
    assert made(written, profile, settings={**ETCD, **settings})["spec"].get("ingress") == ingress


@BOTH
def test_18_claims_and_restart_of_the_graph_are_not_copied(profile: str) -> None:
    claim = {"name": "c", "create": True, "storageClass": "s", "size": "1Gi", "volumeAccessMode": "ReadWriteOnce"}
    spec = made(service(), profile, spec={"pvcs": [claim], "restart": {"id": "r"}})["spec"]
    assert not {"pvcs", "restart"} & set(spec)


# Section 19


def deployment(written: Json, profile: str, **more: Any) -> Json:
    return made(written, profile, "Deployment", **more)


@BOTH
def test_19_shape(profile: str) -> None:
    found = deployment(service(), profile)
    assert (found["apiVersion"], found["metadata"]["name"]) == ("apps/v1", "demo-it")
    assert found["spec"]["selector"] == {"matchLabels": {"nvidia.com/selector": "demo-it"}}
    assert set(found["spec"]) == {"selector", "strategy", "template"}


@BOTH
@pytest.mark.parametrize(
    ("given", "replicas"),
    [
        pytest.param({}, None, id="19-replicas-unset"),
        pytest.param({"replicas": 0}, 0, id="19-replicas-zero"),
        pytest.param({"replicas": 4}, 4, id="19-replicas"),
    ],
)
def test_replicas(profile: str, given: Json, replicas: int | None) -> None:
    assert deployment(service(**given), profile)["spec"].get("replicas") == replicas


MODEL: Json = {"modelRef": {"name": "Qwen/Qwen3"}}
MODEL_HASH = {"nvidia.com/dynamo-base-model-hash": "cf172107"}
STEALING = "nvidia.com/enable-stealing-traffic-debug-mode"


@BOTH
def test_19_l_labels(profile: str) -> None:
    assert deployment(service(**MODEL), profile)["metadata"]["labels"] == {**IDENTITY, **MODEL_HASH}


@pytest.mark.parametrize(
    ("profile", "pod_annotations"),
    [
        pytest.param(DOCUMENTED, {}, id="19-A-annotations-documented"),
        pytest.param(SHIPPED, {"b": "pod", "c": "pod"}, id="19-A-annotations-shipped"),
    ],
)
def test_annotations(profile: str, pod_annotations: Json) -> None:
    written = service(
        annotations={"a": "own", "b": "own"}, extraPodMetadata={"annotations": {"b": "pod", "c": "pod"}}, **MODEL
    )
    expected = {"a": "own", "b": "own", **pod_annotations, "nvidia.com/dynamo-base-model": "Qwen/Qwen3"}
    assert deployment(written, profile)["metadata"]["annotations"] == expected


@BOTH
def test_19_pl_pod_labels(profile: str) -> None:
    written = service("prefill", subComponentType="sub", extraPodMetadata={"labels": {"own": "x"}}, **MODEL)
    assert deployment(written, profile)["spec"]["template"]["metadata"]["labels"] == {
        **IDENTITY,
        **MODEL_HASH,
        "nvidia.com/metrics-enabled": "true",
        "nvidia.com/dynamo-component-type": "prefill",
        "nvidia.com/dynamo-sub-component-type": "sub",
        "nvidia.com/selector": "demo-it",
        "own": "x",
    }


@BOTH
def test_19_pl_pod_labels_of_a_debug_deployment(profile: str) -> None:
    result = rendered(graph(It=service(annotations={STEALING: "true"})), profile, facts=NOTHING)
    labels = the(result, "Deployment", "demo-it-d")["spec"]["template"]["metadata"]["labels"]
    assert labels["nvidia.com/dynamo-deployment-target-type"] == "debug"
    assert labels["nvidia.com/selector"] == "demo-it-d"
    plain = the(result, "Deployment", "demo-it")["spec"]["template"]["metadata"]["labels"]
    assert "nvidia.com/dynamo-deployment-target-type" not in plain


@BOTH
def test_19_pl_metrics_of_the_service_are_turned_off(profile: str) -> None:
    written = service(annotations={"nvidia.com/enable-metrics": "false"})
    assert "nvidia.com/metrics-enabled" not in deployment(written, profile)["spec"]["template"]["metadata"]["labels"]


@pytest.mark.parametrize(
    ("profile", "graph_label"),
    [
        pytest.param(DOCUMENTED, "solo", id="19-PL-graph-of-a-standalone-documented"),
        pytest.param(SHIPPED, "", id="19-PL-graph-of-a-standalone-shipped"),
    ],
)
def test_graph_label_of_a_standalone_component(profile: str, graph_label: str) -> None:
    found = the(rendered(component({**service(), "dynamoNamespace": "x"}), profile), "Deployment")
    labels = found["spec"]["template"]["metadata"]["labels"]
    assert labels["nvidia.com/dynamo-graph-deployment-name"] == graph_label


@BOTH
def test_19_pl_labels_of_the_spec_lie_below_those_of_the_metadata(profile: str) -> None:
    spec = {**service(labels={"a": "spec", "b": "spec"}), "dynamoNamespace": "x"}
    labels = the(rendered(component(spec, labels={"a": "metadata"}), profile), "Deployment")["metadata"]["labels"]
    assert (labels["a"], labels["b"]) == ("metadata", "spec")


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        pytest.param(DOCUMENTED, {"a": "own", "b": "pod"}, id="19-PA-pod-annotations-documented"),
        pytest.param(SHIPPED, {"b": "pod"}, id="19-PA-pod-annotations-shipped"),
    ],
)
def test_pod_annotations(profile: str, expected: Json) -> None:
    written = service(annotations={"a": "own"}, extraPodMetadata={"annotations": {"b": "pod"}})
    assert deployment(written, profile)["spec"]["template"]["metadata"]["annotations"] == expected


@BOTH
def test_19_pa_pod_annotations_are_absent_when_there_are_none(profile: str) -> None:
    assert "annotations" not in deployment(service(), profile)["spec"]["template"]["metadata"]


def rolling(max_surge: object, max_unavailable: object) -> Json:
    limits = {"maxSurge": max_surge, "maxUnavailable": max_unavailable}
    return {"type": "RollingUpdate", "rollingUpdate": limits}


@BOTH
@pytest.mark.parametrize(
    ("annotations", "strategy"),
    [
        pytest.param({}, rolling("25%", "25%"), id="19-S-default"),
        pytest.param({"rolling-update-max-surge": "1"}, rolling(1, "25%"), id="19-S-surge-number"),
        pytest.param({"rolling-update-max-surge": "+1"}, rolling(1, "25%"), id="19-S-surge-signed"),
        pytest.param({"rolling-update-max-unavailable": "50%"}, rolling("25%", "50%"), id="19-S-unavailable-text"),
        pytest.param(
            {"rolling-update-max-surge": "3000000000"}, rolling("3000000000", "25%"), id="19-S-beyond-32-bits"
        ),
        pytest.param({"rolling-update-max-surge": ""}, rolling("25%", "25%"), id="19-S-empty"),
        pytest.param({"strategy": "Recreate"}, {"type": "Recreate"}, id="19-S-recreate"),
        pytest.param({"strategy": "RollingUpdate"}, rolling("25%", "25%"), id="19-S-rolling-update"),
        pytest.param({"strategy": "recreate"}, rolling("25%", "25%"), id="19-S-any-other-value"),
    ],
)
def test_strategy(profile: str, annotations: Json, strategy: Json) -> None:
    own = {f"nvidia.com/deployment-{key}": value for key, value in annotations.items()}
    assert deployment(service(annotations=own), profile)["spec"]["strategy"] == strategy


@BOTH
def test_19_s_pod_metadata_is_no_place_for_the_strategy(profile: str) -> None:
    own = {"annotations": {"nvidia.com/deployment-strategy": "Recreate"}}
    assert deployment(service(extraPodMetadata=own), profile)["spec"]["strategy"]["type"] == "RollingUpdate"


@BOTH
@pytest.mark.parametrize(("value", "count"), [("true", 2), ("True", 1)], ids=["19-debug", "19-debug-exactly"])
def test_debug_deployment(profile: str, value: str, count: int) -> None:
    result = rendered(graph(It=service(annotations={STEALING: value})), profile, facts=NOTHING)
    assert len(names(result, "Deployment")) == count

"""Decisions about metadata and the objects beside a component's pods, in both profiles.

A name holds the id of the row in decisions.md section 2; what disagrees stands in rendering.md section 25.
"""

from __future__ import annotations

import pytest

from tests.small import (
    BOTH,
    DOCUMENTED,
    ETCD,
    LEADER_WORKER_SET,
    NOTHING,
    SHIPPED,
    Json,
    clique,
    graph,
    names,
    of_kind,
    problems,
    rendered,
    service,
    the,
    warnings,
    worker,
)

NGINX = {"enabled": True, "host": "chat", "ingressControllerClassName": "nginx"}


# D-16 to D-23: metadata and what lies beside

MARKED: Json = {"labels": {"team": "search"}, "annotations": {"owner": "me"}}


def marks(found: Json) -> tuple[bool, bool]:
    metadata = found["metadata"]
    return metadata.get("labels", {}).get("team") == "search", metadata.get("annotations", {}).get("owner") == "me"


@pytest.mark.parametrize("kind", ["Service", "Ingress"])
def test_d_16_d_17_metadata_of_a_service_goes_on_its_objects_on_grove(kind: str) -> None:
    resource = graph(It=service("frontend", ingress=NGINX, **MARKED))
    assert marks(the(rendered(resource, DOCUMENTED), kind)) == (True, True)
    assert marks(the(rendered(resource, SHIPPED), kind)) == (kind == "Service", False)


@BOTH
def test_d_16_d_17_metadata_of_a_service_goes_on_its_cliques(profile: str) -> None:
    found = clique(rendered(graph(It=service(**MARKED)), profile), "it")
    assert (found["labels"]["team"], found["annotations"]["owner"]) == ("search", "me")


@pytest.mark.parametrize(
    ("kind", "shipped_annotation"),
    [("DynamoComponentDeployment", False), ("Deployment", True), ("Service", True), ("Ingress", False)],
)
def test_d_16_d_17_metadata_of_a_service_goes_on_its_objects_without_grove(
    kind: str, *, shipped_annotation: bool
) -> None:
    resource = graph(It=service(ingress=NGINX, **MARKED))
    documented = [marks(found) for found in of_kind(rendered(resource, DOCUMENTED, facts=NOTHING), kind)]
    assert documented == [(True, True)]
    shipped = {marks(found) for found in of_kind(rendered(resource, SHIPPED, facts=NOTHING), kind)}
    assert shipped == {(False, shipped_annotation)}


@pytest.mark.parametrize("kind", ["LeaderWorkerSet", "PodGroup"])
def test_d_16_d_17_metadata_of_a_service_goes_on_its_leader_worker_sets(kind: str) -> None:
    resource = graph(It=worker(multinode={"nodeCount": 2}, resources={"limits": {"gpu": "1"}}, **MARKED))
    assert marks(the(rendered(resource, DOCUMENTED, facts=LEADER_WORKER_SET), kind)) == (True, True)
    assert marks(the(rendered(resource, SHIPPED, facts=LEADER_WORKER_SET), kind)) == (False, False)


def test_d_16_d_17_metadata_of_a_service_goes_on_its_pods_without_grove() -> None:
    resource = graph(It=service(**MARKED))
    documented = the(rendered(resource, DOCUMENTED, facts=NOTHING), "Deployment")["spec"]["template"]
    shipped = the(rendered(resource, SHIPPED, facts=NOTHING), "Deployment")["spec"]["template"]
    assert (marks(documented), marks(shipped)) == ((True, True), (False, False))


def test_d_16_labels_that_the_operator_owns_are_kept_with_a_warning() -> None:
    resource = graph(It=service(labels={"nvidia.com/selector": "mine"}))
    documented = rendered(resource, DOCUMENTED)
    assert clique(documented, "it")["labels"]["nvidia.com/selector"] == "demo-it"
    assert warnings(documented) == [("metadata/owned", 'spec.services.It.labels["nvidia.com/selector"]')]
    assert clique(rendered(resource, SHIPPED), "it")["labels"]["nvidia.com/selector"] == "mine"


@BOTH
def test_d_18_autoscaling_renders_nothing_and_names_the_scaling_adapter(profile: str) -> None:
    result = rendered(graph(It=service(autoscaling={"enabled": True, "maxReplicas": 4})), profile, facts=NOTHING)
    assert of_kind(result, "HorizontalPodAutoscaler") == []
    (warning,) = result.warnings
    assert "scalingAdapter" in (warning.hint or "")


@pytest.mark.parametrize(
    ("fields", "kind"), [({}, "Ingress"), ({"useVirtualService": True, "virtualServiceGateway": "g"}, "VirtualService")]
)
def test_d_19_metadata_of_an_ingress_is_applied(fields: Json, kind: str) -> None:
    ingress = {**NGINX, **fields, "labels": {"team": "search"}, "annotations": {"owner": "me"}}
    settings = {**ETCD, "virtual_service_gateway": "operators"}
    resource = graph(It=service("frontend", ingress=ingress))
    assert marks(the(rendered(resource, DOCUMENTED, settings=settings), kind)) == (True, True)
    assert marks(the(rendered(resource, SHIPPED, settings=settings), kind)) == (False, False)


@BOTH
@pytest.mark.parametrize(
    ("fields", "host"),
    [
        ({}, "chat.local"),
        ({"hostSuffix": "example.com"}, "chat.example.com"),
        ({"hostPrefix": "p-"}, "p-chat.local"),
        ({"hostSuffix": ""}, "chat."),
    ],
)
def test_d_20_the_host_suffix_follows_a_dot_and_defaults_to_local(profile: str, fields: Json, host: str) -> None:
    result = rendered(graph(It=service("frontend", ingress={**NGINX, **fields})), profile)
    assert the(result, "Ingress")["spec"]["rules"][0]["host"] == host


def test_d_21_a_virtual_service_replaces_the_ingress() -> None:
    mesh = {**NGINX, "useVirtualService": True, "virtualServiceGateway": "own"}
    resource, settings = graph(It=service("frontend", ingress=mesh)), {**ETCD, "virtual_service_gateway": "operators"}
    documented, shipped = (rendered(resource, profile, settings=settings) for profile in (DOCUMENTED, SHIPPED))
    assert (names(documented, "Ingress"), names(documented, "VirtualService")) == ([], ["demo-it"])
    assert (names(shipped, "Ingress"), names(shipped, "VirtualService")) == (["demo-it"], ["demo-it"])


def test_d_21_a_gateway_of_the_component_is_enough() -> None:
    mesh = {"enabled": True, "host": "chat", "useVirtualService": True, "virtualServiceGateway": "own"}
    resource = graph(It=service("frontend", ingress=mesh))
    assert the(rendered(resource, DOCUMENTED), "VirtualService")["spec"]["gateways"] == ["own"]
    assert of_kind(rendered(resource, SHIPPED), "VirtualService") == []


@BOTH
@pytest.mark.parametrize("written", [worker("sglang"), worker("trtllm"), service()], ids=["sglang", "trtllm", "none"])
def test_d_22_a_cache_without_mount_point_is_refused_where_there_is_no_default(profile: str, written: Json) -> None:
    cached = {**written, "volumeMounts": [{"name": "cache", "useAsCompilationCache": True}]}
    assert problems(graph(It=cached), profile) == [("CTL-08", "spec.services.It.volumeMounts[0].mountPoint")]


@pytest.mark.parametrize("kind", ["Deployment", "Service"])
def test_d_23_pod_metadata_goes_on_pods_only(kind: str) -> None:
    resource = graph(It=service(extraPodMetadata={"annotations": {"owner": "me"}}))
    documented, shipped = (rendered(resource, profile, facts=NOTHING) for profile in (DOCUMENTED, SHIPPED))
    assert marks(the(documented, kind, "demo-it")) == (False, False)
    assert marks(the(shipped, kind, "demo-it")) == (False, True)
    assert marks(the(documented, "Deployment")["spec"]["template"]) == (False, True)


def test_d_23_pod_metadata_sets_no_rollout_limits() -> None:
    surge = {"nvidia.com/deployment-rolling-update-max-surge": "1"}
    resource = graph(It=service(extraPodMetadata={"annotations": surge}))

    def max_surge(profile: str) -> object:
        found = the(rendered(resource, profile, facts=NOTHING), "Deployment")
        return found["spec"]["strategy"]["rollingUpdate"]["maxSurge"]

    assert (max_surge(DOCUMENTED), max_surge(SHIPPED)) == ("25%", 1)

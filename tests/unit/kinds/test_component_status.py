"""The status of a component deployment: controllers-graph.md 12.5 row by row, and decisions.md 3."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_render import ClusterFacts, OperatorSettings
from dynamo_render.kinds.dynamo_component_deployment.status import component_status, discovery_prefix
from dynamo_render.kinds.shared import failures
from dynamo_render.kinds.shared.conditions import with_transition_times
from dynamo_render.kinds.shared.failures import Failure

LWS = ClusterFacts(api_groups=frozenset({"leaderworkerset.x-k8s.io", "scheduling.volcano.sh"}))
AVAILABLE = {"type": "Available", "status": "True"}
DEPLOYED = {
    "observedGeneration": 1,
    "replicas": 1,
    "updatedReplicas": 1,
    "readyReplicas": 1,
    "availableReplicas": 1,
    "conditions": [AVAILABLE],
}
COUNTS = {
    "componentKind": "Deployment",
    "componentName": "c",
    "replicas": 1,
    "updatedReplicas": 1,
    "readyReplicas": 1,
    "availableReplicas": 1,
}


def component(status: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoComponentDeployment",
        "metadata": {"name": "c", "namespace": "n", "generation": 3},
        "spec": {"replicas": 1, **spec},
        "status": status or {},
    }


def deployed(**status: Any) -> dict[tuple[str, str, str], Any]:
    found = {"metadata": {"name": "c", "generation": 1}, "spec": {"replicas": 1}, "status": {**DEPLOYED, **status}}
    return {("apps/v1", "Deployment", "c"): found}


def grouped(index: int, ready: int) -> dict[tuple[str, str, str], Any]:
    status = {"replicas": 1, "updatedReplicas": 1, "readyReplicas": ready, "conditions": [AVAILABLE]}
    name = f"c-{index}"
    found = {"metadata": {"name": name, "generation": 1}, "spec": {"replicas": 1}, "status": status}
    return {("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", name): found}


def told(status: dict[str, Any]) -> dict[str, tuple[str, str, str]]:
    return {entry["type"]: (entry["status"], entry["reason"], entry["message"]) for entry in status["conditions"]}


VALID = ("True", "ValidationPassed", "DynamoComponentDeployment spec is valid")
READY = ("True", "DeploymentReady", "Deployment is ready")
NOT_READY = ("False", "DeploymentNotReady", "Deployment is not ready")


@pytest.mark.parametrize(
    ("objects", "available"),
    [
        pytest.param(deployed(), READY, id="12.5 ready"),
        pytest.param(deployed(availableReplicas=0), NOT_READY, id="12.5 not ready"),
        pytest.param({}, NOT_READY, id="11.6 created"),
    ],
)
def test_a_component_on_one_node_is_available_when_its_deployment_is_ready(
    objects: dict[tuple[str, str, str], Any], available: tuple[str, str, str]
) -> None:
    assert told(component_status(component(), objects, LWS)) == {"Valid": VALID, "Available": available}


ALL_SETS = ("True", "AllLeaderWorkerSetsReady", "All LeaderWorkerSets are ready")
SOME_SETS = ("False", "SomeLeaderWorkerSetsNotReady", "Some LeaderWorkerSets are not ready")


@pytest.mark.parametrize(
    ("replicas", "objects", "available"),
    [
        pytest.param(2, grouped(0, 1) | grouped(1, 1), ALL_SETS, id="12.5 all"),
        pytest.param(2, grouped(0, 1) | grouped(1, 0), SOME_SETS, id="12.5 some"),
        pytest.param(2, grouped(0, 1), SOME_SETS, id="11.6 one was just created"),
        pytest.param(1, grouped(0, 1) | grouped(1, 0), ALL_SETS, id="18.4 one is too many"),
        pytest.param(0, {}, ALL_SETS, id="12.5 none wanted"),
    ],
)
def test_a_component_on_several_nodes_is_available_when_all_its_sets_are_ready(
    replicas: int, objects: dict[tuple[str, str, str], Any], available: tuple[str, str, str]
) -> None:
    resource = component(replicas=replicas, multinode={"nodeCount": 2})
    assert told(component_status(resource, objects, LWS))["Available"] == available


def test_shrinking_tells_the_sets_that_stay() -> None:
    """18.4."""
    resource = component(replicas=1, multinode={"nodeCount": 2})
    service = component_status(resource, grouped(0, 1) | grouped(1, 1) | grouped(2, 1), LWS)["service"]
    assert service == {
        "componentKind": "LeaderWorkerSet",
        "componentName": "c-0",
        "replicas": 1,
        "updatedReplicas": 1,
        "readyReplicas": 1,
    }


def test_without_sets_there_is_no_service_status() -> None:
    """12.4."""
    before = {"service": COUNTS}
    assert "service" not in component_status(component(before, replicas=0, multinode={"nodeCount": 2}), {}, LWS)


def test_a_component_on_several_nodes_is_a_deployment_where_nothing_runs_sets() -> None:
    """14.2."""
    resource = component(multinode={"nodeCount": 2})
    assert told(component_status(resource, deployed(), ClusterFacts()))["Available"] == READY


def test_a_pass_that_succeeds_tells_counts_and_generation() -> None:
    status = component_status(component(), deployed(), LWS)
    assert (status["service"], status["observedGeneration"]) == (COUNTS, 3)
    assert [condition["observedGeneration"] for condition in status["conditions"]] == [3, 3]


BEFORE = {"observedGeneration": 2, "service": {**COUNTS, "replicas": 9}}


def test_a_failure_is_not_available_and_keeps_what_was_told() -> None:
    """12.5; the generation never runs ahead of what was applied."""
    status = component_status(component(BEFORE), deployed(), LWS, Failure("error", "no quota"))
    text = "Failed to reconcile DynamoComponentDeployment: no quota"
    assert told(status) == {"Valid": VALID, "Available": ("False", "Reconciling", text)}
    assert {key: status[key] for key in BEFORE} == BEFORE


def test_an_object_in_the_way_is_a_failure_that_still_counts_replicas() -> None:
    status = component_status(component(BEFORE), deployed(), LWS, failures.in_the_way([("Service", "c")]))
    assert told(status)["Available"][:2] == ("False", "Reconciling")
    assert (status["service"], status["observedGeneration"]) == (COUNTS, 2)


def test_an_invalid_component_is_told_so_and_nothing_else_changes() -> None:
    before = {**BEFORE, "conditions": [{"type": "Available", "status": "True", "lastTransitionTime": "t"}]}
    wanted = component_status(component(before), deployed(), LWS, Failure("invalid", "spec.replicas is negative"))
    assert told(wanted) == {
        "Valid": ("False", "ValidationFailed", "Validation failed: spec.replicas is negative"),
    }
    status = with_transition_times(wanted, before, "now")
    assert [condition["type"] for condition in status["conditions"]] == ["Available", "Valid"]
    assert {key: status[key] for key in BEFORE} == BEFORE


@pytest.mark.parametrize(
    ("backend", "spec", "prefix"),
    [
        pytest.param("etcd", {"serviceName": "S", "dynamoNamespace": "d"}, "/d/components/S/", id="3 etcd"),
        pytest.param("kubernetes", {"serviceName": "S", "dynamoNamespace": "d"}, None, id="3 kubernetes"),
        pytest.param("etcd", {"dynamoNamespace": "d"}, None, id="3 no service"),
        pytest.param("etcd", {"serviceName": "S"}, None, id="3 no namespace"),
    ],
)
def test_keys_in_etcd_are_cleaned_up_where_a_component_has_registered(
    backend: str, spec: dict[str, Any], prefix: str | None
) -> None:
    assert discovery_prefix(component(**spec), OperatorSettings(discovery_backend=backend)) == prefix

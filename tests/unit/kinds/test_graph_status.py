"""The status of a graph: controllers-graph.md 12 row by row, its worked examples, and decisions.md 3."""

from __future__ import annotations

import copy
import subprocess
import sys
from typing import Any

import pytest

from dynamo_render import ClusterFacts, Observed, Problem, RestartStatus
from dynamo_render.kinds.dynamo_graph_deployment import live_services
from dynamo_render.kinds.dynamo_graph_deployment.status import graph_status
from dynamo_render.kinds.shared import failures
from dynamo_render.kinds.shared.conditions import with_transition_times
from dynamo_render.kinds.shared.failures import Failure
from dynamo_render.scope import Pathway

GROVE, OURS = "grove.io/v1alpha1", "nvidia.com/v1alpha1"
NOT_AVAILABLE = "Component deployment not ready - Available condition not true"
COUNTS = {"componentKind": "Deployment", "componentName": "g-a", "replicas": 1, "updatedReplicas": 1}


def graph(*services: str, status: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": OURS,
        "kind": "DynamoGraphDeployment",
        "metadata": {"name": "g", "namespace": "n", "generation": 4},
        "spec": {"services": {name: {"replicas": 1} for name in services}, **spec},
        "status": status or {},
    }


def component(name: str, available: str, service: dict[str, Any] | None = None) -> dict[tuple[str, str, str], Any]:
    status: dict[str, Any] = {"observedGeneration": 1, "conditions": [{"type": "Available", "status": available}]}
    if service is not None:
        status["service"] = service
    found = {"metadata": {"name": name, "generation": 1}, "spec": {"replicas": 1}, "status": status}
    return {(OURS, "DynamoComponentDeployment", name): found}


def clique(name: str, kind: str = "PodClique", **status: Any) -> dict[tuple[str, str, str], Any]:
    return {
        (GROVE, kind, name): {"metadata": {"name": name, "generation": 1}, "spec": {"replicas": 1}, "status": status}
    }


def told(
    resource: dict[str, Any],
    objects: dict[tuple[str, str, str], Any],
    pathway: Pathway = "component",
    failure: Failure | None = None,
) -> dict[str, Any]:
    return graph_status(resource, objects, Observed(), pathway, failure)


def ready(status: dict[str, Any]) -> tuple[str, str, str, str]:
    (condition,) = status["conditions"]
    assert condition["type"] == "Ready"
    return status["state"], condition["status"], condition["reason"], condition["message"]


ALL_READY = ("successful", "True", "all_resources_are_ready", "All resources are ready")
SERVING: dict[str, Any] = {
    "observedGeneration": 1,
    "replicas": 1,
    "updatedReplicas": 1,
    "readyReplicas": 1,
    "availableReplicas": 1,
}


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        pytest.param(
            Failure("error", "no claim"),
            ("failed", "False", "failed_to_reconcile_the_resources", "no claim"),
            id="12.2 error",
        ),
        pytest.param(
            Failure("finalizer", "no etcd"),
            ("failed", "False", "failed_to_handle_the_finalizer", "no etcd"),
            id="12.2 finalizer",
        ),
        pytest.param(
            Failure("invalid", "spec.services is empty"),
            ("failed", "False", "ValidationFailed", "Validation failed: spec.services is empty"),
            id="12.2 validation",
        ),
        pytest.param(
            failures.in_the_way([("Service", "g-a")]),
            (
                "failed",
                "False",
                "failed_to_reconcile_the_resources",
                'not changed, because another owner has them: Service "g-a"',
            ),
            id="decisions foreign object",
        ),
    ],
)
def test_a_failure_is_the_state_of_the_graph(failure: Failure, expected: tuple[str, str, str, str]) -> None:
    assert ready(told(graph("A"), component("g-a", "True"), failure=failure)) == expected


def test_a_graph_is_successful_when_every_resource_is_ready() -> None:
    """12.2."""
    objects = component("g-a", "True") | component("g-b", "True")
    assert ready(told(graph("A", "B"), objects)) == ALL_READY


def test_a_graph_without_resources_is_successful() -> None:
    """12.2."""
    assert ready(told(graph(), {})) == ALL_READY


def test_the_first_pass_without_grove_tells_what_it_waits_for_by_name() -> None:
    """18.1."""
    message = f"Resources not ready: g-a: {NOT_AVAILABLE}; g-b: {NOT_AVAILABLE}"
    assert ready(told(graph("b", "a"), {})) == ("pending", "False", "some_resources_are_not_ready", message)
    assert "services" not in told(graph("b", "a"), {})


def test_a_missing_clique_is_told_by_reason_and_by_an_entry() -> None:
    """18.5."""
    status = told(graph("Frontend"), {}, "grove")
    message = "Resources not ready: g: podclique/g-0-frontend: resource not found"
    assert ready(status) == ("pending", "False", "some_resources_are_not_ready", message)
    entry = {"componentKind": "PodClique", "componentName": "g-0-frontend", "replicas": 0, "updatedReplicas": 0}
    assert status["services"] == {"Frontend": entry}


def test_on_grove_all_services_are_one_resource_with_reasons_by_service_name() -> None:
    """11.4 aggregate, 12.2 names."""
    resource = graph("Decode", "Frontend")
    resource["spec"]["services"]["Decode"]["multinode"] = {"nodeCount": 2}
    message = (
        "Resources not ready: g: pcsg/g-0-decode: observedGeneration is nil; "
        "podclique/g-0-frontend: observedGeneration is nil"
    )
    objects = clique("g-0-frontend") | clique("g-0-decode", "PodCliqueScalingGroup")
    assert ready(told(resource, objects, "grove"))[3] == message


def test_on_grove_a_graph_is_successful_when_every_child_is_ready() -> None:
    resource = graph("Decode", "Frontend")
    resource["spec"]["services"]["Decode"]["multinode"] = {"nodeCount": 2}
    objects = clique("g-0-frontend", **SERVING) | clique("g-0-decode", "PodCliqueScalingGroup", **SERVING)
    assert ready(told(resource, objects, "grove")) == ALL_READY


def test_services_stand_under_the_names_of_the_spec_as_their_components_tell_them() -> None:
    """12.4; a component without a service status has no entry."""
    objects = component("g-a", "True", COUNTS) | component("g-b", "True")
    assert told(graph("A", "B"), objects)["services"] == {"A": COUNTS}


def test_a_component_of_a_service_that_is_gone_is_not_told() -> None:
    objects = component("g-a", "True", COUNTS) | component("g-b", "False", COUNTS)
    status = told(graph("A"), objects)
    assert (status["state"], status["services"]) == ("successful", {"A": COUNTS})


BEFORE = {"services": {"A": COUNTS}, "restart": {"observedID": "r", "phase": "Restarting", "inProgress": ["A"]}}


@pytest.mark.parametrize("sort", ["error", "invalid", "finalizer"])
def test_an_error_keeps_the_service_and_restart_status_that_were_there(sort: Any) -> None:
    resource = graph("A", status={"state": "pending", **BEFORE}, restart={"id": "r"})
    status = told(resource, component("g-a", "True"), failure=Failure(sort, "no"))
    assert {key: status.get(key) for key in BEFORE} == BEFORE


def test_an_error_before_anything_was_told_adds_no_services_or_restart() -> None:
    status = told(graph("A", restart={"id": "r"}), component("g-a", "True", COUNTS), failure=Failure("error", "no"))
    assert set(status) == {"state", "conditions"}


def test_an_object_in_the_way_does_not_keep_the_rest_from_being_told() -> None:
    """Everything else has been applied."""
    status = told(graph("A"), component("g-a", "True", COUNTS), failure=failures.in_the_way([("Service", "g-a")]))
    assert status["services"] == {"A": COUNTS}


def test_the_condition_says_which_generation_was_judged() -> None:
    assert told(graph("A"), {})["conditions"][0]["observedGeneration"] == 4


def test_the_restart_moves_on_by_what_the_render_was_given() -> None:
    """10.1: the state before the pass wrote anything."""
    resource = graph("A", "B", restart={"id": "r"})
    observed = Observed(restart=RestartStatus("r", "Restarting", ("A",)), restarted=frozenset({"A"}))
    status = graph_status(resource, {}, observed, "component")
    assert status["restart"] == {"observedID": "r", "phase": "Restarting", "inProgress": ["B"]}


def test_a_completed_restart_names_no_services() -> None:
    observed = Observed(restart=RestartStatus("r", "Restarting", ("A",)), restarted=frozenset({"A"}))
    status = graph_status(graph("A", restart={"id": "r"}), {}, observed, "component")
    assert status["restart"] == {"observedID": "r", "phase": "Completed"}


def test_without_a_restart_there_is_no_restart_status() -> None:
    """10.1/2: an unfinished one is forgotten."""
    status = graph_status(graph("A"), {}, Observed(restart=RestartStatus("r", "Restarting", ("A",))), "component")
    assert "restart" not in status


def test_telling_a_status_changes_nothing_that_was_given() -> None:
    resource, objects = graph("A", status=dict(BEFORE), restart={"id": "r"}), component("g-a", "True", COUNTS)
    before = copy.deepcopy((resource, objects))
    told(resource, objects)
    told(resource, objects, failure=Failure("error", "no"))
    assert (resource, objects) == before


@pytest.mark.parametrize(
    ("groups", "annotations", "pathway"),
    [
        pytest.param({"grove.io"}, {}, "grove", id="4.4 installed"),
        pytest.param({"grove.io"}, {"nvidia.com/enable-grove": "FALSE"}, "component", id="4.4 turned off"),
        pytest.param(set(), {}, "component", id="4.4 not installed"),
    ],
)
def test_the_pathway_is_that_of_the_render(groups: set[str], annotations: dict[str, str], pathway: str) -> None:
    resource = graph("A")
    resource["metadata"]["annotations"] = annotations
    assert live_services.pathway_of(resource, ClusterFacts(api_groups=frozenset(groups))) == pathway


def test_a_refused_render_is_invalid_by_what_is_the_resources_own_fault() -> None:
    """4.2 before 4.3: the released operator validates before it looks at the cluster. Warnings are not told."""
    own = Problem("SVC-V03", ("spec", "services", "A", "replicas"), "must be zero or more")
    found = Problem("CTL-09", ("spec", "pvcs", 0), "does not exist")
    warning = Problem("SVC-W01", (), "is ignored", severity="warning")
    assert failures.refused([found, own, warning]) == Failure(
        "invalid", "spec.services.A.replicas must be zero or more"
    )
    assert failures.refused([found, warning]) == Failure("error", "spec.pvcs[0] does not exist")


NOW, THEN = "2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"


def test_a_condition_keeps_its_time_while_its_status_is_the_same() -> None:
    previous = with_transition_times(told(graph("A"), {}), None, THEN)
    failed = with_transition_times(told(graph("A"), {}, failure=Failure("error", "no")), previous, NOW)
    assert failed["conditions"][0]["lastTransitionTime"] == THEN
    mended = with_transition_times(told(graph("A"), component("g-a", "True")), failed, NOW)
    assert mended["conditions"][0]["lastTransitionTime"] == NOW


def test_a_status_that_says_nothing_new_is_equal_to_the_one_before() -> None:
    """So nothing is written."""
    previous = with_transition_times(told(graph("A"), {}), None, THEN)
    assert with_transition_times(told(graph("A"), {}), previous, NOW) == previous


def test_conditions_of_other_types_keep_their_place() -> None:
    """12.1."""
    other = {"type": "Mine", "status": "True", "reason": "r", "message": "", "lastTransitionTime": THEN}
    wanted = told(graph("A"), {})
    status = with_transition_times(wanted, {"conditions": [other]}, NOW)
    assert [condition["type"] for condition in status["conditions"]] == ["Mine", "Ready"]
    assert status["conditions"][0] == other


def test_a_message_longer_than_the_server_takes_is_cut() -> None:
    status = told(graph("A"), {}, failure=Failure("error", "x" * 40000))
    assert len(status["conditions"][0]["message"]) == 32768


def test_rendering_loads_nothing_that_tells_statuses() -> None:
    program = (
        "import dynamo_render, sys; print([name for name in sys.modules if name.endswith(('status', 'observation'))])"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == "[]"

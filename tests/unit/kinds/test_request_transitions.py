"""Every row of the table of a request, by its name: when it is taken, and what it tells."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dynamo_render import OperatorSettings
from dynamo_render.kinds.dynamo_graph_deployment_request.transitions import STATES, TERMINAL, TRANSITIONS
from dynamo_render.kinds.shared.machine import Outcome
from tests.request_passes import SHIPPED, Json, Pass, generated, in_state, job, output, request, role

MADE = {"name": "tiny", "namespace": "team", "state": "pending", "created": True}
READY = [{"type": "DeploymentReady", "status": "True", "reason": "DeploymentReady", "message": "x"}]


def graph(state: str = "", **metadata: Any) -> Json:
    live = generated("tiny", namespace="team", **metadata)
    return {**live, "status": {"state": state}} if state else live


def test_every_row_has_a_test_of_its_name() -> None:
    """T1, a request that is gone, never reaches the machine; tests/controller has it."""
    names = {re.sub(r"\W", "_", row).lower() for row in TRANSITIONS} - {"t1"}
    tested = {name for name in names if any(each.startswith(f"test_row_{name}__") for each in globals())}
    assert names == tested


def test_every_row_leads_to_a_state_that_there_is() -> None:
    assert {row.target for row in TRANSITIONS.values()} <= {*STATES, None}


def test_no_row_leads_out_of_a_terminal_state() -> None:
    leading = {name for name, row in TRANSITIONS.items() if set(row.source) & set(TERMINAL) and row.target is not None}
    assert leading == set()


def test_row_t2__a_valid_request_is_pending() -> None:
    done = Pass(request())
    assert done.step.row == "T2"
    assert (done.status["state"], done.status["observedGeneration"], done.status["backend"]) == ("Pending", 1, "vllm")
    assert done.events == ["Initialized"]
    assert done.step.look_again == 0


def test_row_t3__an_invalid_request_has_failed() -> None:
    done = Pass(request(profilerImage=""))
    assert done.step.row == "T3"
    assert done.status["state"] == "Failed"
    assert done.condition("Validation") == (
        "False",
        "ValidationFailed",
        "spec.profilingConfig.profilerImage is required",
    )
    assert done.events == ["ValidationFailed"]
    assert "observedGeneration" not in done.status
    assert "backend" not in done.status


def test_row_t4__a_pending_request_gets_its_job() -> None:
    done = Pass(in_state("Pending"), role())
    assert done.step.row == "T4"
    assert done.status["state"] == "Profiling"
    assert done.condition("Profiling") == ("False", "ProfilingRunning", "Profiling is in progress")
    assert [event.message for event in done.step.events] == ["Profiling job created"]
    assert done.done == ["account", "binding", "job"]


def test_row_t5__a_pending_request_whose_job_cannot_be_made_has_failed() -> None:
    done = Pass(in_state("Pending"), role(), refused={"job": Outcome("refused", "no such thing")})
    assert done.step.row == "T5"
    assert done.status["state"] == "Failed"
    assert done.condition("Profiling") == ("False", "JobCreationFailed", "no such thing")
    assert done.events == ["ProfilingJobFailed"]


@pytest.mark.parametrize("conditions", [(), ("Suspended",), ("FailureTarget",), ("SuccessCriteriaMet",)])
def test_row_t6__a_job_that_has_not_ended_leaves_everything_as_it_is(conditions: tuple[str, ...]) -> None:
    done = Pass(in_state("Profiling"), job(*conditions))
    assert done.step.row == "T6"
    assert done.step.status is None
    assert done.events == []
    assert done.step.look_again is None


def test_row_t7__a_failed_job_fails_its_request() -> None:
    done = Pass(in_state("Profiling"), job("FailureTarget", "Failed", message="too often"))
    assert done.step.row == "T7"
    assert done.status["state"] == "Failed"
    assert done.condition("Profiling") == ("False", "ProfilingFailed", "profiling job failed: too often")
    assert done.events == ["ProfilingCheckFailed"]


def test_row_t7__a_job_that_is_gone_fails_its_request() -> None:
    done = Pass(in_state("Profiling"))
    assert done.step.row == "T7"
    assert done.condition("Profiling")[2] == 'Job.batch "profile-tiny" not found'


def test_row_t8__output_that_is_missing_fails_the_request() -> None:
    done = Pass(in_state("Profiling"), job("Complete"))
    assert done.step.row == "T8"
    assert done.status["state"] == "Failed"
    assert done.condition("Profiling")[:2] == ("True", "ProfilingSucceeded")
    assert done.condition("SpecGenerated") == (
        "False",
        "GenerationFailed",
        "output ConfigMap dgdr-output-tiny not found - profiling may not have completed yet",
    )
    assert done.events == ["GenerationFailed"]


def test_row_t9__what_was_generated_is_deployed_with_auto_apply() -> None:
    done = Pass(in_state("Profiling", request(autoApply=True)), job("SuccessCriteriaMet", "Complete"), output())
    assert done.step.row == "T9"
    assert done.status["state"] == "Deploying"
    assert done.condition("Profiling")[:2] == ("True", "ProfilingSucceeded")
    assert done.condition("SpecGenerated") == (
        "True",
        "SpecGenerated",
        "DynamoGraphDeployment spec generated successfully",
    )
    assert done.status["profilingResults"] == "configmap/dgdr-output-tiny"
    assert done.status["generatedDeployment"] == generated()
    assert done.events == ["SpecGenerated"]


def test_row_t10__what_was_generated_is_shown_without_auto_apply() -> None:
    done = Pass(in_state("Profiling"), job("Complete"), output())
    assert done.step.row == "T10"
    assert done.status["state"] == "Ready"
    message = "Generated spec is available in status.generatedDeployment"
    assert done.condition("SpecGenerated") == ("True", "SpecGenerated", message)
    assert done.step.events[0].message == "DynamoGraphDeployment spec generated successfully"


def test_row_t11__a_request_that_deploys_without_auto_apply_is_ready() -> None:
    done = Pass(in_state("Deploying"))
    assert done.step.row == "T11"
    assert done.status["state"] == "Ready"
    assert done.events == []


def deploying(**status: Any) -> Json:
    return in_state("Deploying", request(autoApply=True), generatedDeployment=generated(), **status)


def ready(**status: Any) -> Json:
    return in_state("Ready", request(autoApply=True), generatedDeployment=generated(), **status)


def test_row_t12_created__the_graph_is_made_and_waited_for() -> None:
    done = Pass(deploying())
    assert done.step.row == "T12 created"
    assert done.status["state"] == "Deploying"
    assert done.status["deployment"] == MADE
    assert done.condition("DeploymentReady") == ("False", "DeploymentCreated", "DGD tiny created, waiting for Ready")
    assert done.events == ["DeploymentCreated"]
    assert done.step.look_again == 0


def test_row_t12_exists__a_graph_of_that_name_is_left_as_it_is_and_watched() -> None:
    theirs = graph("successful", uid="theirs")
    done = Pass(deploying(), theirs)
    assert done.step.row == "T12 exists"
    assert done.made("DynamoGraphDeployment") == [theirs]
    assert done.status["deployment"] == MADE
    assert done.condition("DeploymentReady")[:2] == ("False", "DeploymentExists")
    assert done.events == []


def test_row_t12_exists__the_shipped_profile_tells_nothing_of_it() -> None:
    done = Pass(deploying(), {**graph(), "metadata": {"name": "gen", "namespace": "team"}}, settings=SHIPPED)
    assert done.step.row == "T12 exists"
    assert "conditions" not in done.status


def test_row_t12_refused__a_graph_that_cannot_be_made_is_tried_again() -> None:
    done = Pass(deploying(), refused={"graph": Outcome("refused", "not like this")})
    assert done.step.row == "T12 refused"
    assert done.status["state"] == "Deploying"
    assert "deployment" not in done.status
    assert done.condition("DeploymentReady") == ("False", "DeploymentCreationFailed", "not like this")
    assert done.events == ["DeploymentCreationFailed"]
    assert "not like this" in done.step.failure


@pytest.mark.parametrize("state", ["Deploying", "Ready"])
def test_row_t13_gone__a_graph_that_was_deleted_is_not_made_again(state: str) -> None:
    resource = {"Deploying": deploying, "Ready": ready}[state](deployment=MADE)
    done = Pass(resource)
    assert done.step.row == "T13 gone"
    assert done.status["state"] == "DeploymentDeleted"
    assert done.status["deployment"] == {"name": "tiny", "namespace": "team", "created": True}
    assert done.condition("DeploymentReady") == (
        "False",
        "DeploymentDeleted",
        "Deployment was deleted by user. Create a new DGDR to redeploy.",
    )
    assert done.events == ["DeploymentDeleted"]
    assert done.made("DynamoGraphDeployment") == []


def test_row_t13_ready__a_successful_graph_makes_its_request_ready() -> None:
    done = Pass(deploying(deployment=MADE), graph("successful"))
    assert done.step.row == "T13 ready"
    assert (done.status["state"], done.status["deployment"]["state"]) == ("Ready", "successful")
    assert done.condition("DeploymentReady") == ("True", "DeploymentReady", "DynamoGraphDeployment tiny is ready")
    assert done.events == ["DeploymentReady"]


@pytest.mark.parametrize("state", ["pending", "failed", ""])
def test_row_t13_waiting__any_other_graph_is_waited_for(state: str) -> None:
    done = Pass(deploying(deployment=MADE), graph(state))
    assert done.step.row == "T13 waiting"
    assert done.status["state"] == "Deploying"
    assert done.status["deployment"].get("state", "") == state
    assert done.events == []


def test_row_t13_serving__a_ready_graph_that_stays_so_changes_nothing() -> None:
    done = Pass(ready(deployment={**MADE, "state": "successful"}, conditions=READY), graph("successful"))
    assert done.step.row == "T13 serving"
    assert done.step.status is None
    assert done.events == []


@pytest.mark.parametrize(("settings", "state"), [(OperatorSettings(), "Ready"), (SHIPPED, "Deploying")])
def test_row_t13_degraded__a_graph_that_is_no_longer_ready_is_told(settings: OperatorSettings, state: str) -> None:
    """Ready is the end in the documents; the released operator goes back to Deploying."""
    done = Pass(ready(deployment=MADE, conditions=READY), graph("pending"), settings=settings)
    assert done.step.row == "T13 degraded"
    assert done.status["state"] == state
    assert done.status["deployment"]["state"] == "pending"
    assert done.condition("DeploymentReady") == ("False", "DeploymentDegraded", "Deployment degraded to pending")
    assert [event.message for event in done.step.events] == [
        "DynamoGraphDeployment tiny degraded from Ready to pending"
    ]


def test_row_t13_still_degraded__is_told_once_and_ends_when_the_graph_is_ready_again() -> None:
    degraded = Pass(ready(deployment=MADE, conditions=READY), graph("pending")).after
    still = Pass(degraded, graph("failed"))
    assert still.step.row == "T13 still degraded"
    assert still.status["deployment"]["state"] == "failed"
    assert still.events == []
    again = Pass(still.after, graph("successful"))
    assert again.step.row == "T13 ready"
    assert again.condition("DeploymentReady")[0] == "True"


def test_row_t13_unknown__ready_without_a_deployment_is_an_error() -> None:
    done = Pass(ready())
    assert done.step.row == "T13 unknown"
    assert done.step.failure
    assert done.step.status is None


def test_row_t14__a_state_that_there_is_not_has_failed() -> None:
    done = Pass(in_state("Dreaming"))
    assert done.step.row == "T14"
    assert done.status == {**in_state("Dreaming")["status"], "state": "Failed"}
    assert done.events == []


def test_row_t15__a_ready_request_without_auto_apply_rests() -> None:
    done = Pass(in_state("Ready"))
    assert done.step.row == "T15"
    assert (done.step.status, done.events, done.step.look_again) == (None, [], None)


@pytest.mark.parametrize("state", TERMINAL)
def test_row_t16__a_terminal_state_is_never_left(state: str) -> None:
    done = Pass(
        in_state(state, request(autoApply=True), deployment=MADE), job("Complete"), output(), graph("successful")
    )
    assert done.step.row == "T16"
    assert (done.step.status, done.events, done.step.look_again) == (None, [], None)


def edited(state: str, **status: Any) -> Json:
    resource = in_state(state, **status)
    resource["metadata"]["generation"] = 2
    return {**resource, "spec": {**resource["spec"], "model": "acme/other", "autoApply": True}}


@pytest.mark.parametrize("state", ["Pending", "Profiling", "Ready", "DeploymentDeleted"])
def test_row_edited__an_edit_is_refused_in_words(state: str) -> None:
    done = Pass(edited(state), job(), role())
    words = f"Cannot modify spec in state '{state}'. DynamoGraphDeploymentRequest is immutable once profiling starts. "
    assert done.condition("Validation") == (
        "False",
        "SpecChangeRejected",
        f"{words}Create a new resource with a different name instead.",
    )
    assert done.events[0] == "SpecChangeRejected"
    assert done.status["observedGeneration"] == 1


def test_row_edited__a_request_goes_on_with_the_spec_that_it_started_from() -> None:
    job_made = Pass(edited("Pending"), role()).made("Job")[0]
    assert "model: acme/chat" in str(job_made)
    done = Pass(edited("Profiling"), job("Complete"), output())
    assert done.step.row == "T10"


def test_row_edited__an_edit_is_told_once() -> None:
    first = Pass(edited("Profiling"), job())
    second = Pass(first.after, job())
    assert second.step.status is None
    assert second.events == []


def test_row_edited__an_edit_after_a_failure_says_nothing() -> None:
    done = Pass(edited("Failed"))
    assert (done.step.status, done.events) == (None, [])


def test_row_reverted__an_edit_that_is_taken_back_is_forgotten() -> None:
    first = Pass(edited("Profiling"), job()).after
    reverted = {**first, "spec": request()["spec"]}
    reverted["metadata"]["generation"] = 3
    done = Pass(reverted, job())
    assert done.condition("Validation")[:2] == ("True", "SpecChangeReverted")
    assert done.status["observedGeneration"] == 3
    assert Pass(done.after, job()).step.status is None


@pytest.mark.parametrize("note", ["{", "3", "[]"])
def test_a_note_that_somebody_has_spoiled_says_nothing_about_edits(note: str) -> None:
    spoiled = edited("Profiling")
    spoiled["metadata"]["annotations"]["dgdr.nvidia.com/started-from"] = note
    done = Pass(spoiled, job())
    assert (done.step.status, done.events) == (None, [])


def test_row_deleted__our_finalizer_goes_and_nothing_else_is_done() -> None:
    metadata = {"finalizers": ["nvidia.com/finalizer"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
    done = Pass(request(metadata=metadata))
    assert (done.step.row, done.done, done.step.status) == ("deleted", ["finalizer"], None)


def test_row_deleted__nothing_is_made_for_a_request_that_others_hold() -> None:
    metadata = {"finalizers": ["somebody/else"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
    done = Pass(request(metadata=metadata))
    assert (done.step.row, done.done, done.step.status) == ("deleted", [], None)

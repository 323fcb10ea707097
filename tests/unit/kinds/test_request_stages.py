"""What a request looks at and makes in each of its stages, beyond the rows of its table."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_render import Lookup, OperatorSettings, Outcome, Seen, advance, lookups
from dynamo_render.kinds.shared.machine import Create, Delete
from tests.request_passes import SETTINGS, SHIPPED, Json, Pass, config_map, in_state, job, output, request, role

PLAIN = OperatorSettings(restricted_namespace="team")


def claim(name: str) -> Json:
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "team"}}


def why_invalid(resource: Json, *objects: Json, settings: OperatorSettings = SETTINGS) -> str:
    done = Pass(resource, *objects, settings=settings)
    return done.condition("Validation")[2] if done.step.row == "T3" else ""


def asked(resource: Json, seen: Seen | None = None, settings: OperatorSettings = SETTINGS) -> list[tuple[str, str]]:
    return [(each.kind, each.name) for each in lookups(resource, settings=settings, seen=seen)]


# Validation


def test_everything_that_is_wrong_with_a_spec_is_told_line_by_line() -> None:
    resource = request(profilerImage="", enableGpuDiscovery=True)
    del resource["spec"]["profilingConfig"]["config"]
    lines = why_invalid(resource, settings=PLAIN).split("\n")
    assert lines[:2] == [
        "spec.profilingConfig.profilerImage is required",
        "spec.profilingConfig.config is required and must not be empty",
    ]
    assert lines[2].startswith("spec.enableGpuDiscovery can only be set to true for cluster-wide operators. ")
    assert "hardware.num_gpus_per_node" in lines[2]


def test_an_empty_configuration_is_fine() -> None:
    assert why_invalid(request(config={})) == ""


def test_what_the_schema_refuses_is_told_with_its_place() -> None:
    resource = request(backend="tgi")
    assert "spec.backend must be one of" in why_invalid(resource)
    assert "spec.profilingConfig is required" in why_invalid({**resource, "spec": {"model": "m", "backend": "vllm"}})


def test_a_base_graph_must_be_there_with_its_key() -> None:
    resource = request(configMapRef={"name": "base"})
    assert why_invalid(resource) == "ConfigMap base not found in namespace team"
    assert why_invalid(resource, config_map("base", other="")) == "key disagg.yaml not found in ConfigMap base"
    assert why_invalid(resource, config_map("base", disagg__yaml="")) == ""
    named = request(configMapRef={"name": "base", "key": "other"})
    assert why_invalid(named, config_map("base", other="")) == ""
    empty = request(configMapRef={"name": "base", "key": ""})
    assert why_invalid(empty, config_map("base", disagg__yaml="")) == ""


def test_binary_data_is_no_base_graph() -> None:
    base = {**config_map("base"), "binaryData": {"disagg.yaml": "eA=="}}
    assert why_invalid(request(configMapRef={"name": "base"}), base) == "key disagg.yaml not found in ConfigMap base"


def test_the_claim_of_a_model_cache_must_be_there() -> None:
    resource = request(config={"deployment": {"modelCache": {"pvcName": "models"}}})
    assert why_invalid(resource) == "model cache PVC models not found in namespace team"
    assert why_invalid(resource, claim("models")) == ""


def test_the_claim_for_output_must_be_there_as_the_documents_say() -> None:
    resource = request(outputPVC="out")
    assert why_invalid(resource) == "output PVC out not found in namespace team"
    assert why_invalid(resource, claim("out")) == ""
    assert why_invalid(resource, settings=SHIPPED) == ""


def test_what_nobody_has_looked_for_counts_as_there() -> None:
    step = advance(request(configMapRef={"name": "base"}, outputPVC="out"), settings=SETTINGS)
    assert step.row == "T2"


def test_success_is_told_as_the_documents_say() -> None:
    assert Pass(request()).condition("Validation")[:2] == ("True", "ValidationPassed")
    assert "conditions" not in Pass(request(), settings=SHIPPED).status


# Starting


def test_a_pending_request_looks_at_what_was_left_and_at_its_access() -> None:
    assert asked(in_state("Pending")) == [
        ("Job", "profile-tiny"),
        ("ConfigMap", "dgdr-output-tiny"),
        ("RoleBinding", "dgdr-profiling-job-binding"),
        ("ClusterRole", "prof"),
    ]
    assert asked(in_state("Pending"), settings=PLAIN) == [("Job", "profile-tiny"), ("ConfigMap", "dgdr-output-tiny")]


def test_the_output_of_an_earlier_run_goes_first() -> None:
    done = Pass(in_state("Pending"), role(), output())
    assert done.done == ["stale output", "account", "binding", "job"]
    assert done.made("ConfigMap") == []


def test_the_output_of_this_run_stays_when_a_pass_is_repeated() -> None:
    """The pass that made the Job was lost before its status; the Job has ended meanwhile."""
    done = Pass(in_state("Pending"), role(), job("Complete"), output())
    assert (done.step.row, done.done) == ("T4", [])
    assert done.made("ConfigMap") == [output()]


def test_a_job_of_an_earlier_request_is_replaced_and_the_shipped_profile_fails() -> None:
    left = job("Complete")
    left["metadata"]["ownerReferences"][0]["uid"] = "another"
    done = Pass(in_state("Pending"), role(), left, output())
    assert done.step.row == "T4"
    assert done.done == ["earlier Job", "stale output", "account", "binding", "job"]
    assert [each["metadata"]["ownerReferences"][0]["uid"] for each in done.made("Job")] == ["uid-of-tiny"]
    assert Pass(in_state("Pending"), role(), left, settings=SHIPPED).step.row == "T5"


def test_a_job_that_belongs_to_something_else_is_left_alone() -> None:
    theirs = job(name="tiny")
    theirs["metadata"]["ownerReferences"][0] |= {"uid": "another", "kind": "CronJob"}
    done = Pass(in_state("Pending"), role(), theirs)
    assert done.step.row == "T5"
    assert "belongs to something else" in done.condition("Profiling")[2]
    assert done.made("Job") == [theirs]


def test_a_job_of_an_earlier_request_that_is_going_is_waited_for() -> None:
    theirs = job(name="tiny")
    theirs["metadata"]["ownerReferences"][0]["uid"] = "another"
    theirs["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    done = Pass(in_state("Pending"), role(), theirs)
    assert done.step.status is None
    assert done.step.look_again == 5.0


@pytest.mark.parametrize("roleless", [OperatorSettings(), SETTINGS])
def test_a_role_that_is_missing_fails_the_request_with_its_name(roleless: OperatorSettings) -> None:
    done = Pass(in_state("Pending"), settings=roleless)
    wanted = (
        "cluster role name is required"
        if not roleless.profiling_cluster_role
        else 'cluster role "prof" does not exist: ensure it is created by Helm before deploying components'
    )
    assert done.condition("Profiling")[2] == f"failed to ensure profiling job RBAC: {wanted}"
    assert done.made("Job") == []


def binding(**changes: Any) -> Json:
    (made,) = Pass(in_state("Pending"), role()).made("RoleBinding")
    return {**made, **changes}


def test_a_binding_that_is_right_stays() -> None:
    assert "binding" not in Pass(in_state("Pending"), role(), binding()).done


@pytest.mark.parametrize(
    "changes",
    [{"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "x"}}, {"subjects": []}],
)
def test_a_binding_of_an_operator_to_something_else_is_replaced(changes: Json) -> None:
    done = Pass(in_state("Pending"), role(), binding(**changes))
    assert done.done == ["account", "other binding", "binding", "job"]
    assert [each["subjects"][0]["name"] for each in done.made("RoleBinding")] == ["dgdr-profiling-job"]


def test_a_binding_of_somebody_else_is_left_alone() -> None:
    theirs = binding(subjects=[])
    theirs["metadata"]["labels"] = {}
    done = Pass(in_state("Pending"), role(), theirs)
    assert done.step.row == "T5"
    assert done.made("RoleBinding") == [theirs]


def test_a_configuration_that_cannot_be_completed_fails_the_request_after_its_access_was_made() -> None:
    resource = in_state("Pending", request(config={"engine": [1]}))
    done = Pass(resource, role())
    wanted = "profilingConfig.config.engine must be an object, got []interface {}"
    assert done.condition("Profiling")[2] == wanted
    assert done.made("ServiceAccount")


@pytest.mark.parametrize(
    ("value", "word"), [("x", "string"), (True, "bool"), (3, "int64"), (0.5, "float64"), ([], "[]interface {}")]
)
def test_a_section_of_another_type_is_named_as_go_names_it(value: Any, word: str) -> None:
    done = Pass(in_state("Pending", request(config={"deployment": value})), role())
    assert done.condition("Profiling")[2] == f"profilingConfig.config.deployment must be an object, got {word}"


def test_stale_output_that_cannot_be_deleted_fails_the_request() -> None:
    done = Pass(in_state("Pending"), role(), output(), refused={"stale output": Outcome("refused", "no")})
    assert done.condition("Profiling")[2] == "failed to delete existing output ConfigMap: no"


def test_the_ai_configurator_is_named_in_the_event() -> None:
    resource = in_state("Pending", request(config={"sweep": {"useAiConfigurator": True}}))
    assert [event.message for event in Pass(resource, role()).step.events] == ["AIC profiling job created"]


# The Job


def pod(phase: str, state: Json, name: str = "profile-tiny-x", container: str = "profiler") -> Json:
    metadata = {"name": name, "namespace": "team", "labels": {"job-name": "profile-tiny"}}
    status = {"phase": phase, "containerStatuses": [{"name": container, "state": state}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": status}


ENDED: Json = {"terminated": {"exitCode": 1, "reason": "Error", "message": "boom"}}


@pytest.mark.parametrize(
    ("pods", "details"),
    [
        ([pod("Failed", ENDED)], "Pod: profile-tiny-x, Container: profiler, ExitCode: 1, Reason: Error, Message: boom"),
        (
            [pod("Failed", {"terminated": {"exitCode": 137, "reason": "OOMKilled"}})],
            "Pod: profile-tiny-x, Container: profiler, ExitCode: 137, Reason: OOMKilled",
        ),
        (
            [pod("Failed", {"waiting": {"reason": "ErrImagePull", "message": "no such image"}})],
            "Pod: profile-tiny-x, Container: profiler, Waiting - Reason: ErrImagePull, Message: no such image",
        ),
        ([pod("Running", ENDED, "a"), pod("Failed", ENDED, "b")], "Pod: b, Container: profiler, ExitCode: 1"),
        ([pod("Failed", {"running": {}}, "a"), pod("Failed", ENDED, "b")], "Pod: b, Container: profiler, ExitCode: 1"),
        ([pod("Failed", ENDED, container="output-copier")], ""),
        ([], ""),
    ],
)
def test_a_failed_job_is_told_with_what_its_pods_say(pods: list[Json], details: str) -> None:
    done = Pass(in_state("Profiling"), job("Failed", message="too often"), *pods)
    message = done.condition("Profiling")[2]
    assert message.startswith(f"profiling job failed: too often{'. Details: ' + details if details else ''}")
    assert bool(details) == ("Details" in message)


def test_pods_are_looked_at_only_after_a_failure_and_output_only_after_success() -> None:
    lookup = Lookup("batch/v1", "Job", "team", "profile-tiny")

    def then(*conditions: str) -> list[tuple[str, str]]:
        return asked(in_state("Profiling"), Seen().with_found(lookup, [job(*conditions)]))

    assert asked(in_state("Profiling")) == [("Job", "profile-tiny")]
    assert then() == []
    assert then("Failed") == [("Pod", "")]
    assert then("Complete") == [("ConfigMap", "dgdr-output-tiny")]


def test_a_job_is_never_written_again() -> None:
    """Its template cannot be changed, and its outcome would be another one."""
    live = job("Complete")
    live["spec"] = {"template": {}}
    done = Pass(in_state("Pending"), role(), live)
    assert [each for each in done.step.actions if isinstance(each, Create | Delete)] == []


def test_a_message_of_any_length_fits_the_condition_and_the_event() -> None:
    done = Pass(in_state("Profiling"), job("Failed", message="x" * 100_000))
    assert len(done.condition("Profiling")[2]) == 32768
    assert len(done.step.events[0].message) == 1024

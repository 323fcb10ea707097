"""Stories of requests that go wrong: Jobs fail, output is missing or late, the server refuses, the controller dies."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_controller.ports import ClusterError
from tests.controller.request_stage import GRAPH, JOB, Requests, deployed, written
from tests.controller.test_crashes import DeathAt
from tests.request_passes import DATA, config_map, generated, in_state, output

Json = dict[str, Any]


async def test_a_job_that_fails_is_told_with_what_its_pod_says() -> None:
    async with Requests() as stage:
        await stage.add(written())
        await stage.later(1)
        metadata = {"name": "profile-tiny-x", "namespace": "team", "labels": {"job-name": "profile-tiny"}}
        ended = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
        status = {"phase": "Failed", "containerStatuses": [{"name": "profiler", "state": ended}]}
        await stage.add({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": status})
        await stage.profiled(None, end="Failed", message="too often")
        assert stage.state() == "Failed"
        details = "Pod: profile-tiny-x, Container: profiler, ExitCode: 137, Reason: OOMKilled"
        assert stage.told("Profiling")[2] == f"profiling job failed: too often. Details: {details}"


async def test_a_job_that_is_deleted_by_hand_fails_its_request() -> None:
    async with Requests() as stage:
        await stage.add(written())
        await stage.later(1)
        await stage.remove(JOB, "profile-tiny")
        assert stage.state() == "Failed"
        assert stage.told("Profiling")[2] == 'Job.batch "profile-tiny" not found'


async def test_output_that_comes_before_the_end_of_the_job_is_read_at_its_end() -> None:
    async with Requests() as stage:
        await stage.add(written())
        await stage.later(1)
        await stage.add(output())
        await stage.later(600)
        assert stage.state() == "Profiling"
        await stage.profiled(None)
        assert stage.state() == "Ready"


async def test_output_that_comes_after_the_end_of_the_job_comes_too_late() -> None:
    async with Requests() as stage:
        await stage.add(written())
        await stage.later(1)
        await stage.profiled(None)
        assert stage.state() == "Failed"
        await stage.add(output())
        await stage.later(600)
        assert stage.state() == "Failed"


async def test_output_beside_the_graph_that_is_too_large_fails_the_request_with_the_reason() -> None:
    async with Requests() as stage:
        await stage.add(written())
        await stage.later(1)
        await stage.profiled(output({**DATA, "data": {"a": "x" * 260_000}}, generated()))
        assert stage.state() == "Failed"
        assert "exceeds maximum annotation size" in stage.told("SpecGenerated")[2]


async def test_a_config_map_that_the_server_refuses_is_told_and_stops_nothing_else() -> None:
    async with Requests() as stage:
        await stage.add(written())
        await stage.later(1)

        def refuse(verb: str, target: Json) -> ClusterError | None:
            is_it = verb == "create" and target["metadata"].get("name") == "planner-profile-data"
            return ClusterError(413, "RequestEntityTooLarge", "too large") if is_it else None

        stage.cluster.faults.append(refuse)
        await stage.profiled(output())
        assert stage.state() == "Ready"
        assert "ConfigMapCreationFailed" in stage.event_reasons()


async def test_a_job_that_the_server_refuses_fails_the_request() -> None:
    async with Requests() as stage:
        stage.cluster.faults.append(lambda verb, target: _refusal(verb, target, 422))
        await stage.add(written())
        await stage.later(1)
        assert stage.state() == "Failed"
        assert stage.told("Profiling") == ("False", "JobCreationFailed", "no Jobs today")


async def test_a_job_that_cannot_be_made_for_a_while_is_tried_again() -> None:
    """Only what would fail for ever is the end of a request."""
    async with Requests() as stage:
        stage.cluster.faults.append(lambda verb, target: _refusal(verb, target, 503))
        await stage.add(written())
        await stage.later(5)
        assert stage.state() == "Pending"
        stage.cluster.faults.clear()
        await stage.later(120)
        assert stage.state() == "Profiling"


def _refusal(verb: str, target: Json, status: int) -> ClusterError | None:
    return ClusterError(status, "No", "no Jobs today") if (verb, target.get("kind")) == ("create", JOB) else None


async def test_a_graph_that_the_server_refuses_is_told_and_tried_again() -> None:
    async with Requests() as stage:

        def refuse(verb: str, target: Json) -> ClusterError | None:
            is_it = (verb, target.get("kind")) == ("create", GRAPH)
            return ClusterError(422, "Invalid", "not like this") if is_it else None

        stage.cluster.faults.append(refuse)
        await deployed(stage)
        assert stage.state() == "Deploying"
        assert stage.told("DeploymentReady") == ("False", "DeploymentCreationFailed", "not like this")
        stage.cluster.faults.clear()
        await stage.later(300)
        assert stage.told("DeploymentReady")[1] == "DeploymentCreated"


async def test_a_request_in_a_state_that_there_is_not_has_failed() -> None:
    async with Requests() as stage:
        await stage.add({**written(), "status": in_state("Dreaming")["status"]})
        assert stage.state() == "Failed"


# Deaths


async def story(stage: Requests, part: str) -> None:
    """Play a part of a request's life; whatever part the controller has missed, the world goes on."""
    if part == "applied":
        stage.cluster.put(written(autoApply=True))
    elif part == "profiled" and JOB in {kind.kind for kind, _, _ in stage.cluster.objects}:
        await stage.profiled(output())
    await stage.later(1)


async def end_state(death: DeathAt | None, dying: str) -> Json:
    """Return what a request comes to when one controller dies in a part of its life and another goes on."""
    stage: Requests = await Requests().__aenter__()
    for part in ("applied", "profiled"):
        if part == dying and death is not None:
            stage.cluster.faults.append(death)
        await story(stage, part)
        if part == dying:
            stage.cluster.faults.clear()
            await stage.end()
            stage = await Requests(cluster=stage.cluster, clock=stage.clock).__aenter__()
            await stage.later(300)
    await stage.roll_out()
    await stage.later(300)
    await stage.end()
    return {
        f"{kind.kind}/{name}": _masked(live)
        for (kind, _, name), live in stage.cluster.objects.items()
        if kind.kind != "Event"
    }


def _masked(value: Any) -> Any:
    hidden = {"uid", "resourceVersion", "managedFields", "lastTransitionTime", "dgdr.nvidia.com/deployment-uid", "env"}
    if isinstance(value, dict):
        return {key: _masked(inner) for key, inner in value.items() if key not in hidden}
    return [_masked(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("dying", ["applied", "profiled"])
async def test_whichever_write_is_the_last_the_next_controller_comes_to_the_same_end(dying: str) -> None:
    count = DeathAt(10**6)
    wanted = await end_state(count, dying)
    assert wanted["DynamoGraphDeploymentRequest/tiny"]["status"]["state"] == "Ready"
    assert count.writes >= 5
    for index in range(count.writes):
        assert await end_state(DeathAt(index), dying) == wanted, f"after write {index}"


async def test_a_base_graph_that_is_missing_fails_a_request_for_good() -> None:
    async with Requests() as stage:
        await stage.add(written(configMapRef={"name": "base"}))
        assert stage.state() == "Failed"
        await stage.add(config_map("base", disagg__yaml=""))
        await stage.later(600)
        assert stage.state() == "Failed"
        await stage.add(written("second", configMapRef={"name": "base"}))
        await stage.later(1)
        assert stage.state("second") == "Profiling"

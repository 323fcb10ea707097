"""Stories of requests: from a model to a profiling Job, a generated graph, and a deployment that is watched."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dynamo_controller.ports import ClusterError
from tests.controller.test_crashes import DeathAt
from tests.fakes.cluster import FakeCluster
from tests.fakes.stage import Stage
from tests.request_passes import DATA, config_map, generated, in_state, job, output, request, role

Json = dict[str, Any]
REQUEST, GRAPH, JOB = "DynamoGraphDeploymentRequest", "DynamoGraphDeployment", "Job"
SETTINGS: dict[str, Any] = {"restricted_namespace": "", "profiling_cluster_role": "prof"}


def written(name: str = "tiny", **spec: Any) -> Json:
    """Return a request as its user writes it."""
    resource = request(name, **spec)
    resource["metadata"] = {"name": name, "namespace": "team"}
    return resource


class Requests(Stage):
    """A cluster-wide controller, and the parts that Jobs and profilers play."""

    def __init__(self, cluster: FakeCluster | None = None, **more: Any) -> None:
        super().__init__(cluster=cluster, **SETTINGS, **more)
        if cluster is None:
            self.cluster.put(copy.deepcopy(role()))

    async def profiled(self, left: Json | None, name: str = "tiny", end: str = "Complete", message: str = "") -> None:
        """Play the profiler: it leaves its output, if any, and its Job ends."""
        if left is not None:
            self.cluster.put(copy.deepcopy(left))
        status = {"conditions": [{"type": end, "status": "True", "message": message}]}
        self.cluster.set_status(self.cluster.find(JOB, f"profile-{name}"), status)
        await self.settle()

    def state(self, name: str = "tiny") -> str:
        return str(self.status(name, REQUEST).get("state", ""))

    def told(self, of: str, name: str = "tiny") -> tuple[str, str, str]:
        (found,) = [each for each in self.status(name, REQUEST)["conditions"] if each["type"] == of]
        return found["status"], found["reason"], found["message"]


async def test_a_request_leads_to_its_job_at_once() -> None:
    async with Requests() as stage:
        await stage.add(written())
        await stage.later(1)
        assert stage.state() == "Profiling"
        assert stage.status("tiny", REQUEST)["observedGeneration"] == 1
        owner = stage.cluster.find(JOB, "profile-tiny")["metadata"]["ownerReferences"][0]
        uid = stage.cluster.find(REQUEST, "tiny")["metadata"]["uid"]
        assert (owner["uid"], owner["controller"]) == (uid, True)
        assert stage.cluster.names("ServiceAccount") == ["dgdr-profiling-job"]
        assert stage.cluster.names("RoleBinding") == ["dgdr-profiling-job-binding"]
        assert stage.event_reasons() == ["CreateJob", "Initialized", "ProfilingJobCreated"]


async def test_the_job_knows_the_uid_of_its_request() -> None:
    async with Requests() as stage:
        uid = (await stage.add(written()))["metadata"]["uid"]
        await stage.later(1)
        job = stage.cluster.find(JOB, "profile-tiny")
        env = job["spec"]["template"]["spec"]["containers"][0]["env"]
        assert {"name": "DGDR_UID", "value": uid} in env


async def test_a_request_without_auto_apply_ends_with_its_graph_in_the_status() -> None:
    async with Requests() as stage:
        await stage.add(written())
        await stage.later(1)
        await stage.profiled(output())
        await stage.later(1)
        assert stage.state() == "Ready"
        assert stage.status("tiny", REQUEST)["generatedDeployment"] == generated()
        assert stage.cluster.names(GRAPH) == []
        assert stage.cluster.names("ConfigMap") == ["dgdr-output-tiny", "planner-profile-data"]


async def deployed(stage: Requests) -> None:
    await stage.add(written(autoApply=True))
    await stage.later(1)
    await stage.profiled(output())
    await stage.later(1)


async def test_a_request_with_auto_apply_ends_with_a_graph_that_serves() -> None:
    async with Requests() as stage:
        await deployed(stage)
        assert stage.state() == "Deploying"
        assert stage.told("DeploymentReady")[:2] == ("False", "DeploymentCreated")
        assert stage.cluster.names("DynamoComponentDeployment") == ["tiny-frontend"]
        await stage.roll_out()
        await stage.later(1)
        assert stage.state() == "Ready"
        assert stage.told("DeploymentReady") == ("True", "DeploymentReady", "DynamoGraphDeployment tiny is ready")


async def test_a_graph_that_degrades_and_recovers_is_told_each_time() -> None:
    async with Requests(profile="0.9-shipped") as stage:
        await deployed(stage)
        graph = stage.cluster.names(GRAPH)[0]
        await stage.roll_out()
        assert stage.state() == "Ready"
        deployment = stage.cluster.find("Deployment", f"{graph}-frontend")
        stage.cluster.set_status(deployment, {"observedGeneration": 1, "replicas": 1})
        await stage.later(1)
        assert stage.state() == "Deploying"
        assert stage.told("DeploymentReady")[1] == "DeploymentDegraded"
        await stage.roll_out()
        assert stage.state() == "Ready"


async def test_a_graph_that_is_deleted_is_not_made_again() -> None:
    async with Requests() as stage:
        await deployed(stage)
        await stage.remove(GRAPH, "tiny")
        await stage.later(600)
        assert stage.state() == "DeploymentDeleted"
        assert stage.cluster.names(GRAPH) == []


async def test_a_graph_of_that_name_is_left_as_it_is_and_watched_by_its_name() -> None:
    async with Requests() as stage:
        theirs = generated("tiny", namespace="team")
        await stage.add(theirs)
        await deployed(stage)
        assert stage.cluster.find(GRAPH, "tiny")["metadata"].get("labels") is None
        assert stage.told("DeploymentReady")[1] == "DeploymentExists"
        await stage.roll_out()
        assert stage.state() == "Ready"
        await stage.remove(GRAPH, "tiny")
        assert stage.state() == "DeploymentDeleted"


async def test_another_graph_in_the_place_of_ours_is_not_taken_for_it() -> None:
    async with Requests() as stage:
        await deployed(stage)
        await stage.end()
        stage.cluster.remove(stage.cluster.find(GRAPH, "tiny"))
        stage.cluster.put(generated("tiny", namespace="team"))
        async with Requests(cluster=stage.cluster, clock=stage.clock) as second:
            await second.later(1)
            assert second.state() == "DeploymentDeleted"


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


async def test_an_edit_is_told_and_changes_nothing_and_can_be_taken_back() -> None:
    async with Requests() as stage:
        await stage.add(written())
        await stage.later(1)
        await stage.edit(REQUEST, "tiny", {"spec": {"autoApply": True}})
        assert stage.told("Validation")[:2] == ("False", "SpecChangeRejected")
        assert "SpecChangeRejected" in stage.event_reasons()
        await stage.edit(REQUEST, "tiny", {"spec": {"autoApply": None}})
        assert stage.told("Validation")[:2] == ("True", "SpecChangeReverted")
        await stage.edit(REQUEST, "tiny", {"spec": {"autoApply": True}})
        await stage.profiled(output())
        assert stage.state() == "Ready"
        assert stage.cluster.names(GRAPH) == []


async def test_a_deleted_request_takes_its_job_along_and_leaves_its_graph() -> None:
    async with Requests() as stage:
        await deployed(stage)
        await stage.remove(REQUEST, "tiny")
        await stage.later(600)
        assert stage.cluster.names(JOB) == []
        assert stage.cluster.names(GRAPH) == ["tiny"]
        assert stage.cluster.names("ConfigMap") == ["dgdr-output-tiny", "planner-profile-data"]


async def test_the_finalizer_of_the_released_operator_is_taken_off_and_none_is_put_on() -> None:
    async with Requests() as stage:
        await stage.add(written())
        await stage.later(1)
        assert not stage.cluster.find(REQUEST, "tiny")["metadata"].get("finalizers")
        held = written("held")
        held["metadata"]["finalizers"] = ["nvidia.com/finalizer"]
        await stage.add(held)
        await stage.remove(REQUEST, "held")
        assert "held" not in stage.cluster.names(REQUEST)


async def test_a_name_that_comes_back_gets_a_job_of_its_own() -> None:
    async with Requests() as stage:
        await stage.add(written())
        await stage.later(1)
        await stage.profiled(output())
        await stage.remove(REQUEST, "tiny")
        await stage.add(written())
        await stage.later(60)
        assert stage.state() == "Profiling"
        assert stage.cluster.names("ConfigMap") == ["planner-profile-data"]


async def test_row_t1_a_request_that_is_gone_concerns_nobody() -> None:
    async with Requests() as stage:
        await deployed(stage)
        await stage.remove(REQUEST, "tiny")
        before = list(stage.cluster.writes)
        await stage.remove(GRAPH, "tiny")
        await stage.later(60)
        assert [each for each in stage.cluster.writes[len(before) :] if each[1] == REQUEST] == []


async def test_requests_at_rest_cost_nothing() -> None:
    async with Requests() as stage:
        await deployed(stage)
        await stage.roll_out()
        await stage.later(1)
        before = list(stage.cluster.writes)
        stage.manager.wake_everything()
        await stage.later(3600)
        assert stage.cluster.writes == before


async def test_a_new_controller_finds_a_thousand_requests_at_rest_and_writes_nothing() -> None:
    stage = Requests()
    for index in range(1000):
        state = ("Ready", "Failed", "DeploymentDeleted", "Profiling")[index % 4]
        name = f"r{index}"
        stage.cluster.put(copy.deepcopy(in_state(state, request(name))))
        if state == "Profiling":
            stage.cluster.put(copy.deepcopy(job(name=name)))
    before = list(stage.cluster.writes)
    async with stage:
        await stage.later(60)
        assert stage.cluster.writes == before
        assert stage.event_reasons() == []


async def test_the_status_of_the_shipped_profile_keeps_nulls() -> None:
    async with Requests(profile="0.9-shipped") as stage:
        await stage.add(written())
        await stage.later(1)
        await stage.profiled(output())
        graph = stage.status("tiny", REQUEST)["generatedDeployment"]
        assert graph["spec"]["services"]["Frontend"]["extraPodSpec"]["containers"] is None


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

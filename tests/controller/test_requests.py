"""Stories of requests: from a model to a profiling Job, a generated graph, and a deployment that is watched."""

from __future__ import annotations

import copy

from tests.controller.request_stage import GRAPH, JOB, REQUEST, Requests, deployed, written
from tests.request_passes import generated, in_state, job, output, request


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

"""Stories of graphs that become Deployments: from apply to ready, and what happens to them later."""

from __future__ import annotations

from tests.fakes.stage import Stage, graph, worker

READY = ("True", "all_resources_are_ready")


async def ready_stage() -> Stage:
    stage = await Stage().__aenter__()
    await stage.add(graph())
    await stage.roll_out()
    return stage


async def test_a_graph_becomes_ready_when_its_deployments_are() -> None:
    async with Stage() as stage:
        await stage.add(graph())
        assert stage.cluster.names("Deployment") == ["chat-frontend", "chat-worker"]
        assert stage.status()["state"] == "pending"
        await stage.roll_out()
        assert stage.status()["state"] == "successful"
        assert stage.condition() == READY
        assert {name: each["readyReplicas"] for name, each in stage.status()["services"].items()} == {
            "Frontend": 1,
            "Worker": 1,
        }


async def test_what_a_graph_makes_belongs_to_it_down_to_the_deployments() -> None:
    async with Stage() as stage:
        uid = (await stage.add(graph()))["metadata"]["uid"]
        component = stage.cluster.find("DynamoComponentDeployment", "chat-worker")
        assert [each["uid"] for each in component["metadata"]["ownerReferences"]] == [uid]
        deployment = stage.cluster.find("Deployment", "chat-worker")
        assert [each["uid"] for each in deployment["metadata"]["ownerReferences"]] == [component["metadata"]["uid"]]


async def test_a_controller_at_rest_writes_nothing_whatever_wakes_it() -> None:
    stage = await ready_stage()
    before = list(stage.cluster.writes)
    stage.manager.wake_everything()
    await stage.settle()
    stage.cluster.end_watches()
    await stage.later(3600)
    assert stage.cluster.writes == before
    await stage.end()


async def test_a_new_controller_finds_everything_in_place_and_writes_nothing() -> None:
    stage = await ready_stage()
    await stage.end()
    before, events = list(stage.cluster.writes), stage.event_reasons()
    async with Stage(cluster=stage.cluster) as second:
        await second.later(60)
        assert second.cluster.writes == before
        assert second.event_reasons() == events


async def test_a_changed_spec_reaches_the_pods_and_makes_the_graph_wait_for_them() -> None:
    stage = await ready_stage()
    changed = worker(replicas=3)
    await stage.edit("DynamoGraphDeployment", "chat", {"spec": {"services": {"Worker": changed}}})
    assert stage.cluster.find("Deployment", "chat-worker")["spec"]["replicas"] == 3
    assert stage.condition() == ("False", "some_resources_are_not_ready")
    await stage.roll_out()
    assert stage.condition() == READY
    assert stage.status()["conditions"][0]["observedGeneration"] == 2
    await stage.end()


async def test_only_what_a_change_concerns_is_written() -> None:
    stage = await ready_stage()
    stage.cluster.writes.clear()
    await stage.edit("DynamoGraphDeployment", "chat", {"spec": {"services": {"Worker": worker(replicas=3)}}})
    applied = [(kind, name) for verb, kind, name in stage.cluster.writes if verb == "apply"]
    assert applied == [("DynamoComponentDeployment", "chat-worker"), ("Deployment", "chat-worker")]
    await stage.end()


async def test_a_field_that_the_user_takes_back_disappears_from_the_deployment() -> None:
    stage = await ready_stage()
    await stage.edit(
        "DynamoGraphDeployment", "chat", {"spec": {"services": {"Worker": {"extraPodSpec": {"nodeName": "n1"}}}}}
    )
    assert stage.cluster.find("Deployment", "chat-worker")["spec"]["template"]["spec"]["nodeName"] == "n1"
    await stage.edit(
        "DynamoGraphDeployment", "chat", {"spec": {"services": {"Worker": {"extraPodSpec": {"nodeName": None}}}}}
    )
    assert "nodeName" not in stage.cluster.find("Deployment", "chat-worker")["spec"]["template"]["spec"]
    await stage.end()


async def test_a_user_who_edits_a_child_is_overruled_and_what_is_not_ours_stays() -> None:
    stage = await ready_stage()
    await stage.edit(
        "Deployment", "chat-worker", {"spec": {"replicas": 7}, "metadata": {"annotations": {"theirs": "stays"}}}
    )
    live = stage.cluster.find("Deployment", "chat-worker")
    assert live["spec"]["replicas"] == 1
    assert live["metadata"]["annotations"]["theirs"] == "stays"
    await stage.end()


async def test_a_user_who_deletes_a_child_gets_a_new_one() -> None:
    stage = await ready_stage()
    before = stage.cluster.find("Deployment", "chat-worker")["metadata"]["uid"]
    await stage.remove("Deployment", "chat-worker")
    assert stage.cluster.find("Deployment", "chat-worker")["metadata"]["uid"] != before
    assert stage.condition() == ("False", "some_resources_are_not_ready")
    await stage.end()


async def test_a_service_that_leaves_the_graph_takes_its_component_along() -> None:
    stage = await ready_stage()
    await stage.edit("DynamoGraphDeployment", "chat", {"spec": {"services": {"Decode": worker()}}})
    assert "chat-decode" in stage.cluster.names("DynamoComponentDeployment")
    await stage.edit("DynamoGraphDeployment", "chat", {"spec": {"services": {"Decode": None}}})
    assert stage.cluster.names("DynamoComponentDeployment") == ["chat-frontend", "chat-worker"]
    await stage.end()


async def test_a_deleted_graph_leaves_nothing_and_nothing_comes_back() -> None:
    stage = await ready_stage()
    await stage.remove("DynamoGraphDeployment", "chat")
    await stage.later(600)
    left = sorted(kind.kind for kind, _, _ in stage.cluster.objects if kind.kind != "Event")
    assert left == []
    await stage.end()


async def test_nothing_is_made_for_a_graph_that_is_being_deleted() -> None:
    async with Stage() as stage:
        content = graph()
        content["metadata"] |= {"finalizers": ["somebody/else"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
        await stage.add(content)
        assert stage.cluster.names("DynamoComponentDeployment") == []


async def test_our_finalizer_is_taken_off_a_graph_that_is_being_deleted_and_no_other() -> None:
    """An earlier version, or the released operator, has left it there."""
    async with Stage() as stage:
        content = graph()
        content["metadata"]["finalizers"] = ["nvidia.com/finalizer", "somebody/else"]
        await stage.add(content)
        await stage.remove("DynamoGraphDeployment", "chat")
        assert stage.cluster.find("DynamoGraphDeployment", "chat")["metadata"]["finalizers"] == ["somebody/else"]


async def test_a_component_that_cannot_be_rendered_leaves_the_others_alone() -> None:
    container = {"image": "registry.test/x:1", "command": ["python3", "-m", "dynamo.sglang"]}
    wrong = {"componentType": "worker", "replicas": 1, "extraPodSpec": {"mainContainer": container}}
    async with Stage() as stage:
        await stage.add(graph(Worker=wrong))
        assert stage.cluster.names("Deployment") == ["chat-frontend"]
        reason = ("False", "Reconciling")
        assert stage.condition("chat-worker", "DynamoComponentDeployment", "Available") == reason
        assert stage.condition() == ("False", "some_resources_are_not_ready")


async def test_a_mapping_of_a_component_can_be_emptied() -> None:
    async with Stage() as stage:
        await stage.add(graph(Worker=worker(scalingAdapter={"enabled": True})))
        await stage.edit(
            "DynamoGraphDeployment", "chat", {"spec": {"services": {"Worker": {"scalingAdapter": {"enabled": False}}}}}
        )
        component = stage.cluster.find("DynamoComponentDeployment", "chat-worker")
        assert component["spec"]["scalingAdapter"] == {}
        assert stage.condition() == ("False", "some_resources_are_not_ready")
        assert stage.cluster.names("DynamoGraphDeploymentScalingAdapter") == []

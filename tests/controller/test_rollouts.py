"""A changed profile in front of running pods: fault F30 on the fake cluster, and what lets the change through."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_controller.shell import Policy
from tests.fakes import released
from tests.fakes.cluster import FakeCluster
from tests.fakes.stage import Stage, graph, worker

Json = dict[str, Any]
GRAPH, COMPONENT = "DynamoGraphDeployment", "DynamoComponentDeployment"
OLD: Json = {"profile": "0.9-shipped"}
NEW: Json = {"profile": "0.9"}
PATHS: dict[str, tuple[str, ...]] = {"component": (), "grove": ("grove.io",)}
ALLOW = {"metadata": {"annotations": {"nvidia.com/allow-profile-rollout": "0.9"}}}


async def running(*groups: str, **services: Json) -> FakeCluster:
    """Return a cluster with a graph that the older profile has brought to ready."""
    async with Stage(*groups, **OLD) as stage:
        await stage.add(graph("chat", **services))
        await stage.roll_out()
        if groups:
            await stage.grow("chat")
        assert stage.condition() == ("True", "all_resources_are_ready")
    stage.cluster.writes.clear()
    return stage.cluster


def labelled() -> Json:
    """Return a worker whose pods get a label in the newer profile only on the component path."""
    return worker(labels={"team": "blue"}, extraPodMetadata={"labels": {"a": "b"}})


@pytest.mark.parametrize("path", PATHS)
async def test_a_newer_profile_changes_no_pod_template_of_an_unchanged_graph(path: str) -> None:
    cluster = await running(*PATHS[path], Worker=labelled())
    before = released.templates(cluster)
    async with Stage(cluster=cluster, **NEW) as stage:
        await stage.later(600)
        assert stage.condition(of="ProfileRollout") == ("False", "Held")
        assert stage.condition() == ("True", "all_resources_are_ready")
    assert released.templates(cluster) == before


async def test_what_is_held_is_told_with_the_way_to_allow_it() -> None:
    cluster = await running()
    async with Stage(cluster=cluster, **NEW) as stage:
        (told,) = [each for each in stage.status()["conditions"] if each["type"] == "ProfileRollout"]
        assert told["message"].startswith(
            "profile 0.9-shipped is kept: profile 0.9 would replace the pods of Deployment"
        )
        assert 'nvidia.com/allow-profile-rollout: "0.9"' in told["message"]
        assert "ProfileRolloutHeld" in stage.event_reasons()


async def test_a_graph_that_is_held_comes_to_rest() -> None:
    cluster = await running()
    async with Stage(cluster=cluster, **NEW) as stage:
        await stage.later(60)
    cluster.writes.clear()
    async with Stage(cluster=cluster, **NEW) as stage:
        await stage.later(600)
    assert cluster.writes == []


@pytest.mark.parametrize("path", PATHS)
async def test_the_annotation_with_the_profile_lets_the_change_through(path: str) -> None:
    cluster = await running(*PATHS[path])
    before = released.templates(cluster)
    async with Stage(cluster=cluster, **NEW) as stage:
        await stage.edit(GRAPH, "chat", ALLOW)
        await stage.later(60)
        assert stage.condition(of="ProfileRollout") == ("True", "RolledOut")
    after = released.templates(cluster)
    assert all(after[name] != before[name] for name in before)


async def test_an_annotation_with_another_profile_lets_nothing_through() -> None:
    cluster = await running()
    before = released.templates(cluster)
    async with Stage(cluster=cluster, **NEW) as stage:
        other = {"metadata": {"annotations": {"nvidia.com/allow-profile-rollout": "0.6"}}}
        await stage.edit(GRAPH, "chat", other)
    assert released.templates(cluster) == before


async def test_the_setting_lets_everything_through() -> None:
    cluster = await running()
    before = released.templates(cluster)
    async with Stage(cluster=cluster, policy=Policy(allow_profile_rollouts=True), **NEW) as stage:
        await stage.later(60)
    after = released.templates(cluster)
    assert all(after[name] != before[name] for name in before)


async def test_a_graph_that_is_held_is_still_scaled() -> None:
    cluster = await running()
    before = released.templates(cluster)
    async with Stage(cluster=cluster, **NEW) as stage:
        await stage.edit(GRAPH, "chat", {"spec": {"services": {"Worker": {"replicas": 3}}}})
    assert cluster.find("Deployment", "chat-worker")["spec"]["replicas"] == 3
    assert released.templates(cluster) == before


async def test_a_changed_service_of_a_graph_that_is_held_replaces_its_own_pods_only() -> None:
    cluster = await running()
    before = released.templates(cluster)
    async with Stage(cluster=cluster, **NEW) as stage:
        await stage.edit(GRAPH, "chat", {"spec": {"services": {"Worker": {"envs": [{"name": "A", "value": "1"}]}}}})
    after = released.templates(cluster)
    assert [name for name in before if after[name] != before[name]] == ["Deployment/chat-worker"]


async def test_pods_of_a_graph_that_is_held_are_restored_as_they_were() -> None:
    cluster = await running()
    before = released.templates(cluster)
    async with Stage(cluster=cluster, **NEW) as stage:
        edited = cluster.find("Deployment", "chat-worker")["spec"]["template"]
        edited["spec"]["containers"][0]["image"] = "somebody/else:1"
        await stage.edit("Deployment", "chat-worker", {"spec": {"template": edited}})
    assert released.templates(cluster) == before


async def test_a_new_graph_is_not_held() -> None:
    async with Stage(**NEW) as stage:
        await stage.add(graph())
        await stage.roll_out()
        assert [each["type"] for each in stage.status()["conditions"]] == ["Ready"]


async def test_a_changed_setting_is_no_changed_profile() -> None:
    cluster = await running()
    async with Stage(cluster=cluster, **OLD, model_express_url="http://models") as stage:
        await stage.later(60)
    template = cluster.find("Deployment", "chat-worker")["spec"]["template"]["spec"]
    assert "http://models" in [entry.get("value") for entry in template["containers"][0]["env"]]


async def test_templates_that_no_profile_renders_are_left_alone_until_that_is_allowed() -> None:
    """Another release of the operator, or a build of one's own, has made them."""
    cluster = await running()
    for name in ("chat-frontend", "chat-worker"):
        live = cluster.find("Deployment", name)
        live["spec"]["template"]["spec"]["containers"][0]["env"].append({"name": "THEIRS", "value": "1"})
        cluster.edit(live, {"spec": live["spec"]})
    released.hand_back(cluster)
    before = released.templates(cluster)
    async with Stage(cluster=cluster, policy=Policy(adopt=True), **NEW) as stage:
        await stage.later(60)
        assert stage.condition("chat-worker", COMPONENT, "ProfileRollout") == ("False", "UnknownTemplates")
        assert released.templates(cluster) == before
        await stage.edit(GRAPH, "chat", ALLOW)
        await stage.later(60)
    after = released.templates(cluster)
    assert all(after[name] != before[name] for name in before)


@pytest.mark.parametrize("path", PATHS)
async def test_a_take_over_under_a_newer_profile_changes_no_pod_template(path: str) -> None:
    cluster = await running(*PATHS[path])
    released.hand_back(cluster)
    before = released.templates(cluster)
    async with Stage(cluster=cluster, policy=Policy(adopt=True), **NEW) as stage:
        await stage.later(60)
        assert stage.condition(of="ProfileRollout") == ("False", "Held")
    assert released.templates(cluster) == before

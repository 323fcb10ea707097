"""Taking over from the released operator on the fake cluster: whose fields they are then, and what stays as it was."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_controller import adoption
from dynamo_controller.shell import Policy
from tests.fakes import released
from tests.fakes.cluster import FakeCluster
from tests.fakes.stage import Stage, graph

Json = dict[str, Any]
ADOPT = Policy(adopt=True)
SHIPPED: Json = {"profile": "0.9-shipped"}
PATHS: dict[str, tuple[str, ...]] = {"component": (), "grove": ("grove.io",)}
LEFTOVER: dict[str, Json] = {
    "DynamoComponentDeployment": {"spec": {"dynamoTag": "old"}},
    "Service": {"spec": {"publishNotReady": True}},
}


async def released_cluster(*groups: str, leftovers: dict[str, Json] | None = None) -> FakeCluster:
    """Return a cluster in which the released operator has made everything of a graph."""
    async with Stage(*groups, **SHIPPED) as stage:
        await stage.add(graph())
        await stage.roll_out()
        if groups:
            await stage.grow("chat")
    cluster = stage.cluster
    released.hand_back(cluster, leftovers=leftovers)
    cluster.writes.clear()
    return cluster


def managers(cluster: FakeCluster, kind: str, name: str) -> dict[str, Json]:
    entries = cluster.find(kind, name)["metadata"]["managedFields"]
    return {f"{entry['manager']}/{entry['operation']}": entry["fieldsV1"] for entry in entries}


@pytest.mark.parametrize("path", PATHS)
async def test_a_take_over_changes_no_pod_template(path: str) -> None:
    cluster = await released_cluster(*PATHS[path])
    before = released.templates(cluster)
    assert len(before) == (1 if path == "grove" else 2)
    async with Stage(cluster=cluster, policy=ADOPT, **SHIPPED) as stage:
        await stage.later(60)
    assert released.templates(cluster) == before


@pytest.mark.parametrize("path", PATHS)
async def test_a_take_over_ends(path: str) -> None:
    cluster = await released_cluster(*PATHS[path])
    async with Stage(cluster=cluster, policy=ADOPT, **SHIPPED) as stage:
        await stage.later(60)
    cluster.writes.clear()
    async with Stage(cluster=cluster, policy=ADOPT, **SHIPPED) as stage:
        await stage.later(60)
    assert cluster.writes == []


async def test_after_a_take_over_only_bookkeeping_is_the_released_operators() -> None:
    cluster = await released_cluster()
    async with Stage(cluster=cluster, policy=ADOPT, **SHIPPED) as stage:
        await stage.later(60)
    found = managers(cluster, "DynamoComponentDeployment", "chat-worker")
    bookkeeping: Json = {f"f:{key}": {} for key in released.BOOKKEEPING}
    assert found["manager/Update"] == {"f:metadata": {"f:annotations": bookkeeping}}
    assert "f:serviceName" in found["dynamo-controller/Apply"]["f:spec"]


async def test_fields_that_only_the_released_operator_wanted_go_with_a_take_over() -> None:
    cluster = await released_cluster(leftovers=LEFTOVER)
    async with Stage(cluster=cluster, policy=ADOPT, **SHIPPED) as stage:
        await stage.later(60)
    assert "dynamoTag" not in cluster.find("DynamoComponentDeployment", "chat-worker")["spec"]
    assert "publishNotReady" not in cluster.find("Service", "chat-worker")["spec"]


async def test_without_adopt_those_fields_stay() -> None:
    cluster = await released_cluster(leftovers=LEFTOVER)
    async with Stage(cluster=cluster, **SHIPPED) as stage:
        await stage.later(60)
    assert cluster.find("DynamoComponentDeployment", "chat-worker")["spec"]["dynamoTag"] == "old"


async def test_a_service_that_leaves_an_adopted_graph_takes_its_children_along() -> None:
    cluster = await released_cluster()
    async with Stage(cluster=cluster, policy=ADOPT, **SHIPPED) as stage:
        await stage.edit("DynamoGraphDeployment", "chat", {"spec": {"services": {"Worker": None}}})
    assert cluster.names("DynamoComponentDeployment") == ["chat-frontend"]


def live(fields: Json, **metadata: Any) -> Json:
    entry = {"manager": "manager", "operation": "Update", "apiVersion": "v1", "fieldsV1": fields}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "managedFields": [entry], **metadata}}


WANTED: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "labels": {"mine": "1"}}, "data": {}}


def test_labels_of_others_under_the_same_manager_stay_theirs() -> None:
    fields: Json = {
        "f:metadata": {"f:labels": {".": {}, "f:mine": {}, "f:grove.io/x": {}}, "f:finalizers": {'v:"a"': {}}}
    }
    handed = adoption.handed_over(live(fields), WANTED)
    assert handed is not None
    ours, theirs = handed
    assert ours["fieldsV1"] == {"f:metadata": {"f:labels": {"f:mine": {}}}}
    assert theirs["fieldsV1"] == {"f:metadata": {"f:labels": {"f:grove.io/x": {}}, "f:finalizers": {'v:"a"': {}}}}


def test_fields_of_another_version_of_the_api_are_left_alone() -> None:
    content = live({"f:data": {"f:a": {}}})
    content["metadata"]["managedFields"][0]["apiVersion"] = "v0"
    assert adoption.handed_over(content, WANTED) is None


def test_what_another_manager_has_written_is_left_alone() -> None:
    content = live({"f:data": {"f:a": {}}})
    content["metadata"]["managedFields"][0]["manager"] = "kubectl"
    assert adoption.handed_over(content, WANTED) is None


def test_what_we_have_applied_stays_ours() -> None:
    content = live({"f:data": {"f:a": {}}})
    mine: Json = {
        "manager": "dynamo-controller",
        "operation": "Apply",
        "apiVersion": "v1",
        "fieldsV1": {"f:data": {"f:b": {}}},
    }
    content["metadata"]["managedFields"].append(mine)
    handed = adoption.handed_over(content, WANTED)
    assert handed == [{**mine, "fieldsV1": {"f:data": {"f:a": {}, "f:b": {}}}}]

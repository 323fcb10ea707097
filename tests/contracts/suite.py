"""What the controller relies on in a cluster, as functions that hold for the fake and for a real API server.

Each gets a cluster and a namespace of its own. Those about objects use ConfigMaps and adapters: what they promise holds
for every kind.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest

from dynamo_controller import fields, projection
from dynamo_controller.adapters.clock import SystemClock
from dynamo_controller.apply import ADAPTER, NO_VERSION
from dynamo_controller.ports import Cluster, ClusterError, Kind, Selection, WatchEvent
from dynamo_controller.store import Store
from dynamo_controller.watch import Reflector, Surroundings
from tests.fakes.stage import RecordingLog

Json = dict[str, Any]
CONFIG = Kind("v1", "ConfigMap")
PATIENCE = 10.0


def config(namespace: str, name: str = "c", **data: str) -> Json:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def adapter(namespace: str, replicas: int = 1) -> Json:
    spec = {"replicas": replicas, "dgdRef": {"name": "chat", "serviceName": "Worker"}}
    metadata = {"name": "a", "namespace": namespace}
    return {"apiVersion": ADAPTER.api_version, "kind": ADAPTER.kind, "metadata": metadata, "spec": spec}


def pinned(content: Json, **metadata: str) -> Json:
    return {**content, "metadata": {**content["metadata"], **metadata}}


async def refusal(request: Any) -> ClusterError:
    with pytest.raises(ClusterError) as caught:
        await request
    return caught.value


async def an_object_that_is_not_there_is_none(cluster: Cluster, namespace: str) -> None:
    assert await cluster.get(CONFIG, namespace, "nothing") is None


async def an_object_of_a_kind_that_is_not_served_is_none(cluster: Cluster, namespace: str) -> None:
    assert await cluster.get(Kind("nobody.test/v1", "Nothing"), namespace, "nothing") is None


async def our_group_is_served(cluster: Cluster, _namespace: str) -> None:
    assert "nvidia.com" in await cluster.groups()


async def the_same_apply_twice_changes_nothing(cluster: Cluster, namespace: str) -> None:
    first = await cluster.apply(config(namespace, a="1"), force=False)
    assert await cluster.apply(config(namespace, a="1"), force=True) == first


async def an_apply_takes_back_what_it_no_longer_holds_and_leaves_the_rest(cluster: Cluster, namespace: str) -> None:
    stored = await cluster.apply(config(namespace, a="1", b="2"), force=False)
    await cluster.merge(stored, {"data": {"theirs": "3"}})
    assert (await cluster.apply(config(namespace, a="1"), force=True))["data"] == {"a": "1", "theirs": "3"}


async def an_apply_takes_fields_from_others_only_by_force(cluster: Cluster, namespace: str) -> None:
    stored = await cluster.apply(config(namespace, a="1"), force=False)
    await cluster.merge(stored, {"data": {"a": "theirs"}})
    assert (await refusal(cluster.apply(config(namespace, a="1"), force=False))).is_conflict
    assert (await cluster.apply(config(namespace, a="1"), force=True))["data"] == {"a": "1"}


async def an_apply_to_another_object_of_that_name_is_a_conflict(cluster: Cluster, namespace: str) -> None:
    await cluster.apply(config(namespace, a="1"), force=False)
    other = pinned(config(namespace, a="2"), uid="00000000-0000-0000-0000-000000000000")
    assert (await refusal(cluster.apply(other, force=True))).is_conflict


async def an_apply_to_an_object_that_has_gone_is_a_conflict(cluster: Cluster, namespace: str) -> None:
    gone = pinned(config(namespace, a="2"), uid="00000000-0000-0000-0000-000000000000")
    assert (await refusal(cluster.apply(gone, force=True))).is_conflict


async def an_apply_to_a_version_that_has_passed_is_a_conflict(cluster: Cluster, namespace: str) -> None:
    stored = await cluster.apply(config(namespace, a="1"), force=False)
    await cluster.merge(stored, {"data": {"a": "2"}})
    old = pinned(config(namespace, a="3"), resourceVersion=stored["metadata"]["resourceVersion"])
    assert (await refusal(cluster.apply(old, force=True))).is_conflict


async def an_apply_with_no_version_makes_an_object_and_never_changes_one(cluster: Cluster, namespace: str) -> None:
    new = pinned(config(namespace, a="1"), resourceVersion=NO_VERSION)
    stored = await cluster.apply(new, force=True)
    assert stored["data"] == {"a": "1"}
    assert (await refusal(cluster.apply(new, force=True))).is_conflict
    assert await cluster.get(CONFIG, namespace, "c") == stored


async def what_was_applied_needs_no_apply_until_something_changes(cluster: Cluster, namespace: str) -> None:
    stored = await cluster.apply(config(namespace, a="1", b="2"), force=False)
    assert not fields.needs_apply(config(namespace, a="1", b="2"), stored)
    assert fields.needs_apply(config(namespace, a="1", b="3"), stored)
    assert fields.needs_apply(config(namespace, a="1"), stored)


async def an_object_is_created_once(cluster: Cluster, namespace: str) -> None:
    await cluster.create(config(namespace, a="1"))
    assert (await refusal(cluster.create(config(namespace, a="2")))).is_conflict


async def a_merge_into_a_version_that_has_passed_is_a_conflict(cluster: Cluster, namespace: str) -> None:
    stored = await cluster.apply(config(namespace, a="1"), force=False)
    await cluster.merge(stored, {"data": {"a": "2"}})
    assert (await refusal(cluster.merge(stored, {"data": {"a": "3"}}))).is_conflict


async def a_deletion_meets_only_the_object_that_was_seen(cluster: Cluster, namespace: str) -> None:
    stored = await cluster.apply(config(namespace, a="1"), force=False)
    other = pinned(stored, uid="00000000-0000-0000-0000-000000000000")
    assert (await refusal(cluster.delete(other))).is_conflict
    await cluster.delete(stored)
    assert await cluster.get(CONFIG, namespace, "c") is None
    assert (await refusal(cluster.delete(stored))).is_missing


async def a_status_is_merged_without_touching_the_spec(cluster: Cluster, namespace: str) -> None:
    stored = await cluster.apply(adapter(namespace), force=False)
    first = await cluster.merge_status(stored, {"replicas": 1, "selector": "a=b"})
    second = await cluster.merge_status(first, {"selector": None})
    assert second["status"] == {"replicas": 1}
    assert second["spec"] == stored["spec"]
    assert second["metadata"]["generation"] == stored["metadata"]["generation"]
    assert (await refusal(cluster.merge_status(first, {"replicas": 2}))).is_conflict


async def a_status_is_replaced_with_its_nulls(cluster: Cluster, namespace: str) -> None:
    """A generated graph holds nulls, which a merge would take out."""
    metadata = {"name": "r", "namespace": namespace}
    spec = {"model": "m", "backend": "vllm", "profilingConfig": {"profilerImage": "p", "config": {}}}
    kind = {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeploymentRequest"}
    stored = await cluster.create({**kind, "metadata": metadata, "spec": spec})
    graph = {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", "spec": {"a": {"b": None}}}
    first = await cluster.replace_status(stored, {"state": "Ready", "generatedDeployment": graph})
    assert first["status"] == {"state": "Ready", "generatedDeployment": graph}
    second = await cluster.replace_status(first, {"state": "Failed"})
    assert second["status"] == {"state": "Failed"}
    assert second["metadata"]["generation"] == stored["metadata"]["generation"]
    assert (await refusal(cluster.replace_status(first, {"state": "Ready"}))).is_conflict


async def a_changed_spec_is_a_new_generation(cluster: Cluster, namespace: str) -> None:
    stored = await cluster.apply(adapter(namespace), force=False)
    changed = await cluster.apply(adapter(namespace, 2), force=True)
    assert changed["metadata"]["generation"] == stored["metadata"]["generation"] + 1


async def fields_are_removed_from_the_version_that_was_seen(cluster: Cluster, namespace: str) -> None:
    stored = await cluster.apply(config(namespace, a="1", b="2"), force=False)
    assert (await cluster.remove_fields(stored, [("data", "a")]))["data"] == {"b": "2"}
    assert (await refusal(cluster.remove_fields(stored, [("data", "b")]))).is_conflict


async def an_apply_empties_a_mapping_whose_fields_have_gone_before(cluster: Cluster, namespace: str) -> None:
    content = {**adapter(namespace), "kind": "DynamoComponentDeployment", "spec": {"scalingAdapter": {"enabled": True}}}
    stored = await cluster.apply(content, force=False)
    content["spec"] = {"scalingAdapter": {}}
    assert (await refusal(cluster.apply(content, force=True))).status == 422
    stored = await cluster.remove_fields(stored, fields.emptied(content, stored))
    emptied = await cluster.apply(content, force=True)
    assert not emptied["spec"]["scalingAdapter"].get("enabled")


async def a_scale_sets_the_count(cluster: Cluster, namespace: str) -> None:
    await cluster.apply(adapter(namespace), force=False)
    await cluster.scale(ADAPTER, namespace, "a", 7)
    live = await cluster.get(ADAPTER, namespace, "a")
    assert live is not None
    assert live["spec"]["replicas"] == 7


async def a_list_in_pages_has_every_object_once(cluster: Cluster, namespace: str) -> None:
    names = [f"c{index}" for index in range(5)]
    for name in names:
        await cluster.apply(config(namespace, name), force=False)
    found, versions, next_page = [], set(), ""
    while True:
        page = await cluster.page(Selection(CONFIG, namespace), limit=2, next_page=next_page)
        found += [(item["kind"], item["metadata"]["name"]) for item in page.items]
        versions.add(page.resource_version)
        next_page = page.next_page
        if not next_page:
            break
    assert sorted(each for each in found if each[1] in names) == [("ConfigMap", name) for name in names]
    assert len(versions) == 1


async def told(cluster: Cluster, selection: Selection, version: str, count: int) -> list[WatchEvent]:
    events: list[WatchEvent] = []
    async with asyncio.timeout(PATIENCE):
        async for event in cluster.watch(selection, version):
            events.append(event)
            if len(events) == count:
                break
    return events


async def a_watch_tells_what_happened_since_the_list_in_order(cluster: Cluster, namespace: str) -> None:
    selection = Selection(CONFIG, namespace)
    start = (await cluster.page(selection, limit=500)).resource_version
    stored = await cluster.apply(config(namespace, a="1"), force=False)
    stored = await cluster.merge(stored, {"data": {"a": "2"}})
    await cluster.delete(stored)
    events = await told(cluster, selection, start, 3)
    assert [(event.sort, event.content["data"]) for event in events] == [
        ("ADDED", {"a": "1"}),
        ("MODIFIED", {"a": "2"}),
        ("DELETED", {"a": "2"}),
    ]
    versions = [int(event.content["metadata"]["resourceVersion"]) for event in events]
    assert versions == sorted(set(versions))


async def a_watch_of_labelled_objects_tells_that_one_has_lost_its_label(cluster: Cluster, namespace: str) -> None:
    labelled = config(namespace, a="1")
    labelled["metadata"]["labels"] = {"model": "x"}
    stored = await cluster.apply(labelled, force=False)
    await cluster.apply(config(namespace, "other"), force=False)
    selection = Selection(CONFIG, namespace, labels="model")
    page = await cluster.page(selection, limit=500)
    assert [each["metadata"]["name"] for each in page.items] == [stored["metadata"]["name"]]
    await cluster.merge(stored, {"metadata": {"labels": {"model": None}}})
    (event,) = await told(cluster, selection, page.resource_version, 1)
    assert (event.sort, event.content["metadata"]["name"]) == ("DELETED", stored["metadata"]["name"])


async def a_store_follows_the_cluster(cluster: Cluster, namespace: str) -> None:

    changes: list[tuple[bool, bool]] = []
    store = Store(CONFIG, projection.whole, lambda old, new: changes.append((old is not None, new is not None)))
    around = Surroundings(cluster, SystemClock(), RecordingLog(), Random(1))  # noqa: S311 - spreads delays
    reflector = Reflector(Selection(CONFIG, namespace), store, around, page=1)
    before = await cluster.apply(config(namespace, "before"), force=False)
    task = asyncio.create_task(reflector.run())
    try:
        async with asyncio.timeout(PATIENCE):
            await reflector.synced.wait()
            await cluster.apply(config(namespace, "after", a="1"), force=False)
            await cluster.delete(before)
            while store.get(namespace, "after") is None or store.get(namespace, "before") is not None:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    finally:
        task.cancel()
    assert (True, False) in changes


CONTRACTS = (
    an_object_that_is_not_there_is_none,
    an_object_of_a_kind_that_is_not_served_is_none,
    our_group_is_served,
    the_same_apply_twice_changes_nothing,
    an_apply_takes_back_what_it_no_longer_holds_and_leaves_the_rest,
    an_apply_takes_fields_from_others_only_by_force,
    an_apply_to_another_object_of_that_name_is_a_conflict,
    an_apply_to_an_object_that_has_gone_is_a_conflict,
    an_apply_to_a_version_that_has_passed_is_a_conflict,
    an_apply_with_no_version_makes_an_object_and_never_changes_one,
    what_was_applied_needs_no_apply_until_something_changes,
    an_object_is_created_once,
    a_merge_into_a_version_that_has_passed_is_a_conflict,
    a_deletion_meets_only_the_object_that_was_seen,
    a_status_is_merged_without_touching_the_spec,
    a_changed_spec_is_a_new_generation,
    fields_are_removed_from_the_version_that_was_seen,
    an_apply_empties_a_mapping_whose_fields_have_gone_before,
    a_scale_sets_the_count,
    a_list_in_pages_has_every_object_once,
    a_watch_tells_what_happened_since_the_list_in_order,
    a_watch_of_labelled_objects_tells_that_one_has_lost_its_label,
    a_store_follows_the_cluster,
)
"""Every promise, named by what it says."""

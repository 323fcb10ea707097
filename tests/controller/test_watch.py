"""The reflector and its store: pages, bookmarks, expiry, and what happens when the server is in trouble."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator
from random import Random
from typing import Any

from dynamo_controller import projection
from dynamo_controller.ports import ClusterError, Kind, Page, Selection, WatchEvent
from dynamo_controller.store import PackedStore, Store
from dynamo_controller.watch import LONGEST_DELAY, Reflector, Surroundings
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeCluster
from tests.fakes.stage import RecordingLog

Json = dict[str, Any]
CONFIG = Kind("v1", "ConfigMap")


class Watching:
    """A reflector at work on a fake cluster; *changes* are the names that the store told of and their fates."""

    def __init__(self, cluster: FakeCluster | None = None) -> None:
        self.cluster, self.clock, self.log = cluster or FakeCluster(), FakeClock(), RecordingLog()
        self.nothing: Json = {}
        self.changes: list[tuple[str, str]] = []
        self.store = Store(CONFIG, projection.whole, self._heard)
        around = Surroundings(self.cluster, self.clock, self.log, Random(1))  # noqa: S311 - spreads delays
        self.reflector = Reflector(Selection(CONFIG, "team"), self.store, around, page=2)

    def _heard(self, before: Any, now: Any) -> None:
        sort = "added" if before is None else "gone" if now is None else "changed"
        self.changes.append((sort, (now or before)["metadata"]["name"]))

    def put(self, name: str) -> Json:
        metadata = {"name": name, "namespace": "team"}
        return self.cluster.put({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "1"}})

    async def turns(self) -> None:
        for _ in range(60):
            await asyncio.sleep(0)

    async def wait(self, seconds: float) -> None:
        for _ in range(int(seconds / 0.5)):
            self.clock.advance(0.5)
            await self.turns()


@contextlib.asynccontextmanager
async def watching(*names: str) -> AsyncIterator[Watching]:
    stage = Watching()
    for name in names:
        stage.put(name)
    task = asyncio.create_task(stage.reflector.run())
    await stage.turns()
    yield stage
    task.cancel()


async def test_all_pages_of_a_list_are_known() -> None:
    async with watching("a", "b", "c", "d", "e") as stage:
        assert sorted(name for _sort, name in stage.changes) == ["a", "b", "c", "d", "e"]
        assert stage.reflector.synced.is_set()


async def test_what_happens_is_told_in_order() -> None:
    async with watching() as stage:
        stored = stage.put("a")
        stage.cluster.edit(stored, {"data": {"a": "2"}})
        stage.cluster.remove(stored)
        await stage.turns()
        assert stage.changes == [("added", "a"), ("changed", "a"), ("gone", "a")]


async def test_a_watch_that_ends_goes_on_from_where_it_was() -> None:
    async with watching("a") as stage:
        stage.cluster.end_watches()
        stage.put("b")
        await stage.wait(3)
        assert stage.changes == [("added", "a"), ("added", "b")]
        assert stage.cluster.lists == 1


async def test_an_expired_watch_is_made_up_for_by_a_list_and_told_as_changes() -> None:
    async with watching("a", "b") as stage:
        stage.cluster.end_watches()
        stage.cluster.remove({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "team"}})
        stage.put("c")
        stage.cluster.compact()
        await stage.wait(5)
        assert stage.changes[2:] == [("added", "c"), ("gone", "a")]
        assert stage.cluster.lists == 2


async def test_a_list_whose_pages_expire_is_made_again() -> None:
    stage = Watching()
    for name in "abcde":
        stage.put(name)
    asked = []

    def expire(verb: str, _target: Json) -> None:
        asked.append(verb)
        if asked.count("list") == 2:
            stage.cluster.compact()

    stage.cluster.faults.append(expire)
    task = asyncio.create_task(stage.reflector.run())
    await stage.wait(5)
    assert sorted({name for _sort, name in stage.changes}) == ["a", "b", "c", "d", "e"]
    assert len(stage.changes) == 5
    task.cancel()


async def test_a_server_in_trouble_is_asked_less_and_less_often() -> None:
    stage = Watching()
    asked: list[float] = []

    def refuse(_verb: str, _target: Json) -> ClusterError:
        asked.append(stage.clock.now)
        return ClusterError(0, "Unreachable", "nobody there")

    stage.cluster.faults.append(refuse)
    task = asyncio.create_task(stage.reflector.run())
    await stage.wait(300)
    gaps = [after - before for before, after in itertools.pairwise(asked)]
    assert gaps[0] <= 2
    assert LONGEST_DELAY / 2 <= gaps[-1] <= LONGEST_DELAY * 1.5
    stage.cluster.faults.clear()
    stage.put("a")
    await stage.wait(60)
    assert stage.changes == [("added", "a")]
    task.cancel()


async def test_an_older_version_never_takes_the_place_of_a_newer_one() -> None:
    async with watching() as stage:
        old = stage.put("a")
        new = stage.cluster.edit(old, {"data": {"a": "2"}})
        await stage.turns()
        stage.store.put(old)
        stage.store.drop(old)
        live = stage.store.get("team", "a")
        assert live is not None
        assert live["metadata"]["resourceVersion"] == new["metadata"]["resourceVersion"]


async def test_an_own_write_that_a_list_does_not_know_yet_is_kept() -> None:
    async with watching("a") as stage:
        stage.store.put({"kind": "ConfigMap", "metadata": {"name": "b", "namespace": "team", "resourceVersion": "900"}})
        stage.store.drop_others(set(), "800")
        assert [live["metadata"]["name"] for live in stage.store] == ["b"]


class Lagging(FakeCluster):
    """Answers lists as of the moment when `lag` was called, as a server does that is behind the one asked before."""

    def __init__(self) -> None:
        super().__init__()
        self.past: Page | None = None

    async def lag(self, selection: Selection) -> None:
        self.past = await super().page(selection, limit=500)

    async def page(self, selection: Selection, *, limit: int, next_page: str = "") -> Page:
        now = await super().page(selection, limit=limit, next_page=next_page)
        return self.past or now


async def test_a_list_from_a_server_that_lags_is_not_taken() -> None:
    stage = Watching(Lagging())
    stage.put("gone")
    assert isinstance(stage.cluster, Lagging)
    await stage.cluster.lag(stage.reflector.selection)
    past, stage.cluster.past = stage.cluster.past, None
    task = asyncio.create_task(stage.reflector.run())
    await stage.turns()
    stage.cluster.remove(stage.cluster.find("ConfigMap", "gone"))
    await stage.turns()
    stage.cluster.past = past
    stage.cluster.compact()
    stage.cluster.end_watches()
    await stage.wait(60)
    assert stage.changes == [("added", "gone"), ("gone", "gone")]
    assert any("is older than what is known" in message for _level, message in stage.log.lines)
    stage.cluster.past = None
    stage.put("b")
    await stage.wait(60)
    assert stage.changes[2:] == [("added", "b")]
    task.cancel()


async def test_an_event_of_the_past_does_not_bring_back_what_is_gone() -> None:
    async with watching() as stage:
        old = stage.put("a")
        stage.cluster.remove(old)
        stage.put("b")
        await stage.turns()
        stage.reflector._take(WatchEvent("ADDED", old))
        assert stage.changes == [("added", "a"), ("gone", "a"), ("added", "b")]


async def test_no_watch_comes_back_before_the_time_that_the_server_asks_for() -> None:
    stage = Watching()
    asked: list[float] = []

    def refuse(verb: str, _target: Json) -> ClusterError | None:
        if verb != "list":
            return None
        asked.append(stage.clock.now)
        return ClusterError(429, "TooManyRequests", "later", retry_after=20.0)

    stage.cluster.faults.append(refuse)
    task = asyncio.create_task(stage.reflector.run())
    await stage.wait(200)
    gaps = [after - before for before, after in itertools.pairwise(asked)]
    assert min(gaps) >= 20
    assert len(set(gaps)) > 1
    task.cancel()


async def test_a_mistake_about_one_object_does_not_end_the_watch() -> None:
    async with watching() as stage:
        heard, stage.store._listener = stage.store._listener, lambda _before, _now: stage.nothing["here"]
        stage.put("a")
        await stage.turns()
        stage.store._listener = heard
        stage.put("b")
        await stage.wait(60)
        assert ("added", "b") in stage.changes
        assert len(stage.log.mistakes()) == 1


def test_a_store_finds_what_belongs_together_in_its_namespace_only() -> None:
    store = Store(CONFIG, projection.whole, lambda _before, _now: None, belongs=lambda each: each["data"]["of"])

    def content(namespace: str, name: str, of: str, version: str) -> Json:
        metadata = {"name": name, "namespace": namespace, "uid": name, "resourceVersion": version}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"of": of}}

    for each in (("a", "x", "one", "1"), ("a", "y", "one", "2"), ("b", "x", "one", "3"), ("a", "z", "two", "4")):
        store.put(content(*each))
    store.put(content("a", "y", "two", "5"))
    assert [each["metadata"]["name"] for each in store.belonging("a", "one")] == ["x"]
    assert [each["metadata"]["name"] for each in store.belonging("a", "two")] == ["y", "z"]
    assert [each["metadata"]["name"] for each in store.inside("b")] == ["x"]


def test_a_packed_store_gives_back_what_was_put_and_nobody_can_change_it() -> None:
    store = PackedStore(CONFIG, lambda content: content, lambda _before, _now: None)
    metadata = {"name": "x", "namespace": "a", "uid": "x", "resourceVersion": "1"}
    content: Json = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "data": {"text": "\u00e4", "n": [1]},
    }
    store.put(content)
    given = store.get("a", "x")
    assert given == content
    given["data"]["n"].append(2)
    assert store.get("a", "x") == content


def test_what_a_store_has_dropped_belongs_to_nothing() -> None:
    store = Store(CONFIG, projection.whole, lambda _before, _now: None, belongs=lambda _each: "one")
    metadata = {"name": "x", "namespace": "a", "uid": "x", "resourceVersion": "1"}
    content: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    store.put(content)
    store.drop(content)
    assert (store.belonging("a", "one"), store.inside("a")) == ([], [])


def test_a_scaling_group_of_grove_belongs_to_the_graph_that_its_owner_is_named_after() -> None:
    owner = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "name": "chat", "uid": "u", "controller": True}
    group: Json = {"metadata": {"name": "chat-0-decode", "ownerReferences": [owner]}}
    assert projection.graph_of(group) == "chat"
    assert projection.graph_of({"metadata": {"name": "somebody-elses"}}) == ""

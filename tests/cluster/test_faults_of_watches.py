"""Watches that freeze, skip, end, expire, fall silent or are cut, on a real cluster: faults F3, F5, F6, F8 to F10."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dynamo_controller import projection
from dynamo_controller.adapters.clock import SystemClock
from dynamo_controller.adapters.kubernetes import KubernetesCluster, Limits
from dynamo_controller.ports import Kind, Selection
from dynamo_controller.store import Store
from dynamo_controller.watch import Reflector, Surroundings
from tests.cluster.bench import Bench
from tests.cluster.harms import Asked, Blindness, Expiry, Scissors, Silence
from tests.cluster.oracles import COMPONENT, GRAPH
from tests.cluster.proxy import Proxy
from tests.cluster.trouble import CREATED, SoundRuns, Trouble, troubled
from tests.fakes.stage import RecordingLog, graph, worker

Json = dict[str, Any]
APPS = "apps/v1"
CONFIG = Kind("v1", "ConfigMap")


def is_watch(asked: Asked) -> bool:
    return asked.verb == "watch"


def of_graphs(asked: Asked) -> bool:
    return is_watch(asked) and asked.resource == "dynamographdeployments"


def lists_by_kind(trouble: Trouble) -> dict[str, int]:
    found: dict[str, int] = {}
    for asked in trouble.proxy.lists():
        found[asked.path] = found.get(asked.path, 0) + 1
    return found


def uid(trouble: Trouble, name: str = "chat-worker") -> str:
    found = trouble.bench.client.get(APPS, "Deployment", namespace=trouble.namespace)["items"]
    return next((str(each["metadata"]["uid"]) for each in found if each["metadata"]["name"] == name), "")


async def is_restored_after_deletion(trouble: Trouble, name: str = "chat-worker") -> None:
    """Delete a child as a user does, and see that another one takes its place."""
    before = uid(trouble, name)
    trouble.bench.client.delete(trouble.find("Deployment", name, APPS))
    await trouble.until(lambda: uid(trouble, name) not in ("", before))


def test_f3_a_watch_that_is_frozen_while_the_spec_changes_twice_destroys_nothing(
    cluster: Bench, sound: SoundRuns, tmp_path: Path
) -> None:
    frost = Silence(where=of_graphs, of_lines=True)
    frost.is_over.set()
    story = (graph(), graph(Decode=worker()), graph(Decode=worker(replicas=2)))

    async def play() -> None:
        async with troubled(cluster, tmp_path, "f3-frozen", frost) as trouble:
            await trouble.play(CREATED)
            frost.is_over.clear()
            for content in story[1:]:
                trouble.apply(content)
                trouble.at_work.manager.wake_everything()
                await trouble.at_work.quiet()
            assert sorted(trouble.names(COMPONENT)) == ["chat-frontend", "chat-worker"]
            frost.is_over.set()
            await trouble.holds(await sound.of(story), factor=3)
            assert [each.target for each in trouble.proxy.writes(lambda asked: asked.verb == "delete")] == []

    asyncio.run(play())


def test_f5_a_change_that_is_undone_before_it_is_seen_changes_nothing(
    cluster: Bench, sound: SoundRuns, tmp_path: Path
) -> None:
    def is_second_generation(event: Json) -> bool:
        return bool(event["object"]["metadata"].get("generation") == 2)

    async def play() -> None:
        harm = Blindness(where=of_graphs, unseen=is_second_generation)
        async with troubled(cluster, tmp_path, "f5-undone", harm) as trouble:
            await trouble.play(CREATED)
            trouble.apply(graph(Worker=worker(replicas=3)))
            trouble.apply(graph())
            await trouble.until(lambda: trouble.find(GRAPH)["metadata"]["generation"] == 3)
            await trouble.holds(await sound.of(CREATED))

    asyncio.run(play())


def test_f5_a_graph_that_comes_and_goes_in_one_batch_leaves_nothing(
    cluster: Bench, sound: SoundRuns, tmp_path: Path
) -> None:
    frost = Silence(where=of_graphs, of_lines=True)
    frost.is_over.set()

    async def play() -> None:
        async with troubled(cluster, tmp_path, "f5-flash", frost) as trouble:
            await trouble.play(CREATED)
            frost.is_over.clear()
            trouble.bench.client.delete(trouble.apply(graph("flash")))
            frost.is_over.set()
            await trouble.holds(await sound.of(CREATED))
            assert [each.name for each in trouble.proxy.writes() if each.name.startswith("flash")] == []

    asyncio.run(play())


def test_f6_a_watch_that_has_expired_when_it_starts_is_made_up_for_by_one_list(
    cluster: Bench, sound: SoundRuns, tmp_path: Path
) -> None:
    is_on = threading.Event()
    expired: set[str] = set()

    def is_first_since(asked: Asked) -> bool:
        is_due = is_on.is_set() and is_watch(asked) and asked.path not in expired
        expired.update([asked.path] if is_due else [])
        return is_due

    async def play() -> None:
        async with troubled(cluster, tmp_path, "f6-start", Expiry(where=is_first_since)) as trouble:
            await trouble.play(CREATED)
            watched = {asked.path for asked in trouble.proxy.asked if is_watch(asked)}
            before, writes = lists_by_kind(trouble), len(trouble.proxy.writes())
            assert len(watched) > 10
            is_on.set()
            trouble.proxy.cut_all()
            twice = {path: count + (path in watched) for path, count in before.items()}
            await trouble.until(lambda: lists_by_kind(trouble) == twice)
            await trouble.at_work.quiet()
            assert lists_by_kind(trouble) == twice
            assert len(trouble.proxy.writes()) == writes
            await is_restored_after_deletion(trouble)
            await trouble.holds(await sound.of(CREATED))

    asyncio.run(play())


def test_f6_what_disappears_while_a_watch_expires_in_the_middle_is_missed_and_made_again(
    cluster: Bench, sound: SoundRuns, tmp_path: Path
) -> None:
    is_on = threading.Event()
    harm = Expiry(where=lambda asked: is_watch(asked) and not is_on.is_set(), of_lines=True, is_due=is_on)

    async def play() -> None:
        async with troubled(cluster, tmp_path, "f6-middle", harm) as trouble:
            await trouble.play(CREATED)
            is_on.set()
            await is_restored_after_deletion(trouble)
            await trouble.holds(await sound.of(CREATED), factor=3)

    asyncio.run(play())


@pytest.mark.parametrize("bookmarks", [True, False], ids=["bookmarks", "no-bookmarks"])
def test_f8_a_watch_that_ends_every_second_goes_on_without_a_list(
    cluster: Bench, sound: SoundRuns, tmp_path: Path, *, bookmarks: bool
) -> None:
    harm = Blindness(where=is_watch, unseen=lambda event: not bookmarks and event["type"] == "BOOKMARK")

    async def play() -> None:
        limits = Limits(watch=1)
        async with troubled(cluster, tmp_path, f"f8-{bookmarks}".lower(), harm, limits=limits) as trouble:
            await trouble.play(CREATED)

            def watches() -> int:
                return len([asked for asked in trouble.proxy.asked if of_graphs(asked)])

            now = watches()
            await trouble.until(lambda: watches() >= now + 4)
            await is_restored_after_deletion(trouble)
            await trouble.holds(await sound.of(CREATED))
            assert set(lists_by_kind(trouble).values()) == {1}

    asyncio.run(play())


def test_f9_watches_that_fall_silent_are_given_up_and_started_again(
    cluster: Bench, sound: SoundRuns, tmp_path: Path
) -> None:
    is_on = threading.Event()
    silence = Silence(where=lambda asked: is_watch(asked) and not is_on.is_set(), of_lines=True)
    silence.is_over.set()

    async def play() -> None:
        limits = Limits(request=3.0, silence=3.0)
        async with troubled(cluster, tmp_path, "f9-watches", silence, limits=limits) as trouble:
            await trouble.play(CREATED)
            is_on.set()
            silence.is_over.clear()
            await is_restored_after_deletion(trouble)
            await trouble.holds(await sound.of(CREATED))

    asyncio.run(play())


def test_f9_a_request_that_nobody_answers_is_given_up_and_repeated(
    cluster: Bench, sound: SoundRuns, tmp_path: Path
) -> None:
    silence = Silence(where=lambda asked: asked.is_write, times=3)

    async def play() -> None:
        async with troubled(cluster, tmp_path, "f9-requests", silence, limits=Limits(request=2.0)) as trouble:
            await trouble.play(CREATED)
            await trouble.holds(await sound.of(CREATED))
            assert silence.done == 3

    asyncio.run(play())


@pytest.mark.parametrize("politely", [True, False], ids=["ended", "broken"])
def test_f10_watches_that_are_cut_in_the_middle_of_a_line_lose_nothing(
    cluster: Bench, sound: SoundRuns, tmp_path: Path, *, politely: bool
) -> None:
    def is_watch_of_ours(asked: Asked) -> bool:
        return is_watch(asked) and asked.resource in {"dynamocomponentdeployments", "deployments"}

    cuts = [Scissors(where=is_watch_of_ours, number=number, politely=politely) for number in (1, 4, 7)]

    async def play() -> None:
        namespace = f"f10-{'ended' if politely else 'broken'}"
        async with troubled(cluster, tmp_path, namespace, *cuts) as trouble:
            await trouble.play(CREATED)
            await is_restored_after_deletion(trouble)
            await trouble.holds(await sound.of(CREATED))
            assert all(cut.heard >= cut.number for cut in cuts)

    asyncio.run(play())


def test_f10_an_object_as_large_as_they_come_passes_through_a_watch(cluster: Bench, tmp_path: Path) -> None:
    """A megabyte of `<` is six of JSON: more than any buffer of a line that transports have."""
    namespace = "f10-large"
    cluster.ensure_namespaces([namespace])
    large = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"large": "<" * 1_000_000}}
    small = {"apiVersion": "v1", "kind": "ConfigMap", "data": {}}

    async def play() -> None:
        store = Store(CONFIG, projection.whole, lambda _before, _now: None)
        log = RecordingLog()
        with Proxy(cluster, tmp_path) as proxy:
            server = await KubernetesCluster.connected(str(proxy.kubeconfig))
            around = Surroundings(server, SystemClock(), log, Random(1))  # noqa: S311 - spreads delays
            reflector = Reflector(Selection(CONFIG, namespace), store, around)
            task = asyncio.create_task(reflector.run())
            async with asyncio.timeout(30):
                await reflector.synced.wait()
                for name, content in (("large", large), ("small", small)):
                    metadata = {"name": name, "namespace": namespace}
                    await asyncio.to_thread(cluster.client.create, {**content, "metadata": metadata})
                while store.get(namespace, "small") is None:  # noqa: ASYNC110 - a store has no event for it
                    await asyncio.sleep(0.05)
            task.cancel()
            await server.close()
        kept = store.get(namespace, "large")
        assert kept is not None
        assert len(kept["data"]["large"]) == 1_000_000
        assert log.lines == []

    asyncio.run(play())

"""Graphs that are deleted in every way, come back at once, or go with their namespace: F20 to F23 on a real cluster."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import oracles, processes
from tests.cluster.bench import Bench
from tests.cluster.client import MERGE_PATCH
from tests.cluster.harms import Asked
from tests.cluster.oracles import COMPONENT, GRAPH, OURS
from tests.cluster.trouble import CREATED, SoundRuns, Trouble, placed, require_none, troubled
from tests.fakes.stage import graph

Json = dict[str, Any]
APPS = "apps/v1"
FINALIZER = "nvidia.com/finalizer"
LIMIT, NOT_FOUND = 60.0, 404


def with_finalizer() -> Json:
    content = graph()
    return {**content, "metadata": {**content["metadata"], "finalizers": [FINALIZER]}}


def delete(trouble: Trouble, policy: str) -> None:
    path = trouble.bench.client.path(OURS, GRAPH, "chat", trouble.namespace)
    answer = trouble.bench.client.send("DELETE", path, {"propagationPolicy": policy})
    assert not answer.is_refusal, answer.message


def is_gone(bench: Bench, namespace: str) -> bool:
    return bench.client.send("GET", bench.client.path(OURS, GRAPH, "chat", namespace)).status == NOT_FOUND


def is_finalizer_write(asked: Asked) -> bool:
    return asked.resource == "dynamographdeployments" and not asked.subresource


@pytest.mark.parametrize("policy", ["Foreground", "Background", "Orphan"])
def test_f20_nothing_is_made_for_a_graph_that_is_being_deleted_and_its_finalizer_goes_once(
    cluster: Bench, tmp_path: Path, policy: str
) -> None:
    async def play() -> None:
        async with troubled(cluster, tmp_path, f"f20-{policy.lower()}") as trouble:
            await trouble.play((with_finalizer(),))
            before = {name: uid(trouble, name) for name in trouble.names(COMPONENT)}
            written = len(trouble.proxy.writes())
            delete(trouble, policy)
            await trouble.until(lambda: is_gone(cluster, trouble.namespace))
            if policy != "Orphan":
                await trouble.until(lambda: not oracles.end_state(cluster.client, trouble.namespace))
            await trouble.at_work.quiet()
            after = trouble.proxy.writes()[written:]
            assert [each.target for each in after if is_finalizer_write(each)] == [
                ("patch", "dynamographdeployments", "chat", "")
            ]
            made = [each for each in after if each.verb in ("patch", "create") and not each.subresource]
            assert [each.target for each in made if not is_finalizer_write(each)] == []
            left = {name: uid(trouble, name) for name in trouble.names(COMPONENT)}
            assert left == (before if policy == "Orphan" else {})
            if policy != "Orphan":
                # An orphan is a component of its own from its next pass on, and gets what such a one has.
                await trouble.rests()
            require_none("O5", oracles.touched(cluster.client, trouble.theirs))

    asyncio.run(play())


def uid(trouble: Trouble, component: str) -> str:
    return str(trouble.find(COMPONENT, component)["metadata"]["uid"])


def test_f21_a_graph_that_comes_back_at_once_gets_children_of_its_own(
    cluster: Bench, sound: SoundRuns, tmp_path: Path
) -> None:
    async def play() -> None:
        async with troubled(cluster, tmp_path, "f21-again") as trouble:
            await trouble.play(CREATED)
            old = {name: uid(trouble, name) for name in trouble.names(COMPONENT)}
            delete(trouble, "Background")
            trouble.apply(graph())
            await trouble.until(lambda: is_new(trouble, old))
            # Garbage collection takes the old ones; what stood in the way is looked at again after half a minute.
            await trouble.until(trouble.is_ready, seconds=120)
            await trouble.holds(await sound.of(CREATED), factor=4)
            owner = trouble.find(GRAPH)["metadata"]["uid"]
            for name in trouble.names(COMPONENT):
                assert trouble.find(COMPONENT, name)["metadata"]["ownerReferences"][0]["uid"] == owner

    asyncio.run(play())


def is_new(trouble: Trouble, old: dict[str, str]) -> bool:
    found = trouble.bench.client.get(OURS, COMPONENT, namespace=trouble.namespace)["items"]
    now = {each["metadata"]["name"]: each["metadata"]["uid"] for each in found if each["metadata"]["name"] in old}
    return now.keys() == old.keys() and not set(now.values()) & set(old.values())


def test_f22_a_namespace_that_goes_away_is_left_alone(cluster: Bench, tmp_path: Path) -> None:
    namespace = "f22-gone"

    async def play() -> None:
        async with troubled(cluster, tmp_path, namespace) as trouble:
            await trouble.play(CREATED)
            path = f"/api/v1/namespaces/{namespace}"
            assert not cluster.client.send("DELETE", path).is_refusal
            await trouble.until(lambda: cluster.client.send("GET", path).status == NOT_FOUND)
            await trouble.at_work.quiet()
            asked = len(trouble.proxy.asked)
            await asyncio.sleep(3)
            after = [each for each in trouble.proxy.asked[asked:] if each.verb != "watch"]
            assert [each.target for each in after] == []
            refused = [each for each in trouble.proxy.asked if each.answered == [403]]
            assert len(refused) < 20

    asyncio.run(play())


def test_f23_a_finalizer_of_an_operator_that_is_gone_is_taken_off_by_hand_or_by_the_controller(
    cluster: Bench, tmp_path: Path
) -> None:
    for namespace, by_hand in (("f23-by-hand", True), ("f23-by-controller", False)):
        cluster.ensure_namespaces([namespace])
        left = cluster.client.create(placed(namespace, with_finalizer()))
        cluster.client.delete(left)
        assert not is_gone(cluster, namespace)
        if by_hand:
            # What docs/controller/faults.md tells users to do.
            path = cluster.client.path(OURS, GRAPH, "chat", namespace)
            assert not cluster.client.send("PATCH", path, {"metadata": {"finalizers": None}}, MERGE_PATCH).is_refusal
            assert is_gone(cluster, namespace)

    async def play() -> None:
        async with troubled(cluster, tmp_path, "f23-by-controller"):
            await asyncio.to_thread(
                processes.wait_until,
                lambda: is_gone(cluster, "f23-by-controller"),
                seconds=LIMIT,
                what="end of the graph",
            )

    asyncio.run(play())


def test_f23_the_controller_adds_no_finalizer(cluster: Bench, tmp_path: Path) -> None:
    async def play() -> None:
        async with troubled(cluster, tmp_path, "f23-none") as trouble:
            await trouble.play(CREATED)
            found = oracles.live(cluster.client, trouble.namespace)
            assert [each["kind"] for each in found if each["metadata"].get("finalizers")] == []

    asyncio.run(play())

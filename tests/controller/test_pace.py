"""How many passes are made, and which come first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from dynamo_controller.graphs import GRAPH
from dynamo_controller.kinds import RECONCILED
from dynamo_controller.ports import ClusterError, Object
from dynamo_controller.reconcile import Done
from dynamo_controller.shell import Key, Shell
from tests.fakes.stage import Stage, graph, rolled_out

Json = dict[str, Any]
BUSY = "the test holds them back"


async def passes_in_order(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let all passes over graphs begin, and return the names of the graphs in their order."""
    made: list[str] = []

    async def one(key: Key, _shell: Shell) -> Done:
        made.append(key.name)
        return Done()

    monkeypatch.setitem(RECONCILED, GRAPH, one)
    stage.manager.resume(BUSY)
    await stage.settle()
    return made


async def held_back(stage: Stage) -> None:
    for name in ("one", "two", "three"):
        await stage.add(graph(name))
    stage.manager.hold(BUSY)
    stage.manager.wake_everything()


async def test_a_changed_graph_goes_before_those_that_are_only_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Stage() as stage:
        await held_back(stage)
        await stage.edit("DynamoGraphDeployment", "three", {"spec": {"backendFramework": "sglang"}})
        assert await passes_in_order(stage, monkeypatch) == ["three", "one", "two"]


async def test_a_new_graph_goes_before_those_that_are_only_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Stage() as stage:
        await held_back(stage)
        await stage.add(graph("new"))
        assert await passes_in_order(stage, monkeypatch) == ["new", "one", "two", "three"]


async def test_a_graph_that_is_to_go_does_so_before_the_others_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Stage() as stage:
        await held_back(stage)
        stage.cluster.edit(stage.cluster.find("DynamoGraphDeployment", "three"), {"metadata": {"finalizers": ["a/b"]}})
        await stage.remove("DynamoGraphDeployment", "three")
        assert (await passes_in_order(stage, monkeypatch))[0] == "three"


async def test_a_status_of_a_child_is_nothing_urgent(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Stage() as stage:
        await held_back(stage)
        component = stage.cluster.find("DynamoComponentDeployment", "three-worker")
        stage.cluster.set_status(component, {"conditions": [{"type": "Available", "status": "True"}]})
        await stage.settle()
        assert (await passes_in_order(stage, monkeypatch))[:3] == ["one", "two", "three"]


def counted_passes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the name of each resource whose pass begins."""
    made: list[str] = []
    reconciled = dict(RECONCILED)

    async def counted(key: Key, shell: Shell) -> Done:
        made.append(key.name)
        return await reconciled[key.kind](key, shell)

    for kind in reconciled:
        monkeypatch.setitem(RECONCILED, kind, counted)
    return made


def answering_late(stage: Stage, monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[Json], None]) -> None:
    """Let watches tell of every write before its answer comes, and something happen in between."""
    apply = stage.cluster.apply

    async def late(content: Object, *, force: bool) -> Json:
        stored: Json = await apply(content, force=force)
        meanwhile(stored)
        for _ in range(10):
            await asyncio.sleep(0)
        return stored

    monkeypatch.setattr(stage.cluster, "apply", late)


async def test_the_own_writes_of_a_pass_lead_to_no_other_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    made = counted_passes(monkeypatch)
    async with Stage() as stage:
        await stage.add(graph())
        assert sorted(set(made)) == ["chat", "chat-frontend", "chat-worker"]
        assert [made.count(name) for name in ("chat-frontend", "chat-worker")] == [1, 1]


async def test_nor_do_they_where_a_watch_tells_of_them_first(monkeypatch: pytest.MonkeyPatch) -> None:
    made = counted_passes(monkeypatch)
    async with Stage() as stage:
        answering_late(stage, monkeypatch, lambda _stored: None)
        await stage.add(graph())
        assert [made.count(name) for name in ("chat-frontend", "chat-worker")] == [1, 1]


async def test_what_somebody_else_writes_before_the_answer_comes_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    made = counted_passes(monkeypatch)
    async with Stage() as stage:

        def roll_out(stored: Json) -> None:
            if stored["kind"] == "Deployment":
                stage.cluster.set_status(
                    stage.cluster.find("Deployment", stored["metadata"]["name"]), rolled_out(stored)
                )

        answering_late(stage, monkeypatch, roll_out)
        await stage.add(graph())
        assert [made.count(name) for name in ("chat-frontend", "chat-worker")] == [2, 2]
        assert stage.condition() == ("True", "all_resources_are_ready")


async def test_a_write_whose_answer_is_lost_is_looked_at_when_a_watch_tells_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with Stage() as stage:
        lost: list[Json] = []

        def lose(stored: Json) -> None:
            if stored["kind"] == "Deployment" and not lost:
                lost.append(stored)
                raise ClusterError(0, "Interrupted", "no answer")

        answering_late(stage, monkeypatch, lose)
        await stage.add(graph())
        await stage.later(1)
        await stage.roll_out()
        assert stage.condition() == ("True", "all_resources_are_ready")

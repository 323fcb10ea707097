"""How many passes are made, and which come first."""

from __future__ import annotations

import pytest

from dynamo_controller.graphs import GRAPH
from dynamo_controller.kinds import RECONCILED
from dynamo_controller.reconcile import Done
from dynamo_controller.shell import Key, Shell
from tests.fakes.stage import Stage, graph

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


async def test_the_own_writes_of_a_pass_lead_to_no_other_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    reconciled = dict(RECONCILED)

    async def counted(key: Key, shell: Shell) -> Done:
        made.append(key.name)
        return await reconciled[key.kind](key, shell)

    for kind in reconciled:
        monkeypatch.setitem(RECONCILED, kind, counted)
    async with Stage() as stage:
        await stage.add(graph())
        assert sorted(set(made)) == ["chat", "chat-frontend", "chat-worker"]
        assert [made.count(name) for name in ("chat-frontend", "chat-worker")] == [1, 1]

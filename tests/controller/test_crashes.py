"""A controller that dies after any of its writes, and another one that takes over: fault F1 on the fake cluster."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from dynamo_controller.ports import ClusterError
from tests.fakes.cluster import FakeCluster
from tests.fakes.stage import Stage, graph, worker

Json = dict[str, Any]
GRAPH = "DynamoGraphDeployment"
WRITES = ("apply", "delete", "merge", "status", "scale")

Story = Callable[[Stage], Awaitable[None]]


async def created(stage: Stage) -> None:
    await stage.add(graph())
    await stage.later(1)


async def changed(stage: Stage) -> None:
    content = graph(Worker=worker(replicas=3, scalingAdapter={"enabled": True}))
    del content["spec"]["services"]["Frontend"]
    content["spec"]["services"]["Decode"] = worker()
    stage.cluster.edit(stage.cluster.find(GRAPH, "chat"), {"spec": {"services": {"Frontend": None}}})
    stage.cluster.edit(stage.cluster.find(GRAPH, "chat"), {"spec": content["spec"]})
    await stage.later(1)


async def restarted(stage: Stage) -> None:
    await stage.edit(GRAPH, "chat", {"spec": {"restart": {"id": "r1", "strategy": {"type": "Parallel"}}}})
    await stage.later(1)


STORIES: dict[str, tuple[Story, ...]] = {
    "created": (created,),
    "changed": (created, changed),
    "restarted": (created, restarted),
    "grove": (created, changed),
}


class DeathAt:
    """Lets *count* writes through and then nothing at all, as if the process were gone."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.writes = 0

    def __call__(self, verb: str, target: Json) -> ClusterError | None:
        if self.writes >= self.count and verb != "watching":
            return ClusterError(0, "Dead", "the process is gone")
        self.writes += verb in WRITES or (verb == "create" and target["kind"] != "Event")
        return None


async def end_state(name: str, death: DeathAt | None) -> Json:
    cluster = FakeCluster(*({"grove.io"} if name == "grove" else ()))
    *before, last = STORIES[name]
    first = await Stage(cluster=cluster).__aenter__()
    for story in before:
        await story(first)
    if death is not None:
        cluster.faults.append(death)
    await last(first)
    cluster.faults.clear()
    await first.end()
    async with Stage(cluster=cluster, clock=first.clock) as second:
        await second.later(1)
        await second.roll_out()
        if name == "grove":
            await second.grow("chat")
        await second.later(300)
        cluster.writes.clear()
        second.manager.wake_everything()
        await second.later(1)
        assert cluster.writes == []
    return {
        f"{kind.kind}/{called}": _masked(live)
        for (kind, _, called), live in cluster.objects.items()
        if _counts(kind.kind)
    }


def _counts(kind: str) -> bool:
    return kind != "Event"


def _masked(value: Any) -> Any:
    if isinstance(value, dict):
        hidden = {"uid", "resourceVersion", "managedFields", "generation", "observedGeneration", "lastTransitionTime"}
        return {key: _masked(inner) for key, inner in value.items() if key not in hidden}
    return [_masked(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", STORIES)
async def test_whichever_write_is_the_last_the_next_controller_comes_to_the_same_end(name: str) -> None:
    count = DeathAt(10**6)
    wanted = await end_state(name, count)
    assert count.writes >= 5
    for index in range(count.writes):
        assert await end_state(name, DeathAt(index)) == wanted, f"after write {index}"

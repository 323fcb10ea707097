"""Stories of models when pods refuse or are silent, when slices may not be read, and when the controller dies."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dynamo_controller.ports import ClusterError
from tests.controller.model_parts import MODEL, SLOW, a_slice, model, reach, told
from tests.fakes.cluster import FakeCluster
from tests.fakes.endpoints import saying
from tests.fakes.stage import Stage, graph

Json = dict[str, Any]


async def test_a_pod_that_refuses_is_asked_again_after_half_a_minute() -> None:
    async with Stage() as stage:
        stage.endpoints.answers["10.0.0.2"] = saying(503, "busy")
        await stage.add(a_slice("10.0.0.1", "10.0.0.2"))
        await stage.add(model())
        assert (told(stage), reach(stage)) == (("False", "NotReady"), (1, 2))
        await stage.later(29)
        assert len(stage.endpoints.calls) == 2
        del stage.endpoints.answers["10.0.0.2"]
        await stage.later(2)
        assert (told(stage), reach(stage)) == (("True", "AllEndpointsReady"), (2, 2))


async def test_the_status_says_which_pod_has_failed_and_why() -> None:
    async with Stage() as stage:
        stage.endpoints.answers["10.0.0.2"] = saying(200, '{"status": "error", "message": "download failed"}')
        await stage.add(a_slice("10.0.0.1", "10.0.0.2"))
        await stage.add(model())
        message = stage.status("law", MODEL)["conditions"][-1]["message"]
        assert "worker-2: load LoRA failed inside the engine" in message
        assert "download failed" in message


async def test_a_pod_that_never_answers_is_not_ready() -> None:
    async with Stage() as stage:
        stage.endpoints.answers["10.0.0.1"] = SLOW
        await stage.add(a_slice("10.0.0.1"))
        await stage.add(model())
        assert told(stage) == ("False", "NotReady")
        assert "no whole answer within 15 s" in stage.status("law", MODEL)["conditions"][-1]["message"]


async def test_a_pod_that_keeps_failing_is_written_and_told_once() -> None:
    async with Stage() as stage:
        stage.endpoints.answers["10.0.0.1"] = saying(500)
        await stage.add(a_slice("10.0.0.1"))
        await stage.add(model())
        stage.cluster.writes.clear()
        events = stage.event_reasons()
        await stage.later(300)
        assert len(stage.endpoints.calls) == 11
        assert stage.cluster.writes == []
        assert stage.event_reasons() == events


async def test_pods_that_never_answer_hold_up_no_graph() -> None:
    async with Stage() as stage:
        stage.endpoints.silence = asyncio.Event()
        stage.cluster.put(a_slice("10.0.0.1"))
        for index in range(40):
            stage.cluster.put(model(f"m{index}"))
        stage.cluster.put(graph())
        for _ in range(2000):
            await asyncio.sleep(0)
        assert stage.cluster.names("Deployment") == ["chat-frontend", "chat-worker"]
        stage.endpoints.silence.set()
        await stage.settle()
        assert {told(stage, f"m{index}")[0] for index in range(40)} == {"True"}


class DeathAt:
    """Lets *count* writes through and then nothing at all, as if the process were gone."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.writes = 0

    def __call__(self, verb: str, _target: Json) -> ClusterError | None:
        if self.writes >= self.count and verb != "watching":
            return ClusterError(0, "Dead", "the process is gone")
        self.writes += verb in {"merge", "status"}
        return None


async def after_death(death: DeathAt, *, deleted: bool) -> tuple[Json | None, dict[str, set[str]]]:
    """Return the model and what pods have loaded, after a controller that died and one that took over."""
    async with Stage() as first:
        await first.add(a_slice("10.0.0.1", "10.0.0.2"))
        if deleted:
            await first.add(model())
        first.cluster.faults.append(death)
        if deleted:
            first.cluster.remove(first.cluster.find(MODEL, "law"))
        else:
            first.cluster.put(model())
        await first.later(1)
        first.cluster.faults.clear()
    async with Stage(cluster=first.cluster, clock=first.clock, endpoints=first.endpoints) as second:
        await second.later(300)
        status = second.status("law", MODEL) if second.cluster.names(MODEL) else None
        for condition in (status or {}).get("conditions", ()):
            condition.pop("lastTransitionTime")
        return status, second.endpoints.loaded


@pytest.mark.parametrize("deleted", [False, True])
async def test_whichever_write_is_the_last_the_next_controller_comes_to_the_same_end(deleted: bool) -> None:  # noqa: FBT001
    count = DeathAt(10**6)
    wanted = await after_death(count, deleted=deleted)
    assert count.writes >= 1
    assert (wanted[0] is None) == deleted
    for index in range(count.writes):
        assert await after_death(DeathAt(index), deleted=deleted) == wanted, f"after write {index}"


def forbidden(verb: str, target: Json) -> ClusterError | None:
    if verb == "list" and target["kind"] == "EndpointSlice":
        return ClusterError(403, "Forbidden", "endpointslices is forbidden")
    return None


async def test_slices_that_may_not_be_listed_are_told_and_not_taken_for_none() -> None:
    cluster = FakeCluster()
    cluster.faults.append(forbidden)
    async with Stage(cluster=cluster) as stage:
        await stage.add(model())
        assert "EndpointDiscoveryFailed" in stage.event_reasons()
        assert "status" not in stage.cluster.find(MODEL, "law")


async def test_slices_that_may_not_be_listed_do_not_hold_up_a_deletion() -> None:
    cluster = FakeCluster()
    cluster.faults.append(forbidden)
    held = model()
    held["metadata"]["finalizers"] = ["nvidia.com/finalizer"]
    async with Stage(cluster=cluster) as stage:
        await stage.add(held)
        await stage.remove(MODEL, "law")
        assert stage.cluster.names(MODEL) == []
        assert "CleanupFailed" in stage.event_reasons()

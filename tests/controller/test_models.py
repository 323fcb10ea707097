"""Stories of models: adapters are loaded into pods and taken out of them, and a model's spec is changed or wrong."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from dynamo_controller import commands
from dynamo_controller.events import ClusterEvents
from dynamo_controller.manager import Outside
from dynamo_render import OperatorSettings, Outcome
from tests.controller.model_parts import MODEL, SLOW, a_slice, model, reach, told
from tests.fakes.clock import FakeClock
from tests.fakes.endpoints import saying
from tests.fakes.stage import RecordingLog, Stage


async def test_an_adapter_waits_for_pods_and_is_loaded_into_them() -> None:
    async with Stage() as stage:
        await stage.add(model())
        assert told(stage) == ("False", "NoEndpoints")
        await stage.add(a_slice("10.0.0.1", "10.0.0.2"))
        assert told(stage) == ("True", "AllEndpointsReady")
        assert reach(stage) == (2, 2)
        assert stage.endpoints.loaded == {"10.0.0.1": {"acme/law"}, "10.0.0.2": {"acme/law"}}


async def test_a_model_is_held_before_anything_is_loaded() -> None:
    async with Stage() as stage:
        await stage.add(a_slice("10.0.0.1"))
        stage.cluster.writes.clear()
        await stage.add(model())
        assert stage.cluster.writes == [("create", MODEL, "law"), ("edit", MODEL, "law"), ("status", MODEL, "law")]
        assert stage.cluster.find(MODEL, "law")["metadata"]["finalizers"] == ["nvidia.com/finalizer"]


async def test_a_base_model_tells_its_pods_and_calls_nobody() -> None:
    async with Stage() as stage:
        await stage.add(a_slice("10.0.0.1"))
        await stage.add(model("base", "base"))
        assert told(stage, "base") == ("True", "EndpointsDiscovered")
        assert stage.endpoints.calls == []


async def test_a_new_name_is_loaded_too() -> None:
    async with Stage() as stage:
        await stage.add(a_slice("10.0.0.1"))
        await stage.add(model())
        await stage.edit(MODEL, "law", {"spec": {"modelName": "acme/tax"}})
        assert stage.endpoints.loaded == {"10.0.0.1": {"acme/law", "acme/tax"}}


async def test_conditions_tell_of_which_spec_they_are() -> None:
    async with Stage() as stage:
        await stage.add(a_slice("10.0.0.1"))
        await stage.add(model())
        await stage.edit(MODEL, "law", {"spec": {"source": {"uri": "s3://b/other"}}})
        assert {each["observedGeneration"] for each in stage.status("law", MODEL)["conditions"]} == {2}


@pytest.mark.parametrize("profile", ["0.9", "0.9-shipped"])
async def test_an_invalid_model_is_told_so_is_not_held_and_calls_nobody(profile: str) -> None:
    async with Stage(profile=profile) as stage:
        await stage.add(a_slice("10.0.0.1"))
        await stage.add(model(source={"uri": "ftp://x"}))
        assert stage.condition("law", MODEL, "Valid") == ("False", "ValidationFailed")
        assert stage.cluster.find(MODEL, "law")["metadata"].get("finalizers") in (None, [])
        assert stage.endpoints.calls == []
        assert stage.event_reasons() == ["ValidationFailed"]
        await stage.remove(MODEL, "law")
        assert stage.cluster.names(MODEL) == []


async def test_a_model_that_became_invalid_can_be_deleted_and_is_unloaded() -> None:
    async with Stage() as stage:
        await stage.add(a_slice("10.0.0.1"))
        await stage.add(model())
        await stage.edit(MODEL, "law", {"spec": {"source": None}})
        assert stage.condition("law", MODEL, "Valid")[0] == "False"
        assert told(stage) == ("True", "AllEndpointsReady")
        await stage.remove(MODEL, "law")
        assert stage.cluster.names(MODEL) == []
        assert stage.endpoints.loaded == {"10.0.0.1": set()}


async def test_a_mended_model_goes_on() -> None:
    async with Stage() as stage:
        await stage.add(a_slice("10.0.0.1"))
        await stage.add(model(source=None))
        await stage.edit(MODEL, "law", {"spec": {"source": {"uri": "hf://acme/law"}}})
        assert stage.condition("law", MODEL, "Valid") == ("True", "ValidationPassed")
        assert told(stage)[0] == "True"


async def test_a_deleted_adapter_is_taken_out_of_every_pod() -> None:
    async with Stage() as stage:
        await stage.add(a_slice("10.0.0.1", "10.0.0.2"))
        await stage.add(model())
        await stage.remove(MODEL, "law")
        assert stage.cluster.names(MODEL) == []
        assert stage.endpoints.loaded == {"10.0.0.1": set(), "10.0.0.2": set()}
        assert "LoRAUnloaded" in stage.event_reasons()


@pytest.mark.parametrize("answer", [saying(404), saying(500), SLOW])
async def test_a_pod_that_keeps_an_adapter_does_not_hold_up_its_deletion(answer: Outcome) -> None:
    async with Stage() as stage:
        await stage.add(a_slice("10.0.0.1"))
        await stage.add(model())
        stage.endpoints.answers["10.0.0.1"] = answer
        await stage.remove(MODEL, "law")
        assert stage.cluster.names(MODEL) == []
        assert "LoRAUnloadFailed" in stage.event_reasons()


async def test_a_deleted_model_without_pods_goes_at_once() -> None:
    async with Stage() as stage:
        await stage.add(model())
        await stage.remove(MODEL, "law")
        assert stage.cluster.names(MODEL) == []
        assert stage.endpoints.calls == []


async def test_models_at_rest_are_left_alone_by_the_next_controller() -> None:
    async with Stage() as first:
        await first.add(a_slice("10.0.0.1"))
        await first.add(model())
        await first.add(model("base", "base"))
    first.cluster.writes.clear()
    events = first.event_reasons()
    async with Stage(cluster=first.cluster, clock=first.clock, endpoints=first.endpoints) as second:
        await second.later(600)
        assert second.cluster.writes == []
        assert second.event_reasons() == events
        assert len(second.endpoints.calls) == 2


async def test_a_model_that_was_changed_while_pods_were_called_is_looked_at_again() -> None:
    async with Stage() as stage:
        stage.endpoints.silence = asyncio.Event()
        stage.cluster.put(a_slice("10.0.0.1"))
        stage.cluster.put(model())
        for _ in range(200):
            await asyncio.sleep(0)
        stage.cluster.edit(stage.cluster.find(MODEL, "law"), {"spec": {"modelName": "acme/tax"}})
        stage.endpoints.silence.set()
        await stage.later(1)
        assert {each["observedGeneration"] for each in stage.status("law", MODEL)["conditions"]} == {2}
        assert "acme/tax" in stage.endpoints.loaded["10.0.0.1"]


async def planned(stage: Stage) -> list[str]:
    """Return the lines of a plan for the stage's cluster; its pods are the stage's."""
    clock, log = FakeClock(), RecordingLog()
    outside = Outside(
        cluster=stage.cluster,
        clock=clock,
        events=ClusterEvents(stage.cluster, clock, log),
        log=log,
        chance=Random(1),  # noqa: S311 - spreads delays
        endpoints=stage.endpoints,
    )
    render = OperatorSettings(restricted_namespace="team")
    return (await commands.plan(outside, stage.cluster.for_dry_runs(), render)).lines()


async def test_a_plan_for_a_new_model_lists_that_it_will_be_held_and_calls_nobody() -> None:
    stage = Stage()
    stage.cluster.put(a_slice("10.0.0.1"))
    stage.cluster.put(model())
    lines = await planned(stage)
    assert lines[0] == "change DynamoModel team/law"
    assert any("finalizers" in line for line in lines[1:])
    assert sum(not line.startswith(" ") for line in lines) == 1
    assert stage.endpoints.calls == []
    assert "finalizers" not in stage.cluster.find(MODEL, "law")["metadata"]


async def test_a_plan_for_models_in_place_is_empty() -> None:
    async with Stage() as stage:
        await stage.add(a_slice("10.0.0.1"))
        await stage.add(model())
        before = len(stage.endpoints.calls)
        assert await planned(stage) == []
        assert len(stage.endpoints.calls) == before

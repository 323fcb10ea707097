"""Stories of models: slices of pods come, change and go, adapters are loaded into pods and taken out of them."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest

from dynamo_controller import commands
from dynamo_controller.events import ClusterEvents
from dynamo_controller.manager import Outside
from dynamo_controller.ports import ClusterError
from dynamo_render import OperatorSettings, Outcome
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeCluster
from tests.fakes.endpoints import saying
from tests.fakes.stage import RecordingLog, Stage, graph

Json = dict[str, Any]
MODEL = "DynamoModel"
BASE = "Qwen/Qwen3-0.6B"
READY = "EndpointsReady"
SLOW = Outcome("refused", "no whole answer within 15 s")


def model(name: str = "law", kind: str = "lora", **spec: Any) -> Json:
    own = {"modelName": "acme/law", "baseModelName": BASE, "modelType": kind, "source": {"uri": "s3://b/law"}, **spec}
    metadata = {"name": name, "namespace": "team"}
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": MODEL, "metadata": metadata, "spec": own}


def endpoints(*addresses: str, ready: bool = True) -> list[Json]:
    return [
        {
            "addresses": [address],
            "conditions": {"ready": ready},
            "targetRef": {"kind": "Pod", "name": f"worker-{address.rpartition('.')[2]}"},
        }
        for address in addresses
    ]


def a_slice(*addresses: str, name: str = "dynamo-model-fb68f5a6-x", model_hash: str = "fb68f5a6") -> Json:
    labels = {"nvidia.com/dynamo-base-model-hash": model_hash, "kubernetes.io/service-name": "dynamo-model-fb68f5a6"}
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": name, "namespace": "team", "labels": labels},
        "addressType": "IPv4",
        "endpoints": endpoints(*addresses),
    }


def told(stage: Stage, name: str = "law") -> tuple[str, str]:
    return stage.condition(name, MODEL, READY)


def reach(stage: Stage, name: str = "law") -> tuple[int, int]:
    status = stage.status(name, MODEL)
    return status["readyEndpoints"], status["totalEndpoints"]


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


async def test_a_new_pod_gets_the_adapter() -> None:
    async with Stage() as stage:
        await stage.add(a_slice("10.0.0.1"))
        await stage.add(model())
        await stage.edit("EndpointSlice", "dynamo-model-fb68f5a6-x", {"endpoints": endpoints("10.0.0.1", "10.0.0.2")})
        assert stage.endpoints.loaded["10.0.0.2"] == {"acme/law"}
        assert reach(stage) == (2, 2)


async def test_a_pod_that_goes_is_told_no_more() -> None:
    async with Stage() as stage:
        await stage.add(a_slice("10.0.0.1", "10.0.0.2"))
        await stage.add(model())
        await stage.edit("EndpointSlice", "dynamo-model-fb68f5a6-x", {"endpoints": endpoints("10.0.0.2")})
        assert [each["podName"] for each in stage.status("law", MODEL)["endpoints"]] == ["worker-2"]


async def test_a_pod_that_was_started_anew_gets_the_adapter_again() -> None:
    async with Stage() as stage:
        await stage.add(a_slice("10.0.0.1"))
        await stage.add(model())
        stage.endpoints.loaded.clear()
        for ready in (False, True):
            changed = {"endpoints": endpoints("10.0.0.1", ready=ready)}
            await stage.edit("EndpointSlice", "dynamo-model-fb68f5a6-x", changed)
        assert stage.endpoints.loaded == {"10.0.0.1": {"acme/law"}}


async def test_a_slice_that_says_nothing_new_wakes_no_model() -> None:
    async with Stage() as stage:
        await stage.add(a_slice("10.0.0.1"))
        await stage.add(model())
        before = len(stage.endpoints.calls)
        changed = {"metadata": {"annotations": {"endpoints.kubernetes.io/last-change-trigger-time": "now"}}}
        await stage.edit("EndpointSlice", "dynamo-model-fb68f5a6-x", changed)
        assert len(stage.endpoints.calls) == before


async def test_the_last_slice_goes_and_the_endpoints_with_it() -> None:
    async with Stage() as stage:
        await stage.add(a_slice("10.0.0.1"))
        await stage.add(model())
        await stage.remove("EndpointSlice", "dynamo-model-fb68f5a6-x")
        assert told(stage) == ("False", "NoEndpoints")
        assert "endpoints" not in stage.status("law", MODEL)


async def test_a_slice_that_loses_its_label_counts_no_more() -> None:
    async with Stage() as stage:
        await stage.add(a_slice("10.0.0.1"))
        await stage.add(model())
        unlabelled = {"metadata": {"labels": {"nvidia.com/dynamo-base-model-hash": None}}}
        await stage.edit("EndpointSlice", "dynamo-model-fb68f5a6-x", unlabelled)
        assert told(stage) == ("False", "NoEndpoints")


async def test_a_slice_that_changes_its_label_concerns_both_models() -> None:
    async with Stage() as stage:
        await stage.add(a_slice("10.0.0.1"))
        await stage.add(model())
        await stage.add(model("other", baseModelName="meta-llama/Llama-3.3-70B-Instruct"))
        label = {"metadata": {"labels": {"nvidia.com/dynamo-base-model-hash": "99668f5d"}}}
        await stage.edit("EndpointSlice", "dynamo-model-fb68f5a6-x", label)
        assert (told(stage)[0], told(stage, "other")[0]) == ("False", "True")


async def test_slices_of_another_namespace_are_not_called() -> None:
    async with Stage(restricted_namespace="") as stage:
        theirs = a_slice("10.0.0.9")
        theirs["metadata"]["namespace"] = "theirs"
        await stage.add(theirs)
        await stage.add(model())
        assert stage.endpoints.calls == []


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

"""Stories of models whose pods change: slices come, say something else, and go."""

from __future__ import annotations

from tests.controller.model_parts import MODEL, a_slice, endpoints, model, reach, told
from tests.fakes.stage import Stage


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

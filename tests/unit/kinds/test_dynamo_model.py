"""The state machine of a model, row by row: controllers-other.md sections 3.4, 3.6 and 4.5, decisions.md section 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import pytest

from dynamo_render import Outcome, Seen
from dynamo_render.kinds.dynamo_model import machine, telling
from dynamo_render.kinds.dynamo_model.candidates import Candidate, Discovery
from dynamo_render.kinds.dynamo_model.table import ROWS
from dynamo_render.kinds.shared.machine import Finalizer, HttpAnswer, HttpCall, Step
from dynamo_render.pipeline import inputs_of
from dynamo_render.settings import OperatorSettings
from dynamo_render.spec.model import ModelSpec

Json = dict[str, Any]
BASE = "Qwen/Qwen3-0.6B"
NO_SLICES = f"No endpoint slices found for base model {BASE}"


def model(kind: str = "lora", *, held: bool = True, deleted: bool = False, **spec: Any) -> Json:
    metadata: Json = {"name": "my-lora", "namespace": "team", "generation": 4}
    if held:
        metadata["finalizers"] = ["nvidia.com/finalizer"]
    if deleted:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    own = {"modelName": "acme/support", "baseModelName": BASE, "modelType": kind, "source": {"uri": "s3://b/l"}, **spec}
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoModel", "metadata": metadata, "spec": own}


def slices(*addresses: str, service: str = "dynamo-model-fb68f5a6") -> tuple[Json, ...]:
    labels = {"nvidia.com/dynamo-base-model-hash": "fb68f5a6", "kubernetes.io/service-name": service}
    endpoints = [
        {"addresses": [address], "targetRef": {"kind": "Pod", "name": f"worker-{index}"}}
        for index, address in enumerate(addresses)
    ]
    return ({"metadata": {"name": "s", "labels": labels}, "endpoints": endpoints},)


NO_ANSWERS: Mapping[int, Outcome] = {}
PAIR = slices("10.0.1.5", "10.0.1.6")


def ended(
    resource: Json, found: tuple[Json, ...] = (), *, profile: str = "0.9", answers: Mapping[int, Outcome] = NO_ANSWERS
) -> Step:
    """Play a whole pass: calls to an address end as *answers* say by its last number, else with an empty 200."""
    inputs = inputs_of(OperatorSettings(profile=profile), None, None)
    seen = Seen()
    for lookup in machine.lookups(resource, inputs, seen):
        seen = seen.with_found(lookup, found)
    while waiting := machine.advance(resource, inputs, seen).waiting(seen):
        for action in waiting:
            outcome = Outcome("done", content=HttpAnswer(200, ""))
            if isinstance(action, HttpCall):
                outcome = answers.get(int(action.url.partition(":9090")[0].rpartition(".")[2]), outcome)
            seen = seen.with_outcome(action.id, outcome)
    return machine.advance(resource, inputs, seen)


def busy() -> Outcome:
    return Outcome("done", content=HttpAnswer(503, "busy"))


def told(step: Step) -> Json:
    """Return the conditions as type -> (status, reason, message)."""
    assert step.status is not None
    return {each["type"]: (each["status"], each["reason"], each["message"]) for each in step.status["conditions"]}


def events(step: Step) -> list[tuple[str, str, str]]:
    return [(event.sort, event.reason, event.message) for event in step.events]


def urls(step: Step) -> list[tuple[str, str]]:
    return [(action.method, action.url) for action in step.actions if isinstance(action, HttpCall)]


VALID = ("True", "ValidationPassed", "DynamoModel spec is valid")
FOUND = ("True", "ServicesFound", "Found 1 service(s)")


def test_row_e0_no_slices() -> None:
    step = ended(model())
    assert step.row == "E0"
    assert told(step) == {
        "Valid": VALID,
        "ServicesFound": ("False", "NoServicesFound", NO_SLICES),
        "EndpointsReady": ("False", "NoEndpoints", NO_SLICES),
    }
    assert step.status is not None
    assert (step.status["readyEndpoints"], step.status["totalEndpoints"], "endpoints" in step.status) == (0, 0, False)
    assert events(step) == [("Warning", "NoEndpointsFound", NO_SLICES)]
    assert step.look_again is None


def test_row_e0_slices_without_a_usable_endpoint() -> None:
    assert ended(model(), slices()).row == "E0"


def test_row_e1_an_adapter_that_every_pod_has_loaded() -> None:
    step = ended(model(), PAIR)
    assert step.row == "E1"
    assert told(step) == {
        "Valid": VALID,
        "ServicesFound": FOUND,
        "EndpointsReady": ("True", "AllEndpointsReady", "All 2 endpoint(s) are ready"),
    }
    assert step.status is not None
    assert step.status["endpoints"] == [
        {"address": "http://10.0.1.5:9090", "podName": "worker-0", "ready": True},
        {"address": "http://10.0.1.6:9090", "podName": "worker-1", "ready": True},
    ]
    assert (step.status["readyEndpoints"], step.status["totalEndpoints"]) == (2, 2)
    assert events(step) == [("Normal", "EndpointsReady", f"All 2 endpoints ready for base model {BASE}")]
    assert step.look_again is None


def test_row_e2_an_adapter_that_a_pod_refuses() -> None:
    """The worked example of section 4.5, whole."""
    step = ended(model(), PAIR, profile="0.9-shipped", answers={6: busy()})
    assert step.row == "E2"
    assert step.status == {
        "endpoints": [
            {"address": "http://10.0.1.5:9090", "podName": "worker-0", "ready": True},
            {"address": "http://10.0.1.6:9090", "podName": "worker-1", "ready": False},
        ],
        "readyEndpoints": 1,
        "totalEndpoints": 2,
        "conditions": [
            {
                "type": "Valid",
                "status": "True",
                "observedGeneration": 4,
                "reason": "ValidationPassed",
                "message": "DynamoModel spec is valid",
            },
            {
                "type": "ServicesFound",
                "status": "True",
                "observedGeneration": 4,
                "reason": "ServicesFound",
                "message": "Found 1 service(s)",
            },
            {
                "type": "EndpointsReady",
                "status": "False",
                "observedGeneration": 4,
                "reason": "NotReady",
                "message": "Found 1 ready endpoint(s) out of 2 total",
            },
        ],
    }
    assert events(step) == [
        ("Warning", "PartialEndpointFailure", "Some endpoints failed to load LoRA: 1 task(s) failed"),
        ("Warning", "NotReady", f"Only 1 of 2 endpoints ready for base model {BASE}"),
    ]
    assert step.look_again == 30


def test_row_e2_an_adapter_that_no_pod_has_loaded() -> None:
    step = ended(model(), PAIR, answers={5: busy(), 6: busy()})
    assert step.row == "E2"
    assert step.status is not None
    assert (step.status["readyEndpoints"], step.status["totalEndpoints"]) == (0, 2)


@pytest.mark.parametrize("kind", ["base", "adapter"])
def test_row_e3_a_model_that_is_not_loaded_by_calls(kind: str) -> None:
    step = ended(model(kind), PAIR)
    assert step.row == "E3"
    assert urls(step) == []
    assert told(step)["EndpointsReady"] == ("True", "EndpointsDiscovered", "Found 2 endpoint(s) for base model")
    assert step.status is not None
    assert [each["ready"] for each in step.status["endpoints"]] == [False, False]
    assert (step.status["readyEndpoints"], step.status["totalEndpoints"]) == (0, 2)
    assert events(step) == [("Normal", "EndpointsDiscovered", f"Discovered 2 endpoints for base model {BASE}")]
    assert step.look_again is None


def test_row_e4_an_adapter_without_a_source() -> None:
    """Validation keeps it from `advance`; the row is the end of such a pass all the same."""
    found = Discovery((Candidate("http://10.0.1.5:9090", "worker-0"),), 1)
    spec = ModelSpec(model_name="a", base_model_name=BASE, model_type="lora", source=None)
    step = telling.settled(telling.Sight(model=model(), spec=spec, found=found, tells_reasons=True), [])
    assert step.row == "E4"
    assert told(step)["EndpointsReady"] == ("False", "NoEndpoints", "No endpoints found")
    assert step.status is not None
    assert (step.status["readyEndpoints"], step.status["totalEndpoints"], "endpoints" in step.status) == (0, 0, False)
    failure = "Some endpoints failed to load LoRA: source URI is required for LoRA models"
    assert events(step) == [("Warning", "PartialEndpointFailure", failure)]
    assert step.look_again == 30


def test_slices_that_belong_to_no_service_are_told() -> None:
    found = slices("10.0.1.5", service="")
    no_service = ("False", "NoServicesFound", "No services associated with endpoint slices")
    assert told(ended(model(), found))["ServicesFound"] == no_service


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"modelName": "", "baseModelName": ""}, "spec.modelName is required"),
        ({"baseModelName": ""}, "spec.baseModelName is required"),
        ({"source": None}, "spec.source is required when modelType is 'lora'"),
        ({"source": {"uri": ""}}, "spec.source.uri must be specified when modelType is 'lora'"),
        ({"source": {"uri": "ftp://x"}}, "source URI must start with 's3://' or 'hf://', got: ftp://x"),
    ],
)
def test_row_v_tells_the_first_rule_that_fails(spec: Json, message: str) -> None:
    step = ended(model(**spec), PAIR)
    assert step.row == "V"
    assert told(step) == {"Valid": ("False", "ValidationFailed", f"Validation failed: {message}")}
    assert events(step) == [("Warning", "ValidationFailed", message)]
    assert step.actions == ()
    assert step.look_again is None


def test_row_v_keeps_what_was_told_of_endpoints() -> None:
    before = ended(model(), PAIR).status
    step = ended({**model(baseModelName=""), "status": before})
    assert step.status is not None
    assert before is not None
    kept = ("endpoints", "readyEndpoints", "totalEndpoints")
    assert {key: step.status[key] for key in kept} == {key: before[key] for key in kept}


def test_an_invalid_model_is_not_held() -> None:
    assert ended(model(held=False, modelName="")).actions == ()


def test_any_source_serves_a_model_that_is_no_adapter() -> None:
    assert ended(model("base", source={"uri": "ftp://x"}), PAIR).row == "E3"


def test_a_new_model_is_held_before_anything_is_called() -> None:
    actions = ended(model(held=False), PAIR).actions
    assert isinstance(actions[0], Finalizer)
    assert actions[0].wanted
    assert [type(action) for action in actions[1:]] == [HttpCall, HttpCall]


def test_an_adapter_is_loaded_into_every_pod_in_order() -> None:
    assert urls(ended(model(), PAIR)) == [
        ("POST", "http://10.0.1.5:9090/v1/loras"),
        ("POST", "http://10.0.1.6:9090/v1/loras"),
    ]


def test_an_address_that_slices_name_twice_is_called_once_and_told_twice() -> None:
    step = ended(model(), slices("10.0.1.5", "10.0.1.5"))
    assert len(urls(step)) == 1
    assert step.status is not None
    assert step.status["totalEndpoints"] == 2


def test_the_documented_profile_tells_why_a_pod_has_not_loaded_an_adapter() -> None:
    message = told(ended(model(), PAIR, answers={6: busy()}))["EndpointsReady"][2]
    expected = "Found 1 ready endpoint(s) out of 2 total; worker-1: load LoRA failed with status 503: busy"
    assert message == expected


def test_three_reasons_are_told_and_the_others_counted() -> None:
    found = slices(*(f"10.0.1.{last}" for last in range(1, 6)))
    message = told(ended(model(), found, answers={last: busy() for last in range(1, 6)}))["EndpointsReady"][2]
    assert message.count("busy") == 3
    assert message.endswith("; and 2 more")


def test_braces_in_a_name_are_only_text() -> None:
    assert "{total}" in events(ended(model(baseModelName="{total}")))[0][2]


def test_the_same_answers_lead_to_the_same_step() -> None:
    assert ended(model(), PAIR, answers={6: busy()}) == ended(model(), PAIR, answers={6: busy()})


def test_row_d0_a_model_that_is_no_adapter_is_let_go() -> None:
    step = ended(model("base", deleted=True), PAIR)
    assert (step.row, step.actions, step.events, step.status) == ("D0", (machine.RELEASE,), (), None)


def test_row_d1_an_adapter_without_pods_is_let_go() -> None:
    step = ended(model(deleted=True))
    assert (step.row, step.actions, step.events) == ("D1", (machine.RELEASE,), ())


def test_row_d2_an_adapter_is_taken_out_of_every_pod_and_let_go() -> None:
    step = ended(model(deleted=True), PAIR)
    assert step.row == "D2"
    assert urls(step) == [
        ("DELETE", "http://10.0.1.5:9090/v1/loras/acme/support"),
        ("DELETE", "http://10.0.1.6:9090/v1/loras/acme/support"),
    ]
    assert step.actions[-1] == machine.RELEASE
    assert events(step) == [("Normal", "LoRAUnloaded", "Unloaded LoRA from 2 endpoint(s)")]


def test_row_d3_a_pod_that_keeps_an_adapter_holds_up_nothing() -> None:
    missing = Outcome("done", content=HttpAnswer(404, "no such adapter"))
    step = ended(model(deleted=True), PAIR, profile="0.9-shipped", answers={6: missing})
    assert step.row == "D3"
    assert step.actions[-1] == machine.RELEASE
    failure = "Failed to unload LoRA from some endpoints: 1 task(s) failed"
    assert events(step) == [("Warning", "LoRAUnloadFailed", failure)]


def test_row_d3_a_name_that_is_no_address_holds_up_nothing() -> None:
    step = ended(model(modelName="50%", deleted=True), PAIR)
    assert (step.row, urls(step), step.actions) == ("D3", [], (machine.RELEASE,))


def undiscovered(resource: Json) -> Step:
    inputs = inputs_of(None, None, None)
    (lookup,) = machine.lookups(resource, inputs, Seen())
    assert lookup.optional
    return machine.advance(resource, inputs, Seen().with_trouble(lookup, "endpointslices is forbidden"))


def test_row_l_slices_that_cannot_be_looked_up_leave_the_status_as_it_is() -> None:
    step = undiscovered(model())
    assert (step.row, step.status, step.actions) == ("L", None, ())
    assert events(step) == [("Warning", "EndpointDiscoveryFailed", "endpointslices is forbidden")]
    assert "endpointslices is forbidden" in step.failure


def test_row_d4_slices_that_cannot_be_looked_up_hold_up_nothing() -> None:
    step = undiscovered(model(deleted=True))
    assert (step.row, step.actions, step.failure) == ("D4", (machine.RELEASE,), "")
    assert events(step) == [("Warning", "CleanupFailed", "endpointslices is forbidden")]


def test_row_stopped_what_others_hold_is_left_alone() -> None:
    assert ended(model(held=False, deleted=True), PAIR) == Step(row="stopped")


@pytest.mark.parametrize("profile", ["0.9", "0.9-shipped"])
def test_an_invalid_model_can_be_deleted(profile: str) -> None:
    step = ended(model(source={"uri": "ftp://x"}, deleted=True), profile=profile)
    assert step.actions == (machine.RELEASE,)


def test_a_model_without_a_name_calls_nobody_when_it_goes() -> None:
    """A DELETE of the empty name would be one of all adapters."""
    step = ended(model(modelName="", deleted=True), PAIR)
    assert step.actions == (machine.RELEASE,)


def test_a_model_without_a_base_looks_at_nothing() -> None:
    inputs = inputs_of(None, None, None)
    assert machine.lookups(model(baseModelName=""), inputs, Seen()) == ()


def test_slices_are_looked_up_by_the_hash_of_the_base_model() -> None:
    (lookup,) = machine.lookups(model(), inputs_of(None, None, None), Seen())
    assert (lookup.api_version, lookup.kind, lookup.namespace) == ("discovery.k8s.io/v1", "EndpointSlice", "team")
    assert lookup.labels == (("nvidia.com/dynamo-base-model-hash", "fb68f5a6"),)


def test_every_row_of_the_table_has_a_test_that_names_it() -> None:
    named = {name.split("_")[2].upper() for name in globals() if name.startswith("test_row_")}
    assert {name.upper() for name in ROWS} == named


def test_no_row_holds_what_another_value_could_change() -> None:
    for row in ROWS.values():
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            row.when = ""  # type: ignore[misc]

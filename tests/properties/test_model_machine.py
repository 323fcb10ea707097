"""Whatever happens to a model, its pods and its controller, in any order: it stays defined, and comes to the same end.

The world here stores one model as an API server does, and has pods that load adapters, refuse to, or never answer. A
controller makes passes over the model; any write of a pass can be lost, and with it the rest of the pass.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Mapping
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from dynamo_render import OperatorSettings, Outcome, Seen, machines
from dynamo_render.kinds.dynamo_model.table import ROWS
from dynamo_render.kinds.shared.conditions import with_transition_times
from dynamo_render.kinds.shared.machine import Action, Finalizer, HttpAnswer, HttpCall, Step
from dynamo_render.kube import names
from dynamo_render.profiles import PROFILES

Json = dict[str, Any]

LAW = {"uri": "s3://b/law"}
VALID: Json = {"modelName": "acme/law", "baseModelName": "acme/chat", "modelType": "lora", "source": LAW}
ANY = st.fixed_dictionaries(
    {
        "modelName": st.sampled_from(["acme/law", "acme/tax", "a b", "50%", ""]),
        "baseModelName": st.sampled_from(["acme/chat", "acme/code", ""]),
        "modelType": st.sampled_from(["lora", "base", "adapter"]),
    }
)
SOURCES = st.sampled_from([LAW, {"uri": "hf://acme/law"}, {"uri": ""}, {"uri": "ftp://x"}])
SPECS = st.one_of(
    st.just(VALID),
    ANY.map(lambda spec: {**spec, "source": LAW}),
    st.builds(lambda spec, source: {**spec, "source": source}, ANY, SOURCES),
    ANY,
)
BASES = st.sampled_from(["acme/chat", "acme/chat", "acme/code"])
HOSTS = [f"10.0.0.{last}" for last in range(1, 5)]
SLICES = st.sampled_from(["first", "second"])
MOODS = st.sampled_from(["loads", "refuses", "fails inside", "never answers"])
CONDITIONS = ("Valid", "ServicesFound", "EndpointsReady")
MOST_ROUNDS = 10


class Lost(Exception):
    """A write did not arrive, and whoever made it is gone."""


class World:
    """One model as it is stored, the slices of its namespace, and its pods."""

    def __init__(self, spec: Json, profile: str) -> None:
        self.settings = OperatorSettings(profile=profile)
        metadata: Json = {"name": "m", "namespace": "team", "generation": 1, "finalizers": []}
        self.model: Json | None = {
            "apiVersion": "nvidia.com/v1alpha1",
            "kind": "DynamoModel",
            "metadata": metadata,
            "spec": spec,
        }
        self.slices: dict[str, Json] = {}
        self.moods: dict[str, str] = {}
        self.loaded: set[str] = set()
        self.called: set[str] = set()
        self.called_unheld = False
        self.time = 0

    def passed(self, *, lost: int | None = None) -> Step | None:
        """Make a pass and return its last step; of its writes, that of number *lost* does not arrive."""
        if self.model is None:
            return None
        resource, seen, writes = copy.deepcopy(self.model), Seen(), 0
        for _round in range(MOST_ROUNDS):
            for lookup in machines.lookups(resource, settings=self.settings, seen=seen):
                assert lookup.namespace == "team"
                seen = seen.with_found(lookup, [each for each in self.slices.values() if lookup.takes(each)])
            step = machines.advance(resource, settings=self.settings, seen=seen)
            waiting = step.waiting(seen)
            if not waiting:
                break
            for action in waiting:
                if isinstance(action, Finalizer):
                    writes += 1
                    if writes == lost:
                        raise Lost
                seen = seen.with_outcome(action.id, self._outcome(action))
        else:
            raise AssertionError("the pass does not end")
        if step.status is not None and lost != writes + 1:
            self._tell(step.status)
        return step

    def _tell(self, status: Json) -> None:
        assert self.model is not None
        self.time += 1
        self.model["status"] = copy.deepcopy(with_transition_times(status, self.model.get("status"), str(self.time)))

    def _outcome(self, action: Action) -> Outcome:
        assert self.model is not None
        if isinstance(action, HttpCall):
            return self._answer(action)
        assert isinstance(action, Finalizer)
        self.model["metadata"]["finalizers"] = ["nvidia.com/finalizer"] if action.wanted else []
        if not action.wanted:
            assert "deletionTimestamp" in self.model["metadata"]
            self.model = None
        return Outcome("done")

    def _answer(self, call: HttpCall) -> Outcome:
        assert self.model is not None
        host = call.url.removeprefix("http://").partition(":9090/v1/loras")[0]
        self.called.add(host)
        self.called_unheld |= not self.model["metadata"]["finalizers"]
        mood = self.moods.get(host, "loads")
        if mood == "never answers":
            return Outcome("refused", "no whole answer within 15 s")
        if mood == "refuses":
            return Outcome("done", content=HttpAnswer(503, "busy"))
        if mood == "fails inside":
            return Outcome("done", content=HttpAnswer(200, '{"status": "error"}'))
        (self.loaded.add if call.method == "POST" else self.loaded.discard)(host)
        return Outcome("done", content=HttpAnswer(200, '{"status": "success"}'))

    def named(self) -> set[str]:
        """Return the hosts that slices of the model's base name."""
        assert self.model is not None
        label = names.model_hash(self.model["spec"]["baseModelName"])
        found = [each for each in self.slices.values() if label in each["metadata"]["labels"].values()]
        return {address for each in found for endpoint in each["endpoints"] for address in endpoint["addresses"]}


def a_slice(name: str, base: str, hosts: list[str]) -> Json:
    endpoints = [{"addresses": [host], "targetRef": {"kind": "Pod", "name": f"pod-{host}"}} for host in hosts]
    labels = {"nvidia.com/dynamo-base-model-hash": names.model_hash(base), "kubernetes.io/service-name": "s"}
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": name, "namespace": "team", "labels": labels},
        "endpoints": endpoints,
    }


class ModelMachine(RuleBasedStateMachine):
    """Random sequences of what users, pods, slices and a dying controller do."""

    @initialize(spec=SPECS, profile=st.sampled_from(sorted(PROFILES)), pods=st.booleans())
    def create(self, spec: Json, profile: str, pods: bool) -> None:  # noqa: FBT001 - drawn
        self.world = World(spec, profile)
        if pods:
            self.world.slices["first"] = a_slice("first", "acme/chat", HOSTS[:2])
        self.told: set[str] = set()

    def is_there(self) -> bool:
        return self.world.model is not None

    def is_held(self) -> bool:
        return self.world.model is not None and bool(self.world.model["metadata"]["finalizers"])

    @precondition(lambda self: not self.is_there())
    @rule(spec=SPECS)
    def create_again(self, spec: Json) -> None:
        world = World(spec, self.world.settings.profile)
        world.slices, world.moods = self.world.slices, self.world.moods
        self.world = world

    @precondition(is_there)
    @rule(spec=SPECS)
    def edit(self, spec: Json) -> None:
        assert self.world.model is not None
        self.world.model["spec"] = copy.deepcopy(spec)
        self.world.model["metadata"]["generation"] += 1

    @rule(
        name=st.sampled_from(["first", "second"]),
        base=BASES,
        hosts=st.lists(st.sampled_from(HOSTS), min_size=1, max_size=3),
    )
    def change_slice(self, name: str, base: str, hosts: list[str]) -> None:
        self.world.slices[name] = a_slice(name, base, hosts)

    @rule(name=SLICES)
    def remove_slice(self, name: str) -> None:
        self.world.slices.pop(name, None)

    @rule(host=st.sampled_from(HOSTS), mood=MOODS)
    def change_pod(self, host: str, mood: str) -> None:
        self.world.moods[host] = mood
        self.world.loaded.discard(host)

    @precondition(lambda self: self.is_held())
    @rule()
    def delete(self) -> None:
        assert self.world.model is not None
        self.world.model["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"

    @precondition(is_there)
    @rule()
    def make_a_pass(self) -> None:
        self.world.called.clear()
        allowed, before = self.world.named(), self.status().get("endpoints")
        step = self.world.passed()
        assert step is not None
        assert step.row in ROWS
        assert self.world.called <= allowed
        assert step.row != "V" or self.status().get("endpoints") == before

    @precondition(is_there)
    @rule(number=st.integers(1, 3))
    def die_in_a_pass(self, number: int) -> None:
        """Whatever a pass has lost, the next ones come to where undisturbed ones do."""
        undisturbed = copy.deepcopy(self.world)
        for _pass in range(2):
            undisturbed.passed()
        with contextlib.suppress(Lost):
            self.world.passed(lost=number)
        for _pass in range(2):
            self.world.passed()
        assert without_times(self.world.model) == without_times(undisturbed.model)
        assert self.world.loaded == undisturbed.loaded

    @precondition(is_there)
    @rule()
    def repeat_a_pass(self) -> None:
        """A pass that nothing has happened before changes nothing, times included."""
        self.world.passed()
        before = copy.deepcopy(self.world.model)
        self.world.passed()
        assert self.world.model == before

    @precondition(lambda self: self.is_held())
    @rule(spec=SPECS)
    def delete_for_good(self, spec: Json) -> None:
        """Nothing holds up a deletion: neither what pods do nor what the spec has become just before."""
        self.edit(spec)
        self.delete()
        for _pass in range(2):
            self.world.passed()
        assert self.world.model is None

    @invariant()
    def nobody_is_called_for_a_model_that_is_not_held(self) -> None:
        assert not self.world.called_unheld

    @invariant()
    def no_condition_is_lost_or_told_twice(self) -> None:
        told = [each["type"] for each in self.status().get("conditions", ())]
        assert len(set(told)) == len(told)
        assert set(told) <= set(CONDITIONS)
        assert not self.is_there() or self.told <= set(told)
        self.told = set(told)

    @invariant()
    def counts_are_those_of_the_endpoints(self) -> None:
        status = self.status()
        endpoints = status.get("endpoints", [])
        assert status.get("totalEndpoints", 0) == len(endpoints)
        assert status.get("readyEndpoints", 0) == sum(each["ready"] for each in endpoints)

    def status(self) -> Mapping[str, Any]:
        return (self.world.model or {}).get("status", {})


def without_times(model: Json | None) -> Json | None:
    if model is None or "status" not in model:
        return model
    conditions = [
        {key: value for key, value in each.items() if key != "lastTransitionTime"}
        for each in model["status"]["conditions"]
    ]
    return {**model, "status": {**model["status"], "conditions": conditions}}


TestModelMachine = ModelMachine.TestCase
TestModelMachine.settings = settings(stateful_step_count=50, deadline=None)

"""Whatever happens to a request, in whatever order: it is always in a state of its table, and tells nothing false."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from dynamo_render import OperatorSettings
from dynamo_render.kinds.dynamo_graph_deployment_request.transitions import STATES, TERMINAL, TRANSITIONS
from dynamo_render.kinds.shared.machine import Outcome
from tests.request_passes import DATA, SETTINGS, SHIPPED, Json, Pass, config_map, generated, job, output, request, role

OUTPUTS: dict[str, Callable[[], Json]] = {
    "a graph": lambda: output(generated()),
    "a graph and data": output,
    "no graph": lambda: output(DATA),
    "two graphs": lambda: output(generated("one"), generated("two")),
    "a graph of wrong types": lambda: output({**generated(), "spec": {"services": 3}}),
    "no YAML": lambda: config_map("dgdr-output-tiny", config_with_planner__yaml="a: [", other="x"),
    "another key": lambda: config_map("dgdr-output-tiny", other="x"),
}
CONFIGURATIONS: tuple[Json, ...] = ({}, {"sweep": {"useAiConfigurator": True}}, {"deployment": 3})
GENERATED = "generatedDeployment"


class Requests(RuleBasedStateMachine):
    """One request and everything around it, of which users, jobs and graphs change anything at any time."""

    settings: OperatorSettings

    @initialize(
        auto=st.booleans(),
        config=st.sampled_from(CONFIGURATIONS),
        base=st.booleans(),
        passes=st.integers(0, 5),
        left=st.one_of(st.just("a graph and data"), st.sampled_from(sorted(OUTPUTS))),
    )
    def begin(self, *, auto: bool, config: Json, base: bool, passes: int, left: str) -> None:
        """Start at any stage: by chance alone, few requests would come far."""
        more: Json = {"configMapRef": {"name": "base"}} if base else {}
        self.resource = copy.deepcopy(request(config=config, autoApply=auto, **more))
        self.objects: list[Json] = [role(), config_map("base", disagg__yaml="")]
        self.original = copy.deepcopy(self.resource["spec"])
        self.types: list[str] = []
        self.end: Json | None = None
        self.was_generated: Any = None
        for _pass in range(passes):
            self.a_pass_is_made()
            if self.names("Job"):
                self.replaced(job("Complete"))
                self.replaced(OUTPUTS[left]())

    def go(self, *objects: Json, refused: dict[str, Outcome] | None = None) -> Pass:
        return Pass(copy.deepcopy(self.resource), *copy.deepcopy(objects), settings=self.settings, refused=refused)

    @rule()
    def a_pass_is_made(self) -> None:
        done = self.go(*self.objects)
        self.resource, self.objects = done.after, done.objects
        assert done.step.row in TRANSITIONS or not done.step.row

    @rule()
    def a_pass_is_made_twice_because_its_status_was_lost(self) -> None:
        first = self.go(*self.objects)
        kept = {key: value for key, value in self.resource.items() if key == "status"}
        lost = {key: value for key, value in first.resource.items() if key != "status"}
        second = Pass({**lost, **kept}, *copy.deepcopy(first.objects), settings=self.settings)
        assert second.status == first.status
        assert second.objects == first.objects
        self.resource, self.objects = second.after, second.objects

    @rule()
    def the_job_ends_before_a_lost_status_is_made_up_for(self) -> None:
        """The output of this run must not be taken for that of an earlier one."""
        first = self.go(*self.objects)
        if self.status.get("state") != "Pending" or first.step.row != "T4":
            return
        self.objects = first.objects
        self.replaced(job("Complete"))
        self.replaced(output())
        second = self.go(*self.objects)
        assert second.step.row == "T4"
        assert output() in second.objects
        self.resource, self.objects = second.after, second.objects

    @rule(action=st.sampled_from(["graph", "ConfigMap 0", "job", "account", "binding", "stale output"]))
    def something_is_refused(self, action: str) -> None:
        done = self.go(*self.objects, refused={action: Outcome("refused", "no")})
        self.resource, self.objects = done.after, done.objects

    @rule(model=st.sampled_from(["acme/other", "acme/chat"]), auto=st.booleans())
    def the_spec_is_edited(self, *, model: str, auto: bool) -> None:
        spec = {**self.resource["spec"], "model": model, "autoApply": auto}
        self.changed(spec)

    @rule()
    def the_spec_is_reverted(self) -> None:
        self.changed(copy.deepcopy(self.original))

    def changed(self, spec: Json) -> None:
        if spec != self.resource["spec"]:
            metadata = {**self.resource["metadata"], "generation": self.resource["metadata"]["generation"] + 1}
            self.resource = {**self.resource, "metadata": metadata, "spec": spec}

    @rule(conditions=st.sampled_from([(), ("Suspended",), ("Complete",), ("FailureTarget", "Failed")]))
    def the_job_ends(self, conditions: tuple[str, ...]) -> None:
        if self.names("Job"):
            self.replaced(job(*conditions, message="so it goes"))

    @rule(
        sort=st.sampled_from(["Job", "ConfigMap", "DynamoGraphDeployment", "ClusterRole", "RoleBinding"]),
        chance=st.integers(0, 3),
    )
    def something_is_deleted(self, sort: str, chance: int) -> None:
        if chance:
            return
        self.objects = [each for each in self.objects if each["kind"] != sort]

    @rule(name=st.sampled_from(sorted(OUTPUTS)))
    def output_appears(self, name: str) -> None:
        self.replaced(OUTPUTS[name]())

    @rule()
    def a_base_graph_appears(self) -> None:
        self.replaced(config_map("base", disagg__yaml=""))

    @rule(state=st.sampled_from(["", "pending", "successful", "failed"]))
    def graphs_go_on(self, state: str) -> None:
        for each in self.objects:
            if each["kind"] == "DynamoGraphDeployment":
                each["status"] = {"state": state}

    @rule(name=st.sampled_from(["tiny", "gen"]))
    def somebody_else_makes_a_graph(self, name: str) -> None:
        if name not in self.names("DynamoGraphDeployment"):
            self.objects.append(generated(name, namespace="team", uid="theirs"))

    def names(self, sort: str) -> list[str]:
        return [each["metadata"]["name"] for each in self.objects if each["kind"] == sort]

    def replaced(self, made: Json) -> None:
        self.objects = [each for each in self.objects if self.place(each) != self.place(made)] + [made]

    @staticmethod
    def place(each: Json) -> tuple[str, str]:
        return each["kind"], each["metadata"]["name"]

    @property
    def status(self) -> Json:
        return dict(self.resource.get("status", {}))

    @invariant()
    def the_state_is_one_of_the_table(self) -> None:
        assert self.status.get("state", "") in STATES

    @invariant()
    def no_condition_is_lost_and_none_stands_twice(self) -> None:
        types = [each["type"] for each in self.status.get("conditions", ())]
        assert types[: len(self.types)] == self.types
        assert len(types) == len(set(types))
        self.types = types

    @invariant()
    def a_terminal_state_is_the_end(self) -> None:
        if self.end is not None:
            assert self.status["state"] == self.end["state"]
            assert {**self.status, "conditions": [], "observedGeneration": 0} == {
                **self.end,
                "conditions": [],
                "observedGeneration": 0,
            }
        elif self.status.get("state") in TERMINAL:
            self.end = copy.deepcopy(self.status)

    @invariant()
    def what_was_generated_never_changes(self) -> None:
        if self.was_generated is not None:
            assert self.status[GENERATED] == self.was_generated
        self.was_generated = self.status.get(GENERATED)

    @invariant()
    def ready_and_failed_say_why(self) -> None:
        told = {each["type"]: each["status"] for each in self.status.get("conditions", ())}
        state = self.status.get("state")
        if state == "Failed":
            assert "False" in (told.get("Validation"), told.get("Profiling"), told.get("SpecGenerated"))
        if state in {"Ready", "Deploying", "DeploymentDeleted"}:
            assert told["SpecGenerated"] == "True"
            assert self.status.get(GENERATED)

    @rule()
    def passes_come_to_rest(self) -> None:
        """Without anything new, a few passes later nothing is written any more."""
        resource, objects = copy.deepcopy(self.resource), copy.deepcopy(self.objects)
        for _pass in range(6):
            done = Pass(resource, *objects, settings=self.settings)
            resource, objects = done.after, done.objects
        assert done.step.status is None
        assert done.step.look_again != 0


class DocumentedRequests(Requests):
    settings = SETTINGS


class ShippedRequests(Requests):
    settings = SHIPPED


@pytest.mark.parametrize("sort", [DocumentedRequests, ShippedRequests])
def test_whatever_happens_a_request_stays_in_its_table(sort: Any) -> None:
    case = sort.TestCase
    case.settings = settings(stateful_step_count=30)
    case("runTest").runTest()

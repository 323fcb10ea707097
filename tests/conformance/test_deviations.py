"""The tables of deliberate differences are complete, and their rules tell the difference from a mistake."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance import deviations
from tests.conformance.deviation_rules import RULES
from tests.conformance.story_differences import Difference, differences
from tests.conformance.story_states import State

Json = dict[str, Any]
GRAPH, ADAPTER = "DynamoGraphDeployment/chat", "DynamoGraphDeploymentScalingAdapter/chat-worker"
MODEL = "DynamoModel/law"
REQUEST = "DynamoGraphDeploymentRequest/tiny"
STEP: Json = {"merge": {"kind": "DynamoGraphDeployment", "name": "chat", "patch": {"spec": {}}}}


def state(objects: Json | None = None, written: Json | None = None, step: Json = STEP, **resources: Json) -> State:
    names = {"graph": GRAPH, "adapter": ADAPTER, "model": MODEL, "request": REQUEST}
    named = {names[key]: value for key, value in resources.items()}
    return State(step, named, objects or {}, written or {})


def found(theirs: list[State], mine: list[State]) -> list[Difference]:
    return [each for each in differences("made-up", theirs, mine) if len(each.theirs) == len(theirs)]


def rules_of(theirs: list[State], mine: list[State]) -> set[str]:
    """Return the rules of all rows that cover a difference after the last step."""
    (only,) = found(theirs, mine)
    return {row.rule for row in deviations.all_rows() if row.covers(only)}


def test_rows_and_rules_are_the_same() -> None:
    assert sorted(row.rule for row in deviations.all_rows()) == sorted(RULES)


def test_every_row_has_a_reason() -> None:
    assert [row.rule for row in deviations.all_rows() if not (row.reason and row.kinds and row.fields)] == []


def test_an_error_may_keep_what_was_told_of_services() -> None:
    services = {"Worker": {"replicas": 1}}
    before = state(graph={"state": "successful", "services": services})
    theirs = [before, state(graph={"state": "failed"})]
    assert rules_of(theirs, [before, state(graph={"state": "failed", "services": services})]) == {"error keeps"}


def test_an_error_may_not_tell_of_other_services_than_before() -> None:
    before = state(graph={"state": "successful", "services": {"Worker": {"replicas": 1}}})
    theirs = [before, state(graph={"state": "failed"})]
    assert (
        rules_of(theirs, [before, state(graph={"state": "failed", "services": {"Worker": {"replicas": 2}}})]) == set()
    )


def test_the_objects_of_a_service_may_follow_its_adapter() -> None:
    deployment = {"Deployment/chat-worker": {"spec": {"replicas": 1}}}
    scaled = {"Deployment/chat-worker": {"spec": {"replicas": 3}}}
    (adapter, count) = found([state(deployment, adapter={"replicas": 1})], [state(scaled, adapter={"replicas": 3})])
    assert RULES["adapter owns"](adapter)
    assert RULES["adapter owns"](count)


def test_the_objects_of_another_service_do_not_follow_an_adapter() -> None:
    theirs = state({"Deployment/chat-frontend": {"spec": {"replicas": 1}}}, adapter={"replicas": 1})
    mine = state({"Deployment/chat-frontend": {"spec": {"replicas": 3}}}, adapter={"replicas": 3})
    count = next(each for each in found([theirs], [mine]) if each.kind == "Deployment")
    assert not RULES["adapter owns"](count)


def test_a_crash_of_the_released_operator_explains_the_state() -> None:
    told = {"condition Ready": "True all_resources_are_ready"}
    assert rules_of([state(graph={"condition Ready": "False undefined"})], [state(graph=told)]) == {"crashed pass"}


def test_a_complete_restart_is_only_put_off_while_it_is_parallel() -> None:
    restart = {"id": "r1", "strategy": {"type": "Sequential"}}
    theirs = state(graph={"restart": {"observedID": "r1", "phase": "Completed"}})
    mine = {"observedID": "r1", "phase": "Restarting", "inProgress": ["Worker"]}
    metadata = {"name": "chat"}
    written = {GRAPH: {"kind": "DynamoGraphDeployment", "metadata": metadata, "spec": {"restart": restart}}}
    assert rules_of([theirs], [state(None, written, graph={"restart": mine})]) == set()
    restart["strategy"] = {"type": "Parallel"}
    assert rules_of([theirs], [state(None, written, graph={"restart": mine})]) == {"parallel restart"}


@pytest.mark.parametrize("patch", [{"spec": {"backendFramework": "vllm"}}, {"metadata": {}, "spec": {}}])
def test_a_change_that_the_released_operator_watches_excuses_nothing(patch: Json) -> None:
    step = {"merge": {"kind": "DynamoGraphDeployment", "name": "chat", "patch": patch}}
    before = state(graph={"state": "pending"})
    assert (
        rules_of([before, state(step=step, graph={"state": "pending"})], [before, state(graph={"state": "x"})]) == set()
    )


def test_a_change_of_annotations_excuses_what_has_not_changed_since() -> None:
    step = {"merge": {"kind": "DynamoGraphDeployment", "name": "chat", "patch": {"metadata": {"annotations": {}}}}}
    before = state(graph={"state": "pending"})
    theirs = [before, state(step=step, graph={"state": "pending"})]
    assert rules_of(theirs, [before, state(step=step, graph={"state": "successful"})]) == {"unnoticed change"}


def test_an_object_of_nobody_is_foreign_only_if_a_story_made_it() -> None:
    content = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "chat"}}
    theirs = [state({"Service/chat": {"metadata": {}, "spec": {"type": "ClusterIP"}}})]
    mine = {"Service/chat": {"metadata": {}, "spec": {"type": "NodePort"}}}
    assert rules_of(theirs, [state(mine)]) == set()
    assert rules_of(theirs, [state(mine, step={"apply": content})]) == {"foreign object"}


def test_a_state_that_never_comes_to_rest_is_a_difference_that_nothing_explains() -> None:
    restless = State(STEP, {}, {}, settled=False)
    assert rules_of([state()], [restless]) == set()


EDIT: Json = {"merge": {"kind": "DynamoModel", "name": "law", "patch": {"spec": {}}}}


def test_a_model_may_be_told_valid_before_the_released_operator_tells_it() -> None:
    mine = state(step=EDIT, model={"condition Valid": "True ValidationPassed"})
    assert rules_of([state(step=EDIT, model={})], [mine]) == {"valid at first"}


def test_a_model_may_not_be_told_invalid_where_the_released_operator_finds_nothing() -> None:
    mine = state(step=EDIT, model={"condition Valid": "False ValidationFailed"})
    assert rules_of([state(step=EDIT, model={})], [mine]) == set()


def test_a_model_that_became_invalid_may_go() -> None:
    theirs = state(step=EDIT, model={"condition Valid": "False ValidationFailed"})
    assert rules_of([theirs], [state(step=EDIT)]) == {"invalid model goes"}


def test_a_valid_model_may_not_go() -> None:
    theirs = state(step=EDIT, model={"condition Valid": "True ValidationPassed"})
    assert rules_of([theirs], [state(step=EDIT)]) == set()


def test_a_request_may_go_on_after_an_edit_that_stops_the_released_operator() -> None:
    theirs = [state(request={"state": "Profiling", "processed": False})]
    assert rules_of(theirs, [state(request={"state": "Ready", "processed": False})]) == {"frozen request"}


def test_a_request_that_was_not_edited_may_not_differ() -> None:
    theirs = [state(request={"state": "Profiling", "processed": True})]
    assert rules_of(theirs, [state(request={"state": "Ready", "processed": True})]) == set()


def test_the_end_of_profiling_may_be_told_where_the_released_operator_has_lost_it() -> None:
    lost = {"condition Profiling": "False ProfilingRunning", "condition SpecGenerated": "True SpecGenerated"}
    told = {**lost, "condition Profiling": "True ProfilingSucceeded"}
    assert rules_of([state(request=lost)], [state(request=told)]) == {"profiling told"}


def test_the_end_of_profiling_may_not_be_told_before_it_comes() -> None:
    running = {"condition Profiling": "False ProfilingRunning"}
    assert (
        rules_of([state(request=running)], [state(request={"condition Profiling": "True ProfilingSucceeded"})]) == set()
    )


SERVICE = "Service/chat"


def test_an_edit_that_was_never_seen_is_undone() -> None:
    kept, edited = {SERVICE: {"spec": {"type": "ClusterIP"}}}, {SERVICE: {"spec": {"type": "NodePort"}}}
    edit = {"merge": {"kind": "Service", "name": "chat", "patch": {"spec": {"type": "NodePort"}}}}
    theirs = [state(kept), state(edited, step=edit), state(edited)]
    assert rules_of(theirs, [state(kept), state(kept, step=edit), state(kept)]) == {"edited child"}
    other = {SERVICE: {"spec": {"type": "LoadBalancer"}}}
    assert rules_of(theirs, [state(kept), state(kept, step=edit), state(other)]) == set()


def test_a_model_service_may_belong_to_either_component_of_the_model() -> None:
    name = "Service/dynamo-model-12345678"
    spec = {"modelRef": {"name": "m"}}
    written = {
        f"DynamoComponentDeployment/{each}": {
            "kind": "DynamoComponentDeployment",
            "metadata": {"name": each},
            "spec": spec,
        }
        for each in ("chat-a", "chat-b")
    }
    theirs = state({name: {"metadata": {"ownerReferences": [{"name": "chat-a"}]}}})
    for owner, rules in (("chat-b", {"first owner"}), ("somebody", set())):
        mine = state({name: {"metadata": {"ownerReferences": [{"name": owner}]}}}, written)
        assert rules_of([theirs], [mine]) == rules


def test_what_a_failed_component_lacks_is_only_excused_where_both_failed() -> None:
    def failing(text: str) -> State:
        return state(adapter={"condition Available": text})

    pod_group: Json = {"PodGroup/chat-0": {"spec": {}}}
    theirs = State(STEP, failing("False Reconciling").resources, pod_group)
    assert rules_of([theirs], [failing("False Reconciling")]) == {"all or nothing"}
    theirs = State(STEP, failing("True DeploymentReady").resources, pod_group)
    assert rules_of([theirs], [failing("True DeploymentReady")]) == set()


def test_what_comes_after_an_object_in_the_way_is_only_excused_where_the_released_operator_failed() -> None:
    told = {"conditions": [{"type": "Ready", "message": "not changed, because another owner has them: Service"}]}
    written = {GRAPH: {"kind": "DynamoGraphDeployment", "metadata": {"name": "chat"}, "status": told}}
    mine = state({"Deployment/chat": {"spec": {}}}, written, graph={"state": "failed"})
    assert rules_of([state(graph={"state": "failed"})], [mine]) == {"foreign object"}
    mine = state({"Deployment/chat": {"spec": {}}}, written, graph={"state": "successful"})
    assert rules_of([state(graph={"state": "successful"})], [mine]) == set()


def test_only_a_pull_secret_of_the_story_may_be_used_early() -> None:
    def pods(*names: str) -> Json:
        return {"Deployment/chat": {"spec": {"imagePullSecrets": [{"name": name} for name in names]}}}

    secret = {"apply": {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "new"}}}
    theirs = [state(step=secret), state(pods("old"))]
    assert rules_of(theirs, [state(step=secret), state(pods("old", "new"))]) == {"fresh pull secret"}
    assert rules_of(theirs, [state(step=secret), state(pods("old", "other"))]) == set()
    assert rules_of(theirs, [state(step=secret), state(pods("new"))]) == set()


def test_a_field_that_a_user_has_added_may_stay() -> None:
    name = "Deployment/chat"
    edit = {"merge": {"kind": "Deployment", "name": "chat", "patch": {"spec": {"paused": True, "replicas": 5}}}}
    before = {name: {"spec": {"replicas": 1}}}
    theirs = [state(before), state(before, step=edit), state(before)]
    kept, other = {name: {"spec": {"replicas": 1, "paused": True}}}, {name: {"spec": {"replicas": 5}}}
    assert rules_of(theirs, [state(before), state(kept, step=edit), state(kept)]) == {"foreign field"}
    assert rules_of(theirs, [state(before), state(other, step=edit), state(other)]) == set()

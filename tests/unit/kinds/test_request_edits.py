"""Which edits of a request admission refuses."""

from __future__ import annotations

import pytest

from dynamo_render import validate
from dynamo_render.kinds.dynamo_graph_deployment_request.transitions import STATES
from tests.request_passes import Json, in_state, request, request_at_first


def edited(old: Json, **spec: object) -> Json:
    return {**request_at_first(old), "spec": {**old["spec"], **spec}}


def is_refused(old: Json, new: Json) -> bool:
    return "DGDR-U01" in {problem.rule for problem in validate(new, old=old)}


@pytest.mark.parametrize("state", STATES)
def test_an_edit_is_refused_from_the_start_of_profiling_unless_the_request_has_failed(state: str) -> None:
    assert is_refused(in_state(state), edited(in_state(state), model="acme/other")) == (state not in {"", "Failed"})


def test_an_update_that_changes_no_spec_is_admitted() -> None:
    old = in_state("Profiling")
    new = {**request_at_first(old), "metadata": {**old["metadata"], "labels": {"a": "b"}}}
    assert not is_refused(old, new)


def test_a_default_that_is_written_out_is_no_edit() -> None:
    old = in_state("Profiling")
    assert not is_refused(old, edited(old, autoApply=False))


def test_an_edit_that_slipped_through_can_be_taken_back_and_not_made_another() -> None:
    slipped = {**in_state("Profiling"), "spec": {**request()["spec"], "model": "acme/other"}}
    assert not is_refused(slipped, edited(slipped, model="acme/chat"))
    assert is_refused(slipped, edited(slipped, model="acme/third"))


@pytest.mark.parametrize("note", ["", "{", "3", "[]", "null"])
def test_a_note_that_somebody_has_spoiled_excuses_no_edit(note: str) -> None:
    old = in_state("Profiling")
    old["metadata"]["annotations"]["dgdr.nvidia.com/started-from"] = note
    assert is_refused(old, edited(old, model="acme/other"))

"""Our statuses are those of the released operator, story by story, but for the differences that the docs list."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tests.conformance import behaviour, deviations, story_states
from tests.conformance.story_differences import differences
from tests.conformance.story_states import Json, State

STORIES = story_states.stories()
NAMES: list[Any] = list(STORIES) or [
    pytest.param("", marks=pytest.mark.skip(reason="no recorded stories beside the repository"), id="absent")
]


@cache
def played(story: str) -> tuple[State, ...]:
    return tuple(behaviour.played_states(STORIES[story]))


@pytest.mark.parametrize("story", NAMES)
def test_statuses_differ_from_the_recorded_ones_only_where_the_docs_say_so(story: str) -> None:
    recorded = story_states.recorded_states(STORIES[story])
    assert deviations.unexplained(differences(story, recorded, played(story))) == []


@pytest.mark.parametrize("story", NAMES)
def test_every_resource_of_every_step_is_compared(story: str) -> None:
    """A component deployment that is gone with its graph is not; whether it is, the real cluster tells."""
    wanted = [sorted(entry["resources"]) for entry in STORIES[story]["trace"]]
    assert [sorted(state.resources) for state in played(story)] == wanted
    assert any(state.written for state in played(story))


@pytest.mark.parametrize("story", NAMES)
def test_every_condition_says_which_generation_it_is_about(story: str) -> None:
    statuses = [live.get("status") or {} for state in played(story) for live in state.written.values()]
    conditions: list[Json] = [condition for status in statuses for condition in status.get("conditions", ())]
    assert conditions
    assert [condition for condition in conditions if not condition.get("observedGeneration")] == []


def test_the_stories_hold_what_they_are_here_for() -> None:
    """A replay that tells nothing would agree with everything."""
    if not STORIES:
        pytest.skip("no recorded stories beside the repository")
    told = [dict(fields) for story in STORIES for state in played(story) for fields in state.resources.values()]
    assert {status.get("state") for status in told} >= {"successful", "pending", "failed"}
    assert any(status.get("restart", {}).get("phase") == "Completed" for status in told)

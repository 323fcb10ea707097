"""Our statuses are those of the released operator, story by story, but for the differences that the docs list."""

from __future__ import annotations

from functools import cache

import pytest

from tests.conformance import behaviour, differences
from tests.conformance.behaviour import Json, Moment
from tests.conformance.differences import Place

STORIES = {story["id"]: story for story in behaviour.stories()}
NAMES = list(STORIES) or [
    pytest.param("", marks=pytest.mark.skip(reason="no recorded stories beside the repository"), id="absent")
]


@cache
def moments(story: str) -> tuple[Moment, ...]:
    return tuple(behaviour.moments(STORIES[story]))


def unequal_places(story: str) -> set[Place]:
    return {Place(story, seen.step, seen.kind, field) for seen in moments(story) for field in seen.unequal()}


@pytest.mark.parametrize("story", NAMES)
def test_statuses_differ_from_the_recorded_ones_exactly_where_the_docs_say_so(story: str) -> None:
    listed = {place for row in differences.rows() for place in row.places if place.story == story}
    assert unequal_places(story) == listed


@pytest.mark.parametrize("story", NAMES)
def test_every_step_that_has_resources_and_came_to_rest_is_compared(story: str) -> None:
    wanted = {
        (step, name)
        for step, entry in enumerate(STORIES[story]["trace"])
        for name in entry["resources"]
        if not entry.get("unsettled")
    }
    assert {(seen.step, f"{seen.kind}/{seen.name}") for seen in moments(story)} == wanted


@pytest.mark.parametrize("story", NAMES)
def test_every_condition_says_which_generation_it_is_about(story: str) -> None:
    conditions = [condition for seen in moments(story) for condition in seen.ours.get("conditions", ())]
    assert [condition for condition in conditions if not condition.get("observedGeneration")] == []


def test_every_difference_has_a_reason_and_no_place_is_listed_twice() -> None:
    rows = differences.rows()
    places = [place for row in rows for place in row.places]
    assert len(places) == len(set(places))
    assert [row for row in rows if not row.reason or not row.places] == []


def test_the_stories_hold_what_they_are_here_for() -> None:
    """A replay that tells nothing would agree with everything."""
    if not STORIES:
        pytest.skip("no recorded stories beside the repository")
    told: list[Json] = [dict(seen.ours) for story in STORIES for seen in moments(story)]
    assert {status.get("state") for status in told} >= {"successful", "pending", "failed"}
    assert any(status.get("restart", {}).get("phase") == "Completed" for status in told)

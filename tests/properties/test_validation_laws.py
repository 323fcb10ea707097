"""Laws of validation: it ends in problems whatever it is given, and it never finds less than a render."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dynamo_render import ClusterFacts, InvalidResource, MissingFacts, OperatorSettings, render, validate
from dynamo_render.rules import RULES
from dynamo_render.validation import admission
from tests.strategies.mutations import mutated
from tests.strategies.situations import Situation, situations


@st.composite
def broken_situations(draw: st.DrawFn) -> Situation:
    """Return a situation whose resource has one to three places changed."""
    situation = draw(situations())
    head = {key: situation.resource[key] for key in ("apiVersion", "kind")}
    rest = {key: value for key, value in situation.resource.items() if key not in head}
    changed = draw(mutated(rest))
    return situation.with_resource({**(changed if isinstance(changed, dict) else {}), **head})


@given(broken_situations())
def test_validation_ends_in_problems_of_known_rules_and_changes_nothing(situation: Situation) -> None:
    before = copy.deepcopy(situation.resource)
    problems = validate(situation.resource, **_around(situation), old=situation.resource, user="alice")
    assert {problem.rule for problem in problems} <= RULES.keys()
    assert situation.resource == before


@given(broken_situations())
def test_what_a_render_refuses_has_an_error(situation: Situation) -> None:
    try:
        render(situation.resource, **_around(situation))
    except InvalidResource:
        problems = validate(situation.resource, **_around(situation))
        assert any(problem.severity == "error" for problem in problems)
    except MissingFacts:
        pass


@given(situations())
def test_admission_says_nothing_that_validation_does_not_say(situation: Situation) -> None:
    told = {(problem.rule, problem.path) for problem in admission(situation.resource, **_around(situation))}
    assert told <= {(problem.rule, problem.path) for problem in validate(situation.resource, **_around(situation))}


def _around(situation: Situation) -> dict[str, Any]:
    """Return settings and facts as the library takes them."""
    settings, facts = OperatorSettings.from_mapping(situation.settings), ClusterFacts.from_mapping(situation.facts)
    return {"settings": settings, "facts": facts}

"""Every rule of the catalogue finds what its refusing example shows, and stays silent about the accepting one."""

from __future__ import annotations

import pytest

from dynamo_render import ClusterFacts, OperatorSettings, Problem, validate
from dynamo_render.rules import FAMILIES, RULES
from dynamo_render.rules.contract import Example, Rule

EACH = pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)


def found(example: Example) -> tuple[Problem, ...]:
    """Return what validation says about an example in its surroundings."""
    return validate(
        example.resource(),
        settings=None if example.settings is None else OperatorSettings.from_mapping(example.settings),
        facts=None if example.facts is None else ClusterFacts.from_mapping(example.facts),
        old=example.old_resource(),
        user=example.user,
        declared=example.declared,
    )


@EACH
def test_the_refusing_example_has_the_problem_with_its_severity(rule: Rule) -> None:
    assert {problem.severity for problem in found(rule.refuses) if problem.rule == rule.id} == {rule.severity}


@EACH
def test_the_accepting_example_does_not_have_it(rule: Rule) -> None:
    assert [str(problem) for problem in found(rule.accepts) if problem.rule == rule.id] == []


@EACH
def test_the_accepting_example_has_no_other_error(rule: Rule) -> None:
    """Otherwise it could be silent because something else is wrong with it."""
    assert [str(problem) for problem in found(rule.accepts) if problem.severity == "error"] == []


@EACH
def test_a_rule_that_is_ignored_is_silent(rule: Rule) -> None:
    example = rule.refuses
    settings = None if example.settings is None else OperatorSettings.from_mapping(example.settings)
    facts = None if example.facts is None else ClusterFacts.from_mapping(example.facts)
    problems = validate(
        example.resource(),
        settings=settings,
        facts=facts,
        old=example.old_resource(),
        user=example.user,
        ignore=[rule.id],
    )
    assert rule.id not in {problem.rule for problem in problems}


@EACH
def test_a_sentence_ends_with_a_full_stop_and_fits_a_line(rule: Rule) -> None:
    assert rule.sentence.endswith(".")
    assert len(rule.sentence) <= 110


def test_no_id_stands_in_two_families() -> None:
    ids = [rule.id for family in FAMILIES.values() for rule in family]
    assert sorted(ids) == sorted(set(ids))

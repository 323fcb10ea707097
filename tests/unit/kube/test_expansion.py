"""Variables of containers are expanded as the kubelet expands them."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_render.kube import expansion


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("$(A)", "a"),
        ("x-$(A)-$(B)", "x-a-b"),
        ("$(A)$(A)", "aa"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$a"),
        ("$$$$(A)", "$$(A)"),
        ("$(UNKNOWN)", "$(UNKNOWN)"),
        ("$A ${A}", "$A ${A}"),
        ("$", "$"),
        ("$(", "$("),
        ("$(A", "$(A"),
        ("$()", "$()"),
        ("$($(A))", "$($(A))"),
        ("a$$b", "a$b"),
        ("plain", "plain"),
    ],
)
def test_text_expands_as_the_kubelet_expands_it(text: str, result: str) -> None:
    assert expansion.expanded(text, {"A": "a", "B": "b"}) == result


def test_values_are_not_expanded_twice() -> None:
    assert expansion.expanded("$(A)", {"A": "$(B)", "B": "b"}) == "$(B)"


def values(*entries: dict[str, Any], **fields: str) -> dict[str, str | None]:
    """Return the values that env entries lead to."""
    known = {path.replace("_", "."): value for path, value in fields.items()}
    return {variable.name: variable.value for variable in expansion.variables(entries, known)}


def test_an_entry_sees_the_entries_above_it() -> None:
    assert values({"name": "A", "value": "a"}, {"name": "B", "value": "$(A)b"}) == {"A": "a", "B": "ab"}


def test_an_entry_does_not_see_the_entries_below_it() -> None:
    assert values({"name": "B", "value": "$(A)b"}, {"name": "A", "value": "a"}) == {"B": "$(A)b", "A": "a"}


def test_the_last_entry_of_a_name_wins() -> None:
    assert values({"name": "A", "value": "1"}, {"name": "A", "value": "2"}) == {"A": "2"}


def test_an_entry_may_extend_an_earlier_value_of_its_own_name() -> None:
    assert values({"name": "PATH", "value": "/a"}, {"name": "PATH", "value": "$(PATH):/b"}) == {"PATH": "/a:/b"}


def test_a_secret_is_not_known_here() -> None:
    source = {"secretKeyRef": {"name": "hf", "key": "TOKEN"}}
    (variable,) = expansion.variables([{"name": "A", "valueFrom": source}], {})
    assert (variable.value, variable.source) == (None, source)


def test_a_reference_to_an_unknown_value_stays() -> None:
    secret = {"name": "A", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "TOKEN"}}}
    assert values(secret, {"name": "B", "value": "$(A)"}) == {"A": None, "B": "$(A)"}


def test_an_unknown_value_hides_a_known_one_of_the_same_name() -> None:
    secret = {"name": "A", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "TOKEN"}}}
    assert values({"name": "A", "value": "a"}, secret, {"name": "B", "value": "$(A)"})["B"] == "$(A)"


def test_a_field_that_is_known_has_its_value() -> None:
    entry = {"name": "NS", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}
    assert values(entry, {"name": "B", "value": "$(NS)"}, metadata_namespace="team-a") == {
        "NS": "team-a",
        "B": "team-a",
    }


def test_an_entry_without_value_is_empty() -> None:
    assert values({"name": "A"}, {"name": "B", "value": "[$(A)]"}) == {"A": "", "B": "[]"}

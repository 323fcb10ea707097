"""Merging, one row for each kind of field. Specification: rendering.md section 9."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_render.kube import merge


@pytest.mark.parametrize(
    ("base", "user", "merged"),
    [
        pytest.param({"a": "x"}, {"a": "y"}, {"a": "y"}, id="9.1-text-replaces"),
        pytest.param({"a": "x"}, {"a": ""}, {"a": "x"}, id="9.1-empty-text-does-not"),
        pytest.param({"a": 60}, {"a": 0}, {"a": 60}, id="9.1-zero-does-not"),
        pytest.param({"a": True}, {"a": False}, {"a": True}, id="9.1-false-does-not"),
        pytest.param({}, {"a": 0}, {"a": 0}, id="9.1-zero-over-nothing-is-taken"),
        pytest.param({"a": [1, 2]}, {"a": [3]}, {"a": [3]}, id="9.1-a-list-replaces-whole"),
        pytest.param({"a": [1]}, {"a": []}, {"a": [1]}, id="9.1-an-empty-list-is-not-given"),
        pytest.param({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}, {"a": {"b": 3, "c": 2}}, id="9.1-fields-merge"),
        pytest.param({"a": {"b": 1}}, {"a": {}}, {"a": {"b": 1}}, id="9.1-an-empty-object-changes-nothing"),
        pytest.param({"port": "http"}, {"port": 8080}, {"port": "http"}, id="9.3-a-number-is-lost-against-a-name"),
        pytest.param({"port": "http"}, {"port": "web"}, {"port": "web"}, id="9.3-a-name-replaces-a-name"),
    ],
)
def test_overlaying_lets_non_zero_values_win(base: Any, user: Any, merged: Any) -> None:
    assert merge.overlaid(base, user) == merged


def test_replacing_lets_every_value_win_and_removes_what_was_cleared() -> None:
    assert merge.replaced({"a": 1, "b": 2, "c": 3}, {"a": 0}, ("b",)) == {"a": 0, "c": 3}


def test_neither_changes_its_arguments() -> None:
    base, user = {"a": {"b": 1}}, {"a": {"c": 2}}
    merge.overlaid(base, user)
    merge.replaced(base, user, ("a",))
    assert (base, user) == ({"a": {"b": 1}}, {"a": {"c": 2}})

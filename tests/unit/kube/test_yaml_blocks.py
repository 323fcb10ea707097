"""The form of YAML that is read without the library, and what is left to the library."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_render.kube.yaml_blocks import UNUSUAL, read

READ: list[tuple[str, Any]] = [
    ("", None),
    ("# a comment\n\n", None),
    ("a: 1\nb:\n  c: text\n", {"a": 1, "b": {"c": "text"}}),
    ("a:\n- 1\n- b: 2\n  c: 3\nd:\n", {"a": [1, {"b": 2, "c": 3}], "d": None}),
    ("-\n  a: 1\n-\n", [{"a": 1}, None]),
    ("a: 'x y' # why\nb: \"\"\n", {"a": "x y", "b": ""}),
    ("a: |\n    one\n\n      two\n\nb: 1\n", {"a": "one\n\n  two\n", "b": 1}),
    ("a: |-\n  one\n", {"a": "one"}),
    ("a: [-m, 'b', \"c d\", 3]\nb: {c: {}, d: []}\n", {"a": ["-m", "b", "c d", 3], "b": {"c": {}, "d": []}}),
    ("a: &x\n  b: [1]\nc: *x\n", {"a": {"b": [1]}, "c": {"b": [1]}}),
    ("on: yes\n", {"true": True}),
    ("image: host:5000/a:1\n", {"image": "host:5000/a:1"}),
]
LEFT = [
    *(
        "a: b: c\n",
        "a: 1\na: 2\n",
        "a: one\n  two\n",
        "a: &x 1\n",
        "a: *x\n",
        "a: !!str 1\n",
        "a: >\n  b\n",
        "a: |+\n  b\n",
    ),
    *("a: |\n", "a: |\n \n  \n b\n", 'a: "b\\n"\n', "a: 'it''s'\n", "<<: {a: 1}\n", "? a\n", "- - a\n", "a b: 1\n"),
    *('"a": 1\n', "a: [b,\n c]\n", "a:\tb\n", "a: b\r\n", "a: .nan\n", "null: 1\n", "text\n", "[1]\n", "a: 1\n b: 2\n"),
    *(
        "  a: 1\nb: 2\n",
        "a:\n    - 1\n  - 2\n",
        "a: [b\n",
        "a: {b}\n",
        "a: &x\n  b: *x\n",
        "a: @b\n",
        "a: - b\n",
        "...\n",
    ),
]


@pytest.mark.parametrize(("text", "value"), READ)
def test_the_usual_form_is_read(text: str, value: object) -> None:
    assert repr(read(text)) == repr(value)


@pytest.mark.parametrize("text", LEFT)
def test_everything_else_is_left_to_the_library(text: str) -> None:
    assert read(text) is UNUSUAL


def test_an_alias_is_a_copy() -> None:
    value = read("a: &x\n  b: 1\nc: *x\n")
    assert value["a"] is not value["c"]


def test_many_aliases_are_left_to_the_library() -> None:
    """It has the limits that keep a small text from becoming a large value."""
    levels = [f"l{number}: &l{number}\n" + f"- *l{number - 1}\n" * 8 for number in range(1, 9)]
    assert read("l0: &l0\n- 1\n" + "".join(levels)) is UNUSUAL


def test_deep_nesting_is_left_to_the_library() -> None:
    assert read("".join(" " * level + "a:\n" for level in range(60))) is UNUSUAL
    assert read("a: " + "[" * 60 + "]" * 60 + "\n") is UNUSUAL

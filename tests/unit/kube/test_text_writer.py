"""What is written is plain to people and means the same to every YAML reader; the laws are in tests/properties."""

from __future__ import annotations

import math

import pytest

from dynamo_render.kube.text import read_documents, write_document, write_documents


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-12, "-12"),
        (1.5, "1.5"),
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (1e16, "10000000000000000"),
        (1e21, "1.0e+21"),
        (1e-7, "1.0e-07"),
        ({}, "{}"),
        ([], "[]"),
        # Plain where nobody can mistake it.
        ("Frontend", "Frontend"),
        ("nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.9.0", "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.9.0"),
        ("--model", "--model"),
        ("-m", "-m"),
        ("$(POD_IP):80", "$(POD_IP):80"),
        ("${MODEL}", "${MODEL}"),
        ("80Gi", "80Gi"),
        ("500m", "500m"),
        ("1.2.3", "1.2.3"),
        ("a b  c", "a b  c"),
        ("a#b", "a#b"),
        ('say "hi"', 'say "hi"'),
        ("yesterday", "yesterday"),
        ("café", "café"),
        # Quoted where some reader would read a type into it.
        ("", '""'),
        ("yes", '"yes"'),
        ("N", '"N"'),
        ("Off", '"Off"'),
        ("null", '"null"'),
        ("~", '"~"'),
        ("1", '"1"'),
        ("1e3", '"1e3"'),
        ("0x1F", '"0x1F"'),
        ("0o17", '"0o17"'),
        ("0b1", '"0b1"'),
        ("1_000", '"1_000"'),
        ("+.5", '"+.5"'),
        (".inf", '".inf"'),
        ("12:30:45", '"12:30:45"'),
        ("2001-01-01", '"2001-01-01"'),
        ("2001-12-14 21:59:43", '"2001-12-14 21:59:43"'),
        ("=", '"="'),
        ("<<", '"<<"'),
        # Quoted where it is syntax.
        ("-", '"-"'),
        ("- a", '"- a"'),
        ("---", '"---"'),
        ("a: b", '"a: b"'),
        ("a:", '"a:"'),
        ("a #b", '"a #b"'),
        (" a", '" a"'),
        ("a ", '"a "'),
        ("*", '"*"'),
        ("@a", '"@a"'),
        ("[a]", '"[a]"'),
        ("it's", "it's"),
        ('{"a": "b"}', """'{"a": "b"}'"""),
        ("{'a': \"b\"}", """'{''a'': "b"}'"""),
        # Escaped where people cannot see it or readers do not take it.
        ("a\tb", '"a\\tb"'),
        ("a\rb\n", '"a\\rb\\n"'),
        ("\x00\x7f\x85", '"\\x00\\x7F\\x85"'),
        ("\u2028\ufeff", '"\\u2028\\uFEFF"'),
        ("a\xa0b", '"a\\xA0b"'),
        ("\n", '"\\n"'),
        (" \n ", '" \\n "'),
        ("\ta\nb", '"\\ta\\nb"'),
    ],
)
def test_a_scalar_is_written_in_its_most_readable_safe_form(value: object, text: str) -> None:
    assert write_document({"key": value}) == f"key: {text}\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\nb\n", "key: |\n  a\n  b\n"),
        ("a\nb", "key: |-\n  a\n  b\n"),
        ("a\n\n", "key: |+\n  a\n\n"),
        ("a\n\nb\n", "key: |\n  a\n\n  b\n"),
        ("  a\nb\n", "key: |2\n    a\n  b\n"),
        ("\na", "key: |2-\n\n  a\n"),
        ("a: b\n# c\n---\n", "key: |\n  a: b\n  # c\n  ---\n"),
        ("a\n  b\tc\n", "key: |\n  a\n    b\tc\n"),
    ],
)
def test_several_lines_are_a_literal(value: str, text: str) -> None:
    assert write_document({"key": value}) == text


def test_lists_stand_at_the_column_of_their_key() -> None:
    value = {"a": {"b": [{"c": 1, "d": [2, 3]}, [4, [5]], {}, [], "x\ny\n"]}}
    assert write_document(value) == (
        "a:\n  b:\n  - c: 1\n    d:\n    - 2\n    - 3\n  - - 4\n    - - 5\n  - {}\n  - []\n  - |\n    x\n    y\n"
    )


def test_the_first_keys_of_a_document_are_the_usual_ones() -> None:
    document = {
        "status": 1,
        "spec": {"kind": 1, "apiVersion": 2},
        "metadata": {"uid": 1, "annotations": {}, "labels": {"b": 1, "a": 2}, "namespace": "demo", "name": "m"},
        "kind": "K",
        "apiVersion": "v1",
    }
    assert write_document(document) == (
        "apiVersion: v1\nkind: K\nmetadata:\n  name: m\n  namespace: demo\n"
        "  labels:\n    b: 1\n    a: 2\n  annotations: {}\n  uid: 1\nspec:\n  kind: 1\n  apiVersion: 2\nstatus: 1\n"
    )


def test_ordering_leaves_the_given_document_as_it_is() -> None:
    document = {"metadata": {"uid": 1, "name": "m"}, "kind": "K"}
    write_document(document)
    assert [list(document), list(document["metadata"])] == [["metadata", "kind"], ["uid", "name"]]


@pytest.mark.parametrize(
    ("key", "text"),
    [("y", '"y"'), ("1", '"1"'), ("a: b", '"a: b"'), ("a\nb", '"a\\nb"'), ("app.kubernetes.io/name", None)],
)
def test_keys_are_quoted_like_values_and_stay_on_one_line(key: str, text: str | None) -> None:
    assert write_document({key: 1}) == f"{text or key}: 1\n"


def test_a_key_longer_than_readers_look_ahead_is_marked_as_key() -> None:
    key = "k" * 1100
    assert write_document({"a": {key: [1]}}) == f"a:\n  ? {key}\n  :\n  - 1\n"


def test_documents_are_separated_and_the_first_has_no_mark() -> None:
    assert write_documents([{"a": 1}, [], "x"]) == "a: 1\n---\n[]\n---\nx\n"


def test_no_documents_are_no_text() -> None:
    assert write_documents([]) == ""


@pytest.mark.parametrize("value", ["a\n b\n", " a\nb", "x", "yes", ["a\nb"], [["a\n\n"], {"k": " a\n"}]])
def test_a_document_that_is_no_mapping_reads_back(value: object) -> None:
    assert list(read_documents(write_documents([value, value]))) == [value, value]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "\ud800"])
def test_what_has_no_json_form_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"NaN and infinity|surrogate"):
        write_document({"a": [value]})


@pytest.mark.parametrize("value", [{1: 2}, {None: 1}, {"a": (1,)}, {"a": b"x"}, {"a": {1}}])
def test_what_is_no_json_value_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="is no JSON"):
        write_document(value)

"""YAML and JSON are read as kubectl reads them, and what is wrong is refused where it stands.

Expected values were asked of kubectl's own decoder, not of ours, except where a comment says that we are stricter.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dynamo_render import UnreadableInput
from dynamo_render.kube.text import locate, read_documents

REPOSITORY = Path(__file__).resolve().parents[3]

ALIAS_BOMB = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x]", *(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 9))]
)
NESTED_ALIASES = "\n".join(["a0: &a0 [x]", *(f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 250))])


def read(text: str | bytes) -> Any:
    (document,) = read_documents(text)
    return document


def refusal(text: str | bytes) -> UnreadableInput:
    with pytest.raises(UnreadableInput) as caught:
        list(read_documents(text, "graph.yaml"))
    return caught.value


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        *((word, True) for word in ("yes", "Yes", "YES", "on", "On", "ON", "y", "Y", "true", "True", "TRUE")),
        *((word, False) for word in ("no", "No", "NO", "off", "Off", "OFF", "n", "N", "false", "False", "FALSE")),
        *((word, None) for word in ("", "~", "null", "Null", "NULL")),
        *((word, word) for word in ("yEs", "tRue", "nULL", "oN", "nan", "inf", ".iNf", "=", "<<")),
        ("1e3", 1000),
        ("1.e+3", 1000),
        ("5.", 5),
        (".5", 0.5),
        ("+.5", 0.5),
        (".5_0", 0.5),
        ("._5", "._5"),
        ("1e-7", 1e-7),
        ("0644", 420),
        ("-0644", -420),
        ("0648", 648),
        ("0o17", 15),
        ("0O17", 15),
        ("0o8", "0o8"),
        ("0x1F", 31),
        ("-0X1f", -31),
        ("0b101", 5),
        ("0b-101", -5),
        ("0B-101", "0B-101"),
        ("1_000", 1000),
        ("1_", 1),
        ("_1", "_1"),
        ("0x_1", 1),
        ("-0", 0),
        ("-0.0", 0),
        ("100.0", 100),
        ("1:30", "1:30"),
        ("190:20:30.15", "190:20:30.15"),
        ("2001-01-01", "2001-01-01"),
        ("2001-12-14 21:59:43", "2001-12-14 21:59:43"),
        ("500m", "500m"),
        ("1e3Mi", "1e3Mi"),
        ("0x1p3", "0x1p3"),
        ("1e400", "1e400"),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("9223372036854775808", 9223372036854775808.0),
        ("12345678901234567890", 12345678901234567890.0),
        ("4611686018427387904.0", 4611686018427388000),
        ("0xFFFFFFFFFFFFFFFFF", "0xFFFFFFFFFFFFFFFFF"),
        ("'1'", "1"),
        ('"yes"', "yes"),
        ("! 12", "12"),
        ("!!str 1", "1"),
        ("!!float 3", 3),
        ('!!int "3"', 3),
        ("!!timestamp 2001-1-1", "2001-1-1"),
        ("!!binary aGk=", "hi"),
        ("!!binary /w==", "\ufffd"),
        ("!custom 1", "1"),
        ("!!set {a, b}", {"a": None, "b": None}),
    ],
)
def test_a_scalar_gets_the_type_that_kubectl_gives_it(scalar: str, value: object) -> None:
    found = read(f"key: {scalar}\n")["key"]
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("y", "true"),
        ("n", "false"),
        ("on", "true"),
        ("1", "1"),
        ("0644", "420"),
        ("1e3", "1000"),
        ("1000000.0", "1e+06"),
        ("0.0001", "0.0001"),
        ("0.00001", "1e-05"),
        ("123456789.123456789", "1.2345679e+08"),
        ("1e39", ".inf"),
        ("-1e39", "-.inf"),
        (".NaN", ".nan"),
        ("'y'", "y"),
        ("!!str 1", "1"),
        ("2001-01-01", "2001-01-01"),
    ],
)
def test_a_mapping_key_becomes_the_text_that_kubectl_makes_of_it(key: str, text: str) -> None:
    assert read(f"{key}: 1\n") == {text: 1}


@pytest.mark.parametrize(
    ("text", "documents"),
    [
        ("", []),
        ("# nothing\n", []),
        ("---\n---\n~\n---\nnull\n", []),
        ("a: 1\n---\nb: 2\n", [{"a": 1}, {"b": 2}]),
        ("--- # first\na: 1\n--- # second\nb: 2\n", [{"a": 1}, {"b": 2}]),
        ("a: 1\n...\n---\nb: 2\n...\n", [{"a": 1}, {"b": 2}]),
        ("a: 1\r\n---\r\nb: 2\r\n", [{"a": 1}, {"b": 2}]),
        ("[1]\n---\n3\n---\nx\n", [[1], 3, "x"]),
        ('{"a": 1}\n{"b": 2} {"c": 3}', [{"a": 1}, {"b": 2}, {"c": 3}]),
        ('{"a": 1}\nnull\n', [{"a": 1}]),
        ('{"a": 1}\n---\nb: 2\n', [{"a": 1}, {"b": 2}]),
        ("{a: 1, b: [x]}\n---\nb: 2\n", [{"a": 1, "b": ["x"]}, {"b": 2}]),
        ("\ufeffa: 1\n---\n\ufeffb: 2\n", [{"a": 1}, {"b": 2}]),
    ],
)
def test_a_stream_yields_its_documents_and_skips_the_empty_ones(text: str, documents: list[object]) -> None:
    assert list(read_documents(text)) == documents


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: [http://x:80/a, b:c, {d:e, f: g:h}, a :b]", ["http://x:80/a", "b:c", {"d:e": None, "f": "g:h"}, "a :b"]),
        ('a: {"b":c, d: "e:f"}', {"b": "c", "d": "e:f"}),
        ("a: [&x b:c, *x ]", ["b:c", "b:c"]),
        ('a: "it\\\'s"', "it's"),
        ("a: 'x\n\n  y'", "x\ny"),
        ("a: |\n  x", "x\n"),
        ("a: >-\n  x\n  y\n", "x y"),
        ("a: plain\n  and more # comment", "plain and more"),
        ("? a\n: b", "b"),
    ],
)
def test_syntax_reads_as_kubectl_reads_it(text: str, value: object) -> None:
    assert read(text)["a"] == value


def test_a_merge_overrides_what_stands_above_it() -> None:
    assert read("- &m {x: 1}\n- {x: 2, <<: *m}\n")[1] == {"x": 1}


def test_a_merge_gives_way_to_what_stands_below_it() -> None:
    assert read("- &m {x: 1}\n- {<<: *m, x: 2}\n")[1] == {"x": 2}


def test_the_first_of_several_merged_mappings_wins() -> None:
    assert read("<<: [{a: 1}, {a: 2, b: 3}]\n") == {"a": 1, "b": 3}


def test_a_quoted_merge_key_is_a_key() -> None:
    assert read('"<<": 3\n') == {"<<": 3}


def test_values_of_aliases_share_no_state() -> None:
    document = read("a: &a {x: [1]}\nb: *a\n")
    document["b"]["x"].append(2)
    assert document["a"] == {"x": [1]}


def test_an_alias_repeats_a_scalar_as_a_value_and_as_a_key() -> None:
    assert read("a: &k 1.0\nb: *k\n*k : c\n") == {"a": 1, "b": 1, "1": "c"}


@pytest.mark.parametrize("text", ['{"a": %s}', "a: %s"])
def test_many_small_lists_beside_each_other_are_fine(text: str) -> None:
    assert read(text % json.dumps([[]] * 500)) == {"a": [[]] * 500}


@pytest.mark.parametrize(
    ("number", "value"),
    [
        ("1.0", 1),
        ("1e3", 1000),
        ("-0", 0),
        ("18446744073709551615", 18446744073709551615.0),
        ("9" * 30, float("9" * 30)),
    ],
)
def test_json_numbers_are_those_of_yaml(number: str, value: float) -> None:
    found = read(f'{{"a": {number}}}')["a"]
    assert (type(found), found) == (type(value), value)


def test_what_is_no_json_but_starts_like_it_is_yaml() -> None:
    assert read('{"a": NaN, b: yes,}') == {"a": "NaN", "b": True}


def test_half_a_surrogate_pair_in_json_is_replaced() -> None:
    assert read('{"a": "\\ud800 \\ud83d\\ude00"}') == {"a": "\ufffd \U0001f600"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_bytes_are_decoded(encoding: str) -> None:
    assert read("a: é\n".encode(encoding)) == {"a": "é"}


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("a:\n\t- b\n", 2, 1, "tab"),
        ("a: [b\n", 2, 1, "did not find expected"),
        ("a: 1\nb: 'x\n", 2, 4, "unexpected end of stream"),
        ("a: b: c\n", 1, 5, "mapping values are not allowed"),
        ("x: 1\n---\na: 1\nb: 2\n  c: 3\n", 5, 4, "mapping values are not allowed"),
        ('{"a": 1,\n "b" 2}', 2, 6, "did not find expected"),
        # Stricter than kubectl, which takes the last of duplicate keys in a local file.
        ("a: 1\nb: 2\na: 3\n", 3, 1, "'a' is already set"),
        ("{1: a, '1': b}\n", 1, 8, "'1' is already set"),
        ("yes: 1\ntrue: 2\n", 2, 1, "'true' is already set"),
        ('{"x": {"a": 1,\n "\\ud83d\\ude00": 2, "a": 3}}', 2, 21, "'a' is already set"),
        ("<<: {a: 1, a: 2}\n", 1, 12, "'a' is already set"),
        ("- .nan\n", 1, 3, "NaN"),
        ("a: -.inf\n", 1, 4, "infinity"),
        ('{"a":\n 1e400}', 2, 2, "1e400 is out of range"),
        ("~: 1\n", 1, 1, "null cannot be a mapping key"),
        ("9223372036854775808: 1\n", 1, 1, "9223372036854775808 cannot be a mapping key"),
        ("? [a]\n: b\n", 1, 3, "cannot be a key"),
        ("a: &a {}\n*a : b\n", 2, 1, "cannot be a key"),
        ("a: *b\n", 1, 4, "'b' is not defined"),
        ("a: &a\n- *a\n", 2, 3, "'a' contains itself"),
        ("<<: 3\n", 1, 5, "'<<' needs a mapping"),
        ("a: &a [{}]\n<<: *a\n", 2, 5, "'<<' needs a mapping"),
        ("a: !!int b\n", 1, 4, "!!int"),
        ("a: !!timestamp 2001-02-29\n", 1, 4, "!!timestamp"),
        ("a: !!binary a\n", 1, 4, "base64"),
        ("a: !e!x b\n", 1, 4, "undefined tag handle"),
        ("a: b\x07\n", 1, 5, "U+0007"),
        ("a: 'b\x00'\n", 1, 6, "U+0000"),
        ("a: \ud800\n", 1, 4, "U+D800"),
        (b"a: 1\nb: \xff\n", 2, 4, "0xFF is no UTF-8"),
        ("a: 1\n--- b\n", 2, 5, "only a comment"),
        # Stricter than kubectl, which drops the rest without a word.
        ("a: 1\n...\nb: 2\n", 3, 1, "outside a document"),
        ("{a: 1}}\n", 1, 7, "outside a document"),
        ("%YAML 1.2\n---\na: 1\n", 2, 1, "outside a document"),
        ('{"a": 1}\n{"b": 2}\n---\nc: 3\n', 3, 1, "more JSON"),
        ("[" * 201 + "]" * 201, 1, 201, "nested deeper than 200"),
        ("# no JSON\n" + "[" * 100_000, 2, 201, "nested deeper than 200"),
        ('{"a":' * 5000, 1, 1001, "nested deeper than 200"),
        ("- " * 100_000, 1, 401, "nested deeper than 200"),
        (NESTED_ALIASES, 200, 14, "nested deeper than 200"),
        (ALIAS_BOMB, 4, 25, "aliases"),
        ("a: [" + "x :b, " * 500 + "]\n", 1, 1, "too many ':'"),
    ],
)
def test_what_is_wrong_is_refused_where_it_stands(text: str | bytes, line: int, column: int, message: str) -> None:
    found = refusal(text)
    assert (found.source, found.line, found.column) == ("graph.yaml", line, column)
    assert message in found.message


def test_documents_before_a_mistake_are_read() -> None:
    documents = read_documents("a: 1\n---\n'b\n")
    assert next(documents) == {"a": 1}


LOCATED = """\
# comment
---
ignored: 1
---
spec:
  services:
    Frontend: &front
      replicas: 3
      "args": [x, {k: v}]
    Backend:
      <<: *front
    yes: no
  list:
  - a
  - b: 1
"""


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [
        ((), (5, 1), (5, 1)),
        (("spec",), (6, 3), (5, 1)),
        (("spec", "services", "Frontend", "replicas"), (8, 17), (8, 7)),
        (("spec", "services", "Frontend", "args", 0), (9, 16), (9, 16)),
        (("spec", "services", "Frontend", "args", 1, "k"), (9, 23), (9, 20)),
        (("spec", "services", "Backend", "replicas"), (8, 17), (8, 7)),
        (("spec", "services", "true"), (12, 10), (12, 5)),
        (("spec", "list", 1, "b"), (15, 8), (15, 5)),
        (("spec", "list", 7), (14, 3), (13, 3)),
        (("spec", "missing", "deeper"), (6, 3), (5, 1)),
    ],
)
def test_a_path_is_located(path: tuple[str | int, ...], value: tuple[int, int], key: tuple[int, int]) -> None:
    assert locate(LOCATED, "graph.yaml", 1, path) == value
    assert locate(LOCATED, "graph.yaml", 1, path, key=True) == key


def test_a_path_is_located_in_json() -> None:
    text = '{"a": 1}\n\n  {"b": [1, {"\\ud83d\\ude00": "\x7f", "c": 3}]}'
    assert locate(text, "graph.json", 1, ("b", 1, "c")) == (3, 40)


def test_without_such_a_document_the_start_is_located() -> None:
    assert locate("a: 1\n", "graph.yaml", 3, ("a",)) == (1, 1)


def test_importing_the_reader_does_not_load_the_yaml_library() -> None:
    """Its import takes longer than reading a file, and JSON does without it."""
    script = "import sys, dynamo_render as d; list(d.read_documents('{}')); print('ruamel.yaml' in sys.modules)"
    command = [sys.executable, "-c", script]
    finished = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert finished.stdout == "False\n"


def test_large_numbers_stay_finite() -> None:
    assert math.isfinite(read("a: 1.7976931348623157e308\n")["a"])


@pytest.mark.parametrize("text", ['a: "x\\/y"', '- "\\\\\\/"', '- "\\\'\\/"'])
def test_an_escaped_slash_is_refused_in_yaml(text: str) -> None:
    assert "no escape in YAML" in str(refusal(text))


@pytest.mark.parametrize(
    ("text", "value"),
    [('{"a": "x\\/y"}', {"a": "x/y"}), ("a: 'x\\/y'", {"a": "x\\/y"}), ('a: "x\\\\/y"', {"a": "x\\/y"})],
)
def test_a_slash_behind_a_backslash_is_read_where_it_is_none_of_yaml(text: str, value: object) -> None:
    assert read(text) == value

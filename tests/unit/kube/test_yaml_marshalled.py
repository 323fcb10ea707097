"""The text form of Kubernetes' marshaller: the vectors and rules of controllers-other.md, Appendix A."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_render import read_documents
from dynamo_render.kube.yaml_marshalled import marshalled

VECTORS: list[tuple[Any, str]] = [
    ("", '""'),
    ("yes", '"yes"'),
    ("n", '"n"'),
    ("~", '"~"'),
    ("123", '"123"'),
    ("1_000", '"1_000"'),
    ("0o17", '"0o17"'),
    ("-5", '"-5"'),
    ("2024-01-02", '"2024-01-02"'),
    ("12:30", '"12:30"'),
    ("a: b", "'a: b'"),
    ("a #b", "'a #b'"),
    ("a:", "'a:'"),
    ("{a}", "'{a}'"),
    ("[a]", "'[a]'"),
    ("*a", "'*a'"),
    ("é日本", "é日本"),
    (200.0, "200"),
    ("0.20", '"0.20"'),
    ("0.20.0", "0.20.0"),
    ("1e", "1e"),
    ("+", "+"),
    ("-", "'-'"),
    ("2024-13-45", "2024-13-45"),
    ("a:b", "a:b"),
    ("a#b", "a#b"),
    ("--x=1", "--x=1"),
    ("a'b", "a'b"),
    ("'a'", "'''a'''"),
    ("a\tb", '"a\\tb"'),
    ("😀", '"\\U0001F600"'),
    (1e21, "1e+21"),
    (1e-7, "1e-07"),
    (123456789.125, "1.23456789125e+08"),
    (20.5, "20.5"),
    (1e20, "1e+20"),
    (-0.0, "0"),
    (1234567.5, "1.2345675e+06"),
    (0.0001, "0.0001"),
    (2**63, "9223372036854776000"),
    (2**64, "1.8446744073709552e+19"),
    (None, "null"),
    (True, "true"),
    ({}, "{}"),
    ([], "[]"),
]


@pytest.mark.parametrize(("value", "printed"), VECTORS, ids=[repr(value) for value, _ in VECTORS])
def test_a_value_is_printed_as_the_vectors_say(value: Any, printed: str) -> None:
    assert marshalled({"k": value}) == f"k: {printed}\n"


def test_text_of_several_lines_is_a_literal_block() -> None:
    assert marshalled({"k": "l1\nl2\n"}) == "k: |\n  l1\n  l2\n"
    assert marshalled({"k": "l1\n\nl2"}) == "k: |-\n  l1\n\n  l2\n"
    assert marshalled({"k": "l1\n\n"}) == "k: |+\n  l1\n\n"


def test_a_literal_that_starts_with_a_blank_says_how_far_it_is_indented() -> None:
    assert marshalled({"k": " a\nb"}) == "k: |2-\n   a\n  b\n"


def test_a_blank_before_a_line_break_asks_for_quotes() -> None:
    assert marshalled({"k": "a \nb"}) == 'k: "a \\nb"\n'


def test_keys_that_read_as_truth_are_quoted() -> None:
    assert marshalled({"n": 1, "y": 2}) == '"n": 1\n"y": 2\n'


def test_keys_stand_in_the_order_of_the_marshaller() -> None:
    keys = ["a10", "a2", "a02", "a_b", "aB", "A", "_x", "1", "10", "2"]
    printed = [line.partition(":")[0].strip('"') for line in marshalled(dict.fromkeys(keys, 0)).splitlines()]
    assert printed == ["_x", "1", "2", "10", "A", "a_b", "a2", "a02", "a10", "aB"]


def test_an_underscore_stands_before_a_capital() -> None:
    assert marshalled({"dgdImage": "a", "dgd_image": "b"}) == "dgd_image: b\ndgdImage: a\n"


def test_dashes_stand_at_the_column_of_their_key() -> None:
    assert marshalled({"a": [1, {"b": 2, "c": [3]}, [4, 5]]}) == "a:\n- 1\n- b: 2\n  c:\n  - 3\n- - 4\n  - 5\n"


def test_a_long_line_is_folded_at_the_first_blank_behind_the_width() -> None:
    """The worked example of the specification, section 4.3."""
    text = '{"prefill_isl": [100, 3000], "prefill_ttft": [12.5, 180.25], "prefill_thpt_per_gpu": [8000.0, 16640.5]}'
    assert marshalled({"data": {"prefill_raw_data.json": text}}) == (
        "data:\n"
        '  prefill_raw_data.json: \'{"prefill_isl": [100, 3000], "prefill_ttft": [12.5, 180.25],\n'
        '    "prefill_thpt_per_gpu": [8000.0, 16640.5]}\'\n'
    )


def test_what_is_printed_reads_back_as_the_same_value() -> None:
    words = "lorem ipsum " * 20
    value = {"a": words, "b": [words + " x", '"' + words, "\t" + words + "  two", {"c d": [["0x1f"]]}], "é": "\x00 "}
    assert list(read_documents(marshalled(value))) == [value]

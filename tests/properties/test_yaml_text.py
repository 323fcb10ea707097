"""Laws of YAML text: every reader reads back what we write, and whatever we are given we read or refuse politely."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
import yaml
from hypothesis import assume, example, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from dynamo_render import UnreadableInput, read_documents, write_documents
from dynamo_render.kube.text import locate, write_document

TRICKY_WORDS = st.sampled_from(
    [
        *(
            "yes",
            "No",
            "y",
            "off",
            "null",
            "~",
            "",
            "1e3",
            "0x1F",
            "0o17",
            "0644",
            "1_000",
            "1:30",
            "2001-01-01",
            ".inf",
        ),
        *(
            "<<",
            "=",
            "---",
            "...",
            "--- a",
            "- a",
            "a: b",
            "a #b",
            "#a",
            ":",
            "?",
            "|",
            ">-",
            "&a",
            "*a",
            "!a",
            "%a",
            "@a",
        ),
        *(
            "[a]",
            "{a: b}",
            "'a'",
            '"a"',
            "a\\",
            " a",
            "a ",
            "\ta",
            "a\n",
            "\na",
            "a\n\n",
            " a\nb",
            "a\n b\n",
            "\n",
            " \n",
        ),
        *("\x00", "\x7f", "\x85", "\u2028", "\ufeff", "\ufffe", "\U0001f600", "\U0001ffff", "é", "a\r\nb"),
        *("+.5", "0b", "0x", "1e", ".5_0", "-.NaN"),
    ]
)
TRICKY_TEXT = st.lists(st.sampled_from([*" \n\t:-#'\"[]{}&*!|>%@`?,.~=<+\\0179aexnyé", "\n\n", "---"])).map("".join)
STRINGS = TRICKY_WORDS | TRICKY_TEXT | st.text()
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | NUMBERS | STRINGS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(STRINGS, inner, max_size=4), max_leaves=12
)
DOCUMENTS = VALUES.filter(lambda value: value is not None)


def ruamel(version: tuple[int, int] | None, *, pure: bool) -> Callable[[str], list[Any]]:
    def read(text: str) -> list[Any]:
        reader = YAML(typ="safe", pure=pure)
        if version:
            reader.version = version
        return list(reader.load_all(text))

    return read


READERS: dict[str, Callable[[str], list[Any]]] = {
    "ours": lambda text: list(read_documents(text)),
    "PyYAML": lambda text: list(yaml.safe_load_all(text)),
    "PyYAML in C": lambda text: list(yaml.load_all(text, yaml.CSafeLoader)),
    "ruamel.yaml for YAML 1.1": ruamel((1, 1), pure=True),
    "ruamel.yaml for YAML 1.2": ruamel(None, pure=True),
    "ruamel.yaml in C": ruamel(None, pure=False),
}


def is_same(left: Any, right: Any) -> bool:
    """Whether both are equal and agree on what is a boolean, which Python takes for a number."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(is_same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(is_same, left, right))
    return isinstance(left, bool) == isinstance(right, bool) and left == right


def with_floats_only(documents: Iterable[object]) -> Any:
    """Return *documents* with every number as a float, which is all that JSON promises to keep apart."""
    return json.loads(json.dumps(list(documents)), parse_int=float)


@pytest.mark.parametrize("reader", READERS)
@given(st.lists(DOCUMENTS, max_size=3))
@example([{"a": "x\n\n", "b": " x\n", "c": ["\n x", "x\n\ty"]}, {"k" * 1100: ["a"]}])
@example([2.0**62, 1e16, 1e21, 1e-7, -0.0, 5e-324])
def test_every_reader_reads_back_what_we_write(reader: str, documents: list[Any]) -> None:
    text = write_documents(documents)
    assert is_same(READERS[reader](text), documents), text


@given(DOCUMENTS)
def test_json_reads_as_the_same_value_that_it_holds(document: Any) -> None:
    assert is_same(list(read_documents(json.dumps([document]))), [[document]])


@given(DOCUMENTS)
def test_json_reads_the_same_when_it_is_read_as_yaml(document: Any) -> None:
    text = json.dumps([document])
    assume("\\ud8" not in text and "\\ud9" not in text and "\\uda" not in text and "\\udb" not in text)
    assert is_same(with_floats_only(read_documents(f"# now YAML\n{text}")), with_floats_only(read_documents(text)))


@given(DOCUMENTS)
def test_every_value_is_located_where_its_text_stands(document: Any) -> None:
    text = write_document({"first": 1, "value": document, "last": 1})
    line, column = locate(text, "t", 0, ("last",), key=True)
    assert text.splitlines(keepends=False)[-1] == "last: 1"
    assert (line, column) == (text.count("\n"), 1)


def refusal(data: str | bytes) -> UnreadableInput | None:
    try:
        list(read_documents(data, "a.yaml"))
    except UnreadableInput as error:
        return error
    return None


@given(st.text() | TRICKY_TEXT | st.lists(TRICKY_WORDS).map("\n".join) | st.binary())
@example(b"- \xe9")
def test_whatever_we_are_given_we_read_or_refuse_with_a_position(data: str | bytes) -> None:
    refused = refusal(data)
    assert refused is None or (refused.source == "a.yaml" and min(refused.line or 0, refused.column or 0) > 0)

"""Reading without the YAML library: where that is done, the library reads the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamo_render.kube import yaml_blocks, yaml_reader, yaml_stream

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
GRAPHS = sorted(EXAMPLES.glob("*/*.yaml"))

KEYS = ["a", "key", "x.y/z", "y", "null", "no", '"q"', "a b", "<<", "-", "? k", "é", "1"]
VALUES = [
    *("", "text", "a b", "yes", "0x1f", "1_0", ".5", "1e3", "~", "-1", "--x", "-", "- a", "a: b", "a:b", "a:", "$(X)"),
    *('"q"', "'q'", "''", "'it''s'", '"a\\n"', '"open', '"a" b', "a #b", "a#b", "# c", '"a" # c', '"a"# c', "  a  "),
    *("|", "|-", "|+", "|2", "| # c", ">", ">-", "&x", "*x", "&x a", "*x # c", "!!str 1", "@a", "%a", "`a", "\\a", "é"),
    *(
        "{}",
        "[]",
        "{a: b}",
        "{a: {b: [c]}}",
        "{a: b, a: c}",
        "{a}",
        "{a:b}",
        "[a, 'b']",
        "[--a, -b=c]",
        "[a,]",
        "[a b]",
    ),
    *("[ ]", "[a: b]", '["a", "b,c"]', "[http://h]", "[a] # c", "a,b]", "{a: }", ".nan", "2001-01-01", "...", "---x"),
]


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Return lines that look like YAML: nested in some way, with keys, dashes, comments and texts between."""
    lines = []
    indent = 0
    for _ in range(draw(st.integers(1, 8))):
        indent = max(0, indent + draw(st.sampled_from([-4, -2, -2, 0, 0, 0, 2, 2, 1, 4])))
        dashes = draw(st.sampled_from(["", "", "", "- ", "-   ", "- - "]))
        value = draw(st.sampled_from(VALUES))
        form = draw(st.sampled_from(["entry", "entry", "entry", "value", "comment", "blank"]))
        key = draw(st.sampled_from(KEYS))
        content = {"entry": f"{key}: {value}", "value": value, "comment": "# c", "blank": ""}[form]
        lines.append(" " * indent + dashes + content)
    return "\n".join(lines) + "\n"


def _by_library(text: str) -> object:
    return yaml_reader.read_with_library(yaml_stream.piece_of(text, 0, len(text), "text"))


@given(documents())
def test_what_is_read_without_the_library_reads_the_same_with_it(text: str) -> None:
    value = yaml_blocks.read(text)
    if value is not yaml_blocks.UNUSUAL:
        assert repr(value) == repr(_by_library(text))


@given(st.sampled_from(GRAPHS), st.data())
def test_a_changed_example_reads_the_same(path: Path, data: st.DataObject) -> None:
    lines = path.read_text(encoding="utf-8").split("\n")
    at = data.draw(st.integers(0, len(lines) - 2))
    column = data.draw(st.integers(0, len(lines[at])))
    inserted = data.draw(st.sampled_from([*" :#-|\"'[]{},&*!?>%@`~a1", "\n", "- ", ": ", " #", "&x", "*x", "  "]))
    lines[at] = lines[at][:column] + inserted + lines[at][column + data.draw(st.integers(0, 1)) :]
    text = "\n".join(lines)
    value = yaml_blocks.read(text)
    if value is not yaml_blocks.UNUSUAL:
        assert repr(value) == repr(_by_library(text))


@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_examples_need_no_library(path: Path) -> None:
    """Loading it would be a tenth of a short command."""
    text = path.read_text(encoding="utf-8")
    value = yaml_blocks.read(text)
    assert value is not yaml_blocks.UNUSUAL
    assert repr(value) == repr(_by_library(text))

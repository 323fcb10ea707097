"""Messages on standard error."""

from __future__ import annotations

import io

import pytest

from dynamo_render.commandline.messages import Report, printable, wants_colour
from dynamo_render.errors import Problem, UnreadableInput
from dynamo_render.kube import text
from tests.unit.commandline.conftest import Terminal

TEXT = "metadata:\n  name: a\nspec:\n  replicas: x\n"


def reported(*problems: Problem, colour: bool = False) -> tuple[str, int]:
    """Return what is said about *problems* of a small document, and the exit code."""
    stream = io.StringIO()
    report = Report(stream, colour=colour)
    ((_value, places),) = text.read_with_places(TEXT, "a.yaml", report.unreadable)
    report.problems("a.yaml", problems, places)
    return stream.getvalue(), report.status


def test_an_error_has_position_rule_path_and_message() -> None:
    problem = Problem("schema/type", ("spec", "replicas"), "must be integer")
    assert reported(problem) == ("a.yaml:4:13: schema/type: spec.replicas: must be integer\n", 1)


def test_a_warning_says_so_and_leaves_the_exit_code() -> None:
    problem = Problem("x/y", ("spec",), "is odd", None, "warning")
    assert reported(problem) == ("a.yaml:4:3: warning: x/y: spec: is odd\n", 0)


def test_an_unknown_field_is_where_its_key_is() -> None:
    problem = Problem("schema/unknown-field", ("spec", "replicas"), "is unknown")
    assert reported(problem)[0].startswith("a.yaml:4:3: ")


def test_what_is_missing_is_where_it_should_be() -> None:
    problem = Problem("schema/required", ("metadata", "namespace"), "is required")
    assert reported(problem)[0].startswith("a.yaml:2:3: ")


def test_a_hint_stands_below() -> None:
    assert reported(Problem("x/y", ("spec",), "is odd", "try even"))[0].splitlines()[1] == "    hint: try even"


def test_problems_come_in_the_order_of_their_positions() -> None:
    lines, _status = reported(Problem("b/b", ("spec", "replicas"), "low"), Problem("a/a", ("metadata", "name"), "high"))
    assert [line.split(": ")[1] for line in lines.splitlines()] == ["a/a", "b/b"]


def test_the_worst_decides_the_exit_code() -> None:
    report = Report(io.StringIO())
    report.unreadable(UnreadableInput("no", source="a.yaml", line=1, column=1))
    report.problems("b.yaml", [Problem("x/y", (), "is odd")])
    assert report.status == 2


def test_colours_change_nothing_but_colours() -> None:
    problem = Problem("schema/type", ("spec", "replicas"), "must be integer")
    coloured, _status = reported(problem, colour=True)
    plain = coloured
    for code in ("\x1b[31m", "\x1b[1m", "\x1b[0m"):
        assert code in coloured
        plain = plain.replace(code, "")
    assert plain == reported(problem)[0]


@pytest.mark.parametrize(
    ("choice", "stream", "environ", "wanted"),
    [
        ("auto", Terminal(), {}, True),
        ("auto", io.StringIO(), {}, False),
        ("auto", Terminal(), {"NO_COLOR": "1"}, False),
        ("auto", Terminal(), {"NO_COLOR": ""}, True),
        ("auto", Terminal(), {"TERM": "dumb"}, False),
        ("always", io.StringIO(), {"NO_COLOR": "1"}, True),
        ("never", Terminal(), {}, False),
    ],
)
def test_colour_is_for_terminals_unless_the_user_decides(
    choice: str, stream: io.StringIO, environ: dict[str, str], *, wanted: bool
) -> None:
    assert wants_colour(choice, stream, environ) is wanted


def test_input_cannot_move_the_cursor() -> None:
    assert printable("a\x1b[2Jb\nc") == "a\\x1b[2Jb\\nc"


def test_other_scripts_are_printed_as_they_are() -> None:
    assert printable("größe 数") == "größe 数"

"""From words to an exit code."""

from __future__ import annotations

import io
from argparse import ArgumentParser

import pytest

import dynamo_render
from dynamo_render.commandline import COMMANDS, parsing
from dynamo_render.commandline.contract import Console
from dynamo_render.commandline.main import main
from tests.unit.commandline.conftest import Call


class Broken(io.StringIO):
    """A stream whose reader does something unexpected."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self._error = error

    def write(self, _text: str) -> int:
        raise self._error


def status_and_errors(error: BaseException, **environ: str) -> tuple[int, str]:
    """Return what becomes of a call whose output fails with *error*."""
    stderr = io.StringIO()
    return main(["--version"], Console(None, Broken(error), stderr, environ)), stderr.getvalue()


def test_the_version_is_that_of_the_package(call: Call) -> None:
    assert call("--version").out == f"dynamo-render {dynamo_render.__version__}\n"


def test_help_names_every_command(call: Call) -> None:
    result = call("--help")
    assert result.status == 0
    assert [name for name in COMMANDS if f"    {name}" not in result.out] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_has_an_example(command: str, call: Call) -> None:
    result = call(command, "--help")
    assert (result.status, result.err) == (0, "")
    assert "dynamo-render " + command in result.out.partition("\nexample:\n")[2]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_argument_of_every_command_is_explained(command: str) -> None:
    parser: ArgumentParser = parsing.command_parser(command, parsing.command(command))
    assert [action.dest for action in parsing.all_actions(parser) if not action.help] == []


@pytest.mark.parametrize("words", [[], ["rendr"], ["--what"]])
def test_a_call_without_a_known_command_is_a_usage_error(words: list[str], call: Call) -> None:
    result = call(*words)
    assert (result.status, result.out) == (2, "")
    assert [name for name in COMMANDS if name not in result.err] == []


def test_an_unknown_flag_is_a_usage_error(call: Call) -> None:
    result = call("render", "graph.yaml", "--strickt")
    assert result.status == 2
    assert result.err == (
        "dynamo-render render: unrecognized arguments: --strickt\n    hint: see `dynamo-render render --help`\n"
    )


def test_flags_are_not_abbreviated(call: Call) -> None:
    """A flag that comes with a later release must not change what an abbreviation means."""
    assert "--stri" in call("render", "graph.yaml", "--stri").err


def test_a_broken_pipe_ends_quietly() -> None:
    assert status_and_errors(BrokenPipeError()) == (141, "")


def test_an_interrupt_ends_quietly() -> None:
    assert status_and_errors(KeyboardInterrupt()) == (130, "")


def test_a_full_disk_is_one_line() -> None:
    assert status_and_errors(OSError(28, "No space left on device")) == (2, "dynamo-render: no space left on device\n")


def test_a_mistake_of_ours_is_one_line_that_asks_for_a_report() -> None:
    status, text = status_and_errors(ZeroDivisionError("by\nzero"))
    assert status == 2
    assert text.startswith("internal error: ZeroDivisionError: by\\nzero; please report it")
    assert text.count("\n") == 1


def test_a_mistake_of_ours_shows_where_it_happened_when_asked_to() -> None:
    _status, text = status_and_errors(ZeroDivisionError(), DYNAMO_RENDER_DEBUG="1")
    assert "Traceback" in text

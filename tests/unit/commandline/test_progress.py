"""A progress bar appears when somebody waits, and never anywhere else."""

from __future__ import annotations

import io

import pytest

from dynamo_render.commandline import progress
from dynamo_render.commandline.contract import Console
from dynamo_render.commandline.messages import Report
from dynamo_render.errors import Problem
from tests.unit.commandline.conftest import Terminal


def shown(stdout: io.StringIO, stderr: io.StringIO, steps: int = 3) -> str:
    """Return what standard error shows over some steps, with a message at the second."""
    console = Console(None, stdout, stderr, {})
    report = Report(stderr)
    for step in progress.Progress(console, report, steps).each(range(steps)):
        if step == 1:
            report.problems("a.yaml", [Problem("x/y", (), "is odd")])
    return stderr.getvalue()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every wait seem long."""
    monkeypatch.setattr(progress, "_SECONDS_OF_PATIENCE", -1.0)


@pytest.mark.usefixtures("impatient")
def test_a_long_wait_at_a_terminal_has_a_bar() -> None:
    assert "/3 [" in shown(io.StringIO(), Terminal())


@pytest.mark.usefixtures("impatient")
def test_a_message_starts_on_a_line_without_the_bar() -> None:
    text = shown(io.StringIO(), Terminal())
    before = text.partition("a.yaml: x/y")[0].rpartition("\r")[2]
    assert before.strip() == ""


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("stdout", "stderr"), [(io.StringIO(), io.StringIO()), (Terminal(), Terminal()), (Terminal(), io.StringIO())]
)
def test_there_is_no_bar_elsewhere(stdout: io.StringIO, stderr: io.StringIO) -> None:
    """Neither in files, nor between lines of output."""
    assert shown(stdout, stderr) == "a.yaml: x/y: is odd\n"


def test_a_short_wait_has_no_bar() -> None:
    assert shown(io.StringIO(), Terminal()) == "a.yaml: x/y: is odd\n"

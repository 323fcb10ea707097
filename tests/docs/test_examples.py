"""Every example in the documents does what the documents say.

Blocks of a document run in their order, in a folder of their own that holds `examples/`. The word behind the opening
mark says what to do: ``console`` holds commands behind ``$`` with what they print, ``pycon`` a Python session,
``python`` a program, and ``yaml NAME`` is the file NAME for the blocks below it. Other blocks are for the eye
only. Three dots stand for any output.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([ROOT / "README.md", *ROOT.glob("docs/reference/*.md")])
BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<kind>\w+)(?: (?P<name>\S+))?\n(?P<text>.*?)^ *```$", re.DOTALL | re.MULTILINE
)
END = "--- end of output ---"


@attrs.frozen
class Block:
    """One fenced block of a document."""

    kind: str
    name: str | None
    text: str
    line: int


@attrs.frozen
class Place:
    """Where a document's blocks run: its folder, and the names of its Python blocks."""

    folder: Path
    names: dict[str, Any]


def blocks(text: str) -> Iterator[Block]:
    """Yield the fenced blocks of a document."""
    for found in BLOCK.finditer(text):
        body = re.sub(f"^{found['indent']}", "", found["text"], flags=re.MULTILINE)
        yield Block(found["kind"], found["name"], body, text.count("\n", 0, found.start()) + 1)


def commands(text: str) -> list[tuple[str, str]]:
    """Return the commands of a console block, each with what it prints."""
    found: list[tuple[str, str]] = []
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append((line[2:].rstrip("\n"), ""))
        else:
            command, output = found[-1]
            found[-1] = (command, output + line)
    return found


def shell_output(lines: list[str], folder: Path) -> list[str]:
    """Return what each of *lines* prints, on both streams, in one shell."""
    program = f'dynamo-render() {{ {shlex.quote(sys.executable)} -m dynamo_render "$@"; }}\n'
    script = program + "".join(f"{line}\nstatus=$?; echo '{END}'; (exit $status)\n" for line in lines)
    environ = {key: value for key, value in os.environ.items() if not key.startswith("DYNAMO_RENDER_")}
    done = subprocess.run(
        ["/bin/bash", "-c", script],
        cwd=folder,
        env={**environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout.split(f"{END}\n")[:-1]


def run_console(block: Block, place: Place) -> None:
    """Run the commands of *block* and compare what they print."""
    expected = commands(block.text)
    printed = shell_output([command for command, _output in expected], place.folder)
    checker = doctest.OutputChecker()
    for (command, wanted), got in zip(expected, printed, strict=True):
        if not checker.check_output(wanted, got, doctest.ELLIPSIS):
            pytest.fail(f"line {block.line}: $ {command}\nprints\n{got}\nand not\n{wanted}")


def run_session(block: Block, place: Place) -> None:
    """Run a Python session and compare what it prints."""
    session = doctest.DocTestParser().get_doctest(block.text, place.names, "session", None, block.line)
    report: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(session, out=report.append, clear_globs=False)
    place.names.update(session.globs)
    assert not result.failed, "".join(report)


def run_program(block: Block, place: Place) -> None:
    """Run a Python program; its names are there for the blocks below."""
    exec(compile("\n" * block.line + block.text, "block", "exec"), place.names)  # noqa: S102 - what this test is for


def write_file(block: Block, place: Place) -> None:
    """Write the file that *block* names, if it does."""
    if block.name:
        (place.folder / block.name).write_text(block.text, encoding="utf-8")


RUNNERS: Mapping[str, Callable[[Block, Place], None]] = {
    "console": run_console,
    "pycon": run_session,
    "python": run_program,
    "yaml": write_file,
}


def has_examples(document: Path) -> bool:
    """Whether there is anything to run in a document; tables of rules and rooms have nothing."""
    return any(block.kind in RUNNERS for block in blocks(document.read_text(encoding="utf-8")))


def test_what_readers_try_first_has_examples() -> None:
    names = {document.name for document in DOCUMENTS if has_examples(document)}
    assert {"README.md", "command-line.md", "library.md", "diff.md", "schemas.md"} <= names


@pytest.mark.parametrize(
    "document",
    [document for document in DOCUMENTS if has_examples(document)],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_the_examples_of_a_document_work(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    # The README says `text` where readers have their own graph.
    text = (ROOT / "examples" / "vllm-agg" / "graph.yaml").read_text(encoding="utf-8")
    place = Place(tmp_path, {"text": text})
    ran = 0
    for block in blocks(document.read_text(encoding="utf-8")):
        if run := RUNNERS.get(block.kind):
            run(block, place)
            ran += 1
    assert ran > 0


def test_a_wrong_example_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match="prints\nb\n"):
        run_console(Block("console", None, "$ echo a\na\n$ echo b\nc\n", 1), Place(tmp_path, {}))


def test_a_wrong_session_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="Expected:"):
        run_session(Block("pycon", None, ">>> 1 + 1\n3\n", 1), Place(tmp_path, {}))

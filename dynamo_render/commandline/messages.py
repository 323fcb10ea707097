"""What is said on standard error: problems with their positions, notes, and the exit code that they add up to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TextIO

from dynamo_render.commandline.contract import FINDINGS, FINE, UNUSABLE
from dynamo_render.errors import Problem, UnreadableInput
from dynamo_render.kube.text import Places

Path = tuple[str | int, ...]

_RED, _YELLOW, _BOLD, _DIM, _PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[1m", "\x1b[2m", "\x1b[0m"

# Problems of these rules are about the key, and not about what it is set to.
_ABOUT_KEYS = frozenset({"schema/unknown-field", "record/unknown-key"})


class Report:
    """Writes messages and remembers the worst of them as *status*."""

    def __init__(self, stream: TextIO, *, colour: bool = False) -> None:
        """Write to *stream*; nothing is wrong yet."""
        self.status = FINE
        self.before_message: Callable[[], None] = lambda: None
        self._stream = stream
        self._colour = colour

    def problems(self, source: str, found: Iterable[Problem], places: Places | None = None, prefix: Path = ()) -> None:
        """Report *found* in one document of *source*, sorted by position; *prefix* leads to their paths."""
        placed = [(_position(problem, places, prefix), problem) for problem in found]
        for position, problem in sorted(placed, key=lambda item: item[0]):
            path = f"{source}:{position[0]}:{position[1]}" if position != (0, 0) else source
            self._line(path, str(_below(problem, prefix)), problem.severity)
            if problem.hint:
                self._write(f"    hint: {problem.hint}", _DIM)
            if problem.severity == "error":
                self.raise_status(FINDINGS)

    def unreadable(self, error: UnreadableInput) -> None:
        """Report a text that is no YAML or JSON."""
        position = ":".join(str(part) for part in (error.source, error.line, error.column) if part is not None)
        self._line(position, f"input/unreadable: {error.message}", "error")
        self.raise_status(UNUSABLE)

    def unusable(self, source: str, rule: str, message: str, hint: str | None = None) -> None:
        """Report a file, or a call, that cannot be used as it is."""
        self._line(source, f"{rule}: {message}", "error")
        if hint:
            self._write(f"    hint: {hint}", _DIM)
        self.raise_status(UNUSABLE)

    def note(self, source: str, text: str) -> None:
        """Say something that is no problem."""
        self._write(f"{source}: note: {text}", _DIM)

    def warning(self, source: str, text: str) -> None:
        """Say something that is probably not meant."""
        self._line(source, text, "warning")

    def bug(self, source: str, error: Exception, environ: Mapping[str, str]) -> None:
        """Report a mistake of this program."""
        self.before_message()
        self._stream.write(f"{printable(source)}: {internal_error(error, environ)}")
        self.raise_status(UNUSABLE)

    def raise_status(self, status: int) -> None:
        """Let the exit code be *status* unless it is worse already."""
        self.status = max(self.status, status)

    def _line(self, position: str, text: str, severity: str) -> None:
        mark = "warning: " if severity == "warning" else ""
        position, text = printable(position), printable(mark + text)
        self.before_message()
        if self._colour:
            hue = _YELLOW if severity == "warning" else _RED
            rule, colon, rest = text.partition(": ")
            self._stream.write(f"{_BOLD}{position}:{_PLAIN} {hue}{rule}{colon}{_PLAIN}{rest}\n")
        else:
            self._stream.write(f"{position}: {text}\n")

    def _write(self, text: str, hue: str) -> None:
        self.before_message()
        text = printable(text)
        self._stream.write(f"{hue}{text}{_PLAIN}\n" if self._colour else f"{text}\n")


def wants_colour(choice: str, stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether messages on *stream* are to be coloured: as *choice* says, by default on terminals only."""
    if choice != "auto":
        return choice == "always"
    return not environ.get("NO_COLOR") and environ.get("TERM") != "dumb" and stream.isatty()


def printable(text: str) -> str:
    """Return *text* on one line, with escapes for what would move the cursor or change its colour."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )


def internal_error(error: Exception, environ: Mapping[str, str]) -> str:
    """Return the line about a mistake of this program, and where it happened if DYNAMO_RENDER_DEBUG is set."""
    line = f"internal error: {type(error).__name__}: {error}"
    ask = "please report it with the input; DYNAMO_RENDER_DEBUG=1 shows where it happened"
    text = f"{printable(line)}; {ask}\n"
    if environ.get("DYNAMO_RENDER_DEBUG") in (None, "", "0"):
        return text
    import traceback  # noqa: PLC0415 - for debugging only

    return text + "".join(traceback.format_exception(error))


def _position(problem: Problem, places: Places | None, prefix: Path) -> tuple[int, int]:
    if places is None:
        return (0, 0)
    return places.find((*prefix, *problem.path), key=problem.rule in _ABOUT_KEYS)


def _below(problem: Problem, prefix: Path) -> Problem:
    """Return *problem* with the path from the top of the document."""
    if not prefix:
        return problem
    return Problem(problem.rule, (*prefix, *problem.path), problem.message, problem.hint, problem.severity)

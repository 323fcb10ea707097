"""Compares what `validate` says of a resource with what an API server says, and knows the listed differences.

The reasons of the differences are in docs/decisions/0008-verdicts-that-differ.md, one line of its table for each
pattern; the table is read from there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from dynamo_render import Problem, validate
from tests.cluster.client import Answer

Json = dict[str, Any]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "decisions" / "0008-verdicts-that-differ.md"

_DECODING_ERROR = "strict decoding error: "
_UNKNOWN_FIELD = re.compile(r'unknown field "(.*?)"(?=, unknown field "|$)')
_MAP_KEY = re.compile(r"\[([^]]*[^]0-9][^]]*)]")
_NO_FIELD = "<nil>"
_UNKNOWN = frozenset({"schema/unknown-field", "deprecated/removed-field"})


@attrs.frozen
class Pattern:
    """One listed difference: who refuses, *ours* or the *server*, and what that side's line looks like."""

    side: str
    words: re.Pattern[str]

    def matches(self, line: str) -> bool:
        """Whether *line* of `differences` is this one."""
        side, _, words = line.partition(": ")
        return self.side == side and self.words.search(words) is not None


def listed(page: Path = PAGE) -> tuple[Pattern, ...]:
    """Return the patterns in the table of *page*: its first cell says who refuses, its second cell has the pattern."""
    rows = re.findall(r"^\| (we|the server) \| `(.+?)` \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    return tuple(Pattern(side, re.compile(words.replace(r"\|", "|"))) for side, words in rows)


def left_to_the_server(page: Path = PAGE) -> tuple[re.Pattern[str], ...]:
    """Return the patterns of the fields of pods that `validate` does not judge."""
    rows = re.findall(r"^\| pods \| `(.+?)` \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    return tuple(re.compile(row.replace(r"\|", "|")) for row in rows)


def of_the_server(resource: Json) -> Mapping[str, Problem]:
    """Return by its dotted path what `validate` says that a server refuses before any admission webhook is asked."""
    return {dotted(problem.path): problem for problem in validate(resource) if _is_of_the_server(problem)}


def _is_of_the_server(problem: Problem) -> bool:
    """Whether strict field validation refuses it: problems of the schema, and of the resource's own metadata."""
    if problem.rule in _UNKNOWN:
        return True
    is_metadata = problem.rule.startswith("metadata/") and problem.path[:1] == ("metadata",)
    return problem.severity == "error" and (problem.rule.startswith("schema/") or is_metadata)


def dotted(path: Iterable[str | int]) -> str:
    """Return *path* as a server names it: every key behind a dot, whatever is in it."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def named_paths(answer: Answer) -> set[str]:
    """Return the paths that a refusal names, in one spelling: some messages say ``services[A]`` for ``services.A``."""
    if _DECODING_ERROR in answer.message:
        return set(_UNKNOWN_FIELD.findall(answer.message.partition(_DECODING_ERROR)[2]))
    return {_MAP_KEY.sub(r".\1", field).lstrip(".") for field, _ in answer.causes if field != _NO_FIELD}


def differences(resource: Json, answer: Answer, known: tuple[Pattern, ...]) -> Iterator[str]:
    """Yield a line for each way in which we and the server disagree on *resource*, but for the *known* ones."""
    ours = of_the_server(resource)
    found = [f"we: {problem}" for problem in ours.values()]
    if answer.is_refusal and not ours:
        found = [f"the server: {answer.message}"]
    elif answer.is_refusal:
        missing = sorted(path for path in named_paths(answer) if not _is_named(path, ours))
        found = [f"the server: {path}: {answer.message}" for path in missing]
    yield from (line for line in found if not _is_known(line, known))


def _is_named(path: str, ours: Mapping[str, Problem]) -> bool:
    """Whether one of *ours* is at *path*; what is inside a value of a wrong type is not looked at by us."""
    if path in ours:
        return True
    if path.startswith("metadata."):
        return any(_without_indexes(each).startswith(path) for each in ours)
    return any(problem.rule == "schema/type" and _is_below(path, outer) for outer, problem in ours.items())


def _is_below(path: str, outer: str) -> bool:
    return path.startswith((f"{outer}.", f"{outer}["))


def _without_indexes(path: str) -> str:
    return re.sub(r"\[\d+]", "", path)


def _is_known(line: str, known: Iterable[Pattern]) -> bool:
    return any(pattern.matches(line) for pattern in known)

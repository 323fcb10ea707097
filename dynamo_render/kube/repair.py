"""What is left of a document when the values that its schema refuses are taken out, so that later checks can go on.

One mistake must not hide the others. Nothing here is used for rendering: what is refused stays refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dynamo_render.errors import Problem
from dynamo_render.kube import structural

Path = tuple["str | int", ...]

PLACEHOLDER = "unnamed"

_MISSING = object()


class Repair:
    """A copy of a document, and where values were taken out of it.

    Paths of problems found in the copy lead to other list entries once some are gone; `original` translates them.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        """Start with a copy in which nothing is repaired."""
        self.document: dict[str, Any] = {}
        self._omitted: set[Path] = set()
        try:
            self.document = structural.copied(dict(document))
        except RecursionError:  # deeper than any reader of texts accepts: nothing of it can be judged any further
            self._omitted.add(())
        self._gone: dict[Path, list[int]] = {}

    def take_out(self, problems: Iterable[Problem]) -> bool:
        """Repair what the schema refuses in the copy; return whether anything changed.

        A missing value gets a placeholder, and where that does not help either, what lacks it goes.
        """
        paths = sorted(
            {problem.path: problem for problem in problems if problem.severity == "error"}.items(), key=_order
        )
        changed = False
        for path, problem in reversed(paths):
            if problem.rule == "schema/count":
                continue
            changed = self._repaired(path, is_missing=problem.rule == "schema/required") or changed
        return changed

    def _repaired(self, path: Path, *, is_missing: bool) -> bool:
        original = self.original(path)
        if is_missing and original not in self._omitted:
            self._omitted.add(original)
            return _put(self.document, path, PLACEHOLDER)
        if path in {("metadata", "name"), ("metadata", "namespace")}:
            self._omitted.add(original)
            return _put(self.document, path, PLACEHOLDER)
        if original in self._omitted and path[1:]:
            path = path[:-1]
            original = self.original(path)
        self._omitted.add(original)
        if path in {("spec",), ("metadata",)} or path[:-1] == ("spec", "services"):
            return _put(self.document, path, {})
        return self._removed(path, original)

    def _removed(self, path: Path, original: Path) -> bool:
        holder = _value_at(self.document, path[:-1])
        last = path[-1] if path else None
        if isinstance(holder, dict) and last in holder:
            del holder[last]
            return True
        if isinstance(holder, list) and isinstance(last, int) and last < len(holder):
            del holder[last]
            index = original[-1]
            assert isinstance(index, int)  # noqa: S101 - narrows the type
            self._gone[original[:-1]] = sorted([*self._gone.get(original[:-1], ()), index])
            return True
        return False

    def original(self, path: Path) -> Path:
        """Return the path in the document as it was given of what stands at *path* in the copy."""
        if not self._gone:
            return path
        result: Path = ()
        for step in path:
            place = step
            if isinstance(place, int):
                for gone in self._gone.get(result, ()):
                    place += gone <= place
            result = (*result, place)
        return result

    def hides(self, path: Path) -> bool:
        """Whether a finding at *path*, given as in the original, may come from what was taken out."""
        return any(path[: len(omitted)] == omitted or omitted[:-1] == path for omitted in self._omitted)

    def visible(self, problems: Iterable[Problem]) -> Iterator[Problem]:
        """Yield those of the *problems* found in the copy that are not about its repair, with original paths."""
        for problem in problems:
            path = self.original(problem.path)
            is_of_names = problem.rule.startswith("names/")
            if not (self.touched(path) if is_of_names else self.hides(path)):
                yield Problem(problem.rule, path, problem.message, problem.hint, problem.severity)

    def touched(self, path: Path) -> bool:
        """Whether anything at *path* itself or above it was taken out."""
        return any(path[: len(omitted)] == omitted for omitted in self._omitted)


def _order(item: tuple[Path, Problem]) -> list[tuple[bool, str, int]]:
    """Sort list entries by number, so that the last can go first."""
    return [(True, "", step) if isinstance(step, int) else (False, step, 0) for step in item[0]]


def _value_at(document: Any, path: Path) -> Any:
    for step in path:
        if isinstance(document, dict):
            document = document.get(step, _MISSING)
        elif isinstance(document, list) and isinstance(step, int) and step < len(document):
            document = document[step]
        else:
            return _MISSING
    return document


def _put(document: dict[str, Any], path: Path, value: Any) -> bool:
    holder = _value_at(document, path[:-1])
    if isinstance(holder, dict):
        holder[path[-1]] = value
        return True
    return False

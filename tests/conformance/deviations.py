"""Reads the tables of docs/controller/differences.md: which differences from recorded stories are deliberate."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

import attrs

from tests.conformance.deviation_rules import RULES
from tests.conformance.story_differences import Difference

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "controller" / "differences.md"
SEEN, UNSEEN = "## Where recorded stories show it", "## Where a story could show it"
SEEN_OF_REQUESTS = "## Where recorded stories of requests and models show it"
COLUMNS = ["Rule", "Kinds", "Fields", "Released operator", "Controller", "Reason"]


@attrs.frozen
class Row:
    """One row of a table: a *rule*, and the kinds and fields that it may explain, as patterns."""

    rule: str
    kinds: tuple[str, ...]
    fields: tuple[str, ...]
    reason: str

    def covers(self, found: Difference) -> bool:
        """Whether *found* is this deliberate difference."""
        is_meant = any(fnmatchcase(found.kind, kind) for kind in self.kinds)
        is_meant = is_meant and any(fnmatchcase(found.field, field) for field in self.fields)
        return is_meant and RULES[self.rule](found)


def rows(section: str) -> list[Row]:
    """Return the rows of a section of the document."""
    text = DOCUMENT.read_text(encoding="utf-8").partition(f"\n{section}\n")[2].partition("\n## ")[0]
    header, _line, *body = [_cells(line) for line in text.splitlines() if line.startswith("|")]
    if header != COLUMNS:
        raise ValueError(f"the table has columns {header}, not {COLUMNS}")
    return [Row(cells[0], _listed(cells[1]), _listed(cells[2]), cells[5]) for cells in body]


def all_rows() -> list[Row]:
    """Return the rows of all sections."""
    return [*rows(SEEN), *rows(SEEN_OF_REQUESTS), *rows(UNSEEN)]


def unexplained(found: Iterable[Difference], listed: Iterable[Row] | None = None) -> list[str]:
    """Return a line for each difference that no row covers."""
    known = list(all_rows() if listed is None else listed)
    return [str(each) for each in found if not any(row.covers(each) for row in known)]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _listed(cell: str) -> tuple[str, ...]:
    return tuple(re.findall(r"`([^`]+)`", cell))

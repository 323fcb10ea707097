"""Reads the table of deliberate differences in docs/controller/differences.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import attrs

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "controller" / "differences.md"
COLUMNS = ["Where", "Kind", "Fields", "Released operator", "Controller", "Reason"]


@attrs.frozen
class Place:
    """One field of the status of one kind after one step of a story."""

    story: str
    step: int
    kind: str
    field: str


@attrs.frozen
class Row:
    """One deliberate difference: where it shows, and why it is there."""

    places: frozenset[Place]
    reason: str


def rows() -> list[Row]:
    """Return the rows about statuses that stories show."""
    section = DOCUMENT.read_text(encoding="utf-8").partition("\n## Statuses\n")[2].partition("\n## ")[0]
    table = [_cells(line) for line in section.splitlines() if line.startswith("|")]
    header, _rule, *body = table
    if header != COLUMNS:
        raise ValueError(f"the table has columns {header}, not {COLUMNS}")
    return [Row(frozenset(_places(*cells[:3])), cells[5]) for cells in body]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _places(where: str, kind: str, fields: str) -> Iterator[Place]:
    for part in where.split("; "):
        story, steps = part.split(" ", 1)
        for first, last in re.findall(r"(\d+)(?:-(\d+))?", steps):
            for step in range(int(first), int(last or first) + 1):
                for field in fields.split(", "):
                    yield Place(story, step, kind, field)

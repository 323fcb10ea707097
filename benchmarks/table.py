"""The table that benchmarks print, and the clock that fills it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

import attrs


@attrs.frozen
class Row:
    """One measure in one unit; *target* is None where there is none."""

    measure: str
    median: float
    best: float
    unit: str
    target: float | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        """The row as texts; the last is the ratio of median and target, below 1 when the target is met."""
        target = "" if self.target is None else f"{self.target:g} {self.unit}"
        ratio = "" if self.target is None else f"{self.median / self.target:.2f}"
        return self.measure, f"{self.median:.3g} {self.unit}", f"{self.best:.3g} {self.unit}", target, ratio


HEADER = ("measure", "median", "best", "target", "median / target")


def text(rows: Sequence[Row]) -> str:
    """Return *rows* as a table in plain text."""
    cells = [HEADER, *(row.cells for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEADER))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def timed(action: Callable[[], object], repetitions: int, *, warm_up: int = 1) -> list[float]:
    """Return how long each of so many runs of *action* took, in seconds."""
    for _ in range(warm_up):
        action()
    spans = []
    for _ in range(repetitions):
        start = time.perf_counter()
        action()
        spans.append(time.perf_counter() - start)
    return spans


def row(measure: str, spans: Sequence[float], unit: str, scale: float, target: float | None = None) -> Row:
    """Return the row of *spans* in seconds, in *unit*, of which a second has *scale*."""
    return Row(measure, statistics.median(spans) * scale, min(spans) * scale, unit, target)

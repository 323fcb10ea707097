"""A progress bar on standard error, for work that takes longer than a second in front of somebody."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from dynamo_render.commandline.contract import Console
from dynamo_render.commandline.messages import Report

if TYPE_CHECKING:
    from tqdm import tqdm

_SECONDS_OF_PATIENCE = 1.0

Step = TypeVar("Step")


class Progress:
    """Counts what is done of *total* inputs; shows nothing unless standard error alone is a terminal."""

    def __init__(self, console: Console, report: Report, total: int) -> None:
        """Start to count; messages of *report* will clear the bar before they appear."""
        self._stream = console.stderr
        # Where the output goes to the same terminal, it is progress enough.
        self._is_wanted = total > 1 and console.stderr.isatty() and not console.stdout.isatty()
        self._total = total
        self._started = time.monotonic()
        self._bar: tqdm[Any] | None = None
        report.before_message = self._clear

    def each(self, steps: Iterable[Step]) -> Iterator[Step]:
        """Yield *steps*, counting each one when the next is asked for."""
        for done, step in enumerate(steps):
            if self._is_wanted:
                self._show(done)
            yield step
        if self._bar is not None:
            self._bar.close()

    def _show(self, done: int) -> None:
        if self._bar is not None:
            self._bar.update(done - self._bar.n)
        elif time.monotonic() - self._started > _SECONDS_OF_PATIENCE:
            from tqdm import tqdm  # noqa: PLC0415 - loaded once it is clear that there is time

            self._bar = tqdm(None, total=self._total, initial=done, file=self._stream, unit="input", leave=False)

    def _clear(self) -> None:
        if self._bar is not None:
            self._bar.clear()

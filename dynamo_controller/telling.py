"""Events that passes do not wait for: what they tell stands in a line, and few writers record it one after the other.

Knows no cluster. When more is told than can be recorded, what is oldest is dropped: nobody waits for an event, and the
memory of a process is for what somebody waits for.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol

from dynamo_controller.ports import Clock, Json, Log, Object
from dynamo_controller.telemetry import Metrics

WRITERS = 2
"""Events that are recorded at a time: few, because every one of them takes the place of an object's write."""

BREATH = 0.1
"""Seconds that a writer lets pass before each event while passes wait for their turn: making comes before telling."""

MOST = 20_000
"""Events that wait to be recorded: about as many as a thousand new graphs lead to."""

FAREWELL = 5.0
"""Seconds that are left at the stop for what has not been recorded yet."""

_SUBJECT = ("name", "namespace", "uid", "resourceVersion")

Sort = Literal["Normal", "Warning"]


class Recorder(Protocol):
    """Where events end up."""

    async def record(self, resource: Object, sort: Sort, reason: str, message: str, when: str) -> None:
        """Record an event of the time *when*; never raises `ClusterError`."""


class _Told(NamedTuple):
    resource: Json
    sort: Sort
    reason: str
    message: str
    when: str


class ToldLater:
    """`dynamo_controller.ports.Events` whose events `run` hands to a *recorder*, slowly while there *is work*."""

    def __init__(
        self, recorder: Recorder, clock: Clock, log: Log, metrics: Metrics, is_work: Callable[[], bool] = lambda: False
    ) -> None:
        """Record nothing yet."""
        self._recorder = recorder
        self._is_work = is_work
        self._clock = clock
        self._log = log
        self._metrics = metrics
        self._line: deque[_Told] = deque()
        self._being_recorded = 0
        self._changed = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def is_idle(self) -> bool:
        """Whether everything that was told is recorded or dropped."""
        return self._idle.is_set()

    async def tell(self, resource: Object, sort: Sort, reason: str, message: str) -> None:
        """Put an event in the line, and return at once."""
        if len(self._line) >= MOST:
            self._line.popleft()
            self._metrics.events_dropped.inc()
        # Of a resource only what names it is kept: the line may be long, and resources large.
        named = {key: resource["metadata"][key] for key in _SUBJECT if key in resource["metadata"]}
        subject = {"apiVersion": resource["apiVersion"], "kind": resource["kind"], "metadata": named}
        self._line.append(_Told(subject, sort, reason, message, self._clock.timestamp()))
        self._idle.clear()
        self._changed.set()

    async def run(self) -> None:
        """Record what is told, in about its order, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for _ in range(WRITERS):
                tasks.create_task(self._write())

    def drop(self) -> None:
        """Drop all that waits: a process that must not write any more has nothing to tell."""
        self._metrics.events_dropped.inc(len(self._line))
        self._line.clear()
        self._rest()

    async def flush(self) -> None:
        """Return when everything is recorded, or after `FAREWELL` seconds; what is left then is dropped, and logged."""
        self._is_work = lambda: False
        waits = [asyncio.ensure_future(self._idle.wait()), asyncio.ensure_future(self._clock.sleep(FAREWELL))]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for each in waits:
            each.cancel()
        if self._line:
            self._log.write("warning", "stopped before every event was recorded", dropped=len(self._line))
            self.drop()

    async def _write(self) -> None:
        while True:
            while not self._line:
                self._changed.clear()
                await self._changed.wait()
            if self._is_work():
                await self._clock.sleep(BREATH)
                if not self._line:
                    continue
            told = self._line.popleft()
            self._being_recorded += 1
            try:
                await self._recorder.record(*told)
            except Exception as error:  # noqa: BLE001 - a mistake of ours about one event must not end the others
                self._log.write("error", f"mistake in an event: {error!r}", reason=told.reason)
            finally:
                self._being_recorded -= 1
                self._rest()

    def _rest(self) -> None:
        if not self._line and not self._being_recorded:
            self._idle.set()

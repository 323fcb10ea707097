"""A clock that stands still until a test moves it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta


class FakeClock:
    """`dynamo_controller.ports.Clock`; sleepers wake when `advance` passes their time."""

    def __init__(self) -> None:
        self.now = 0.0
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def monotonic(self) -> float:
        return self.now

    def utc(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.now)

    def timestamp(self) -> str:
        return self.utc().strftime("%Y-%m-%dT%H:%M:%SZ")

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers.append((self.now + seconds, woken))
        await woken

    def advance(self, seconds: float) -> None:
        """Let *seconds* pass."""
        self.now += seconds
        due = [each for each in self._sleepers if each[0] <= self.now]
        self._sleepers = [each for each in self._sleepers if each[0] > self.now]
        for _when, woken in due:
            if not woken.done():
                woken.set_result(None)

    def next_waking(self) -> float | None:
        """Seconds until the next sleeper wakes, or None when nobody sleeps."""
        waiting = [when for when, woken in self._sleepers if not woken.done()]
        return max(0.0, min(waiting) - self.now) if waiting else None

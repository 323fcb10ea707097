"""The clock of the machine: the only reader of time."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime


class SystemClock:
    """`dynamo_controller.ports.Clock` by the time of this machine."""

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic()

    def utc(self) -> datetime:
        """Return the time of day in UTC."""
        return datetime.now(UTC)

    def timestamp(self) -> str:
        """Return the time of day as RFC 3339 text with whole seconds."""
        return self.utc().strftime("%Y-%m-%dT%H:%M:%SZ")

    async def sleep(self, seconds: float) -> None:
        """Return after *seconds*."""
        await asyncio.sleep(seconds)

"""Whether the process is alive and ready, for probes. Asks checks; knows no server and starts nothing.

Specification: operator-config.md section 13.4; that readiness depends on anything is this project's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dynamo_controller.leases import within
from dynamo_controller.ports import Answer, Clock, Cluster, ClusterError, Log, Request

Check = Callable[[], str]
"""Says why something is not ready; empty when it is."""

POLL_SECONDS, ANSWER_SECONDS, STALE_SECONDS = 5.0, 5.0, 15.0
"""Between questions whether the API server is ready, for an answer, and since the last good one until it is missed."""

NOT_READY = 503


class Reachability:
    """Asks the API server from time to time whether it is ready."""

    def __init__(self, cluster: Cluster, clock: Clock, log: Log) -> None:
        """Know nothing yet."""
        self._cluster = cluster
        self._clock = clock
        self._log = log
        self._reached: float | None = None
        self._trouble = "it has not answered yet"

    async def run(self) -> None:
        """Ask, for ever."""
        while True:
            asked = self._clock.monotonic()
            trouble = await self._asked()
            if not trouble:
                self._reached = self._clock.monotonic()
            elif not self._trouble:
                self._log.write("warning", f"the API server is not ready: {trouble}")
            self._trouble = trouble
            await self._clock.sleep(max(0.0, asked + POLL_SECONDS - self._clock.monotonic()))

    def check(self) -> str:
        """Say why the API server counts as out of reach."""
        if self._reached is None or self._clock.monotonic() - self._reached > STALE_SECONDS:
            return f"the API server is out of reach: {self._trouble or 'it has not been asked for a while'}"
        return ""

    async def _asked(self) -> str:
        async def reach() -> str:
            try:
                await self._cluster.reach()
            except ClusterError as error:
                # A server that does not let us ask has answered.
                return "" if error.is_forbidden else str(error) or "it is not ready"
            return ""

        answer = await within(self._clock, ANSWER_SECONDS, reach())
        return f"no answer within {ANSWER_SECONDS:.0f} s" if answer is None else answer


class Health:
    """Answers probes by *checks*."""

    def __init__(self, checks: Mapping[str, Check]) -> None:
        """Ask nothing yet."""
        self._checks = checks

    def reasons(self) -> tuple[str, ...]:
        """Return why the process is not ready; nothing when it is."""
        return tuple(f"{name}: {reason}" for name, check in self._checks.items() if (reason := check()))

    async def alive(self, _request: Request) -> Answer:
        """Answer that the process serves: a restart heals nothing that it could not heal itself."""
        return Answer(200, b"ok\n")

    async def ready(self, _request: Request) -> Answer:
        """Answer whether the process can do its work or, where another one leads, could do it at once."""
        reasons = self.reasons()
        if not reasons:
            return Answer(200, b"ok\n")
        return Answer(NOT_READY, "".join(f"{reason}\n" for reason in reasons).encode())

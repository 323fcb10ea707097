"""Leader election with a Lease: at most one of several processes keeps resources in place.

How long somebody else's lease is good is measured by the own clock from when it was last seen to change, so
that clocks that disagree do no harm. The own lead ends before the lease does, by the own clock as well, and
`Election.is_leading` says so also when nothing has run in between. Specification: operator-config.md section 11.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from random import Random
from typing import Any, Literal, TypeVar

import attrs

from dynamo_controller.ports import Clock, Cluster, ClusterError, Json, Kind, Log, Object
from dynamo_render.values import Value

Result = TypeVar("Result")

LEASE = Kind("coordination.k8s.io/v1", "Lease")

RELEASE_LIMIT = 5.0
"""Seconds that the release of a lease at the stop may take."""

GIVEN_UP = 1
"""Seconds that a lease without a holder is good for when its holder has given it up."""

LOOKING_AWAY = 2
"""Times between two tries after which a candidate does not trust what it has seen before."""

SPREAD = 0.2
"""The share of the time between attempts that chance may add for those that wait."""


@attrs.frozen(eq=False, repr=False)
class Candidacy(Value):
    """Who wants which lease, and the seconds that it is good, that a lead lasts without renewal, and between tries."""

    namespace: str
    name: str
    identity: str
    lease_duration: float = 15.0
    renew_deadline: float = 10.0
    retry_period: float = 2.0


class Election:
    """Takes part in an election until `release`; *changed* hears when the lead begins and when it ends."""

    def __init__(
        self,
        cluster: Cluster,
        clock: Clock,
        log: Log,
        chance: Random,
        candidacy: Candidacy,
        changed: Callable[[bool], None],
    ) -> None:
        """Want nothing yet."""
        self._cluster = cluster
        self._clock = clock
        self._log = log
        self._chance = chance
        self._own = candidacy
        self._changed = changed
        self._stored: Json | None = None
        self._record: Object | None = None
        self._record_seen = 0.0
        self._looked = 0.0
        self._renewed: float | None = None
        self._is_held = False
        self._trouble = ""

    def is_leading(self) -> bool:
        """Whether this process may write now."""
        return self._is_held and self._left() > 0

    async def run(self) -> None:
        """Try to get the lease and to keep it, for ever."""
        while True:
            limit = self._left() if self._is_held else self._own.renew_deadline
            # After a long sleep of the whole process the lead is over before anything is asked.
            held = await within(self._clock, limit, self._attempt()) if limit > 0 else None
            self._settle(held=held)
            waits = self._own.retry_period
            if self._is_held:
                waits = min(waits, max(0.0, self._left()))
            else:
                waits *= 1 + SPREAD * self._chance.random()
            await self._clock.sleep(waits)

    async def release(self) -> None:
        """Give up the lease, so that another process need not wait for its end; give up trying after a while."""
        if not self._is_held or self._stored is None:
            return
        stored = self._stored
        self._lose("the process stops")
        now = as_text(self._clock.utc())
        given_up = {"holderIdentity": "", "leaseDurationSeconds": GIVEN_UP, "renewTime": now, "acquireTime": now}
        with contextlib.suppress(ClusterError):
            await within(self._clock, RELEASE_LIMIT, self._cluster.merge(stored, {"spec": given_up}))

    def _left(self) -> float:
        """Return the seconds that the lead lasts without renewal."""
        if self._renewed is None:
            return 0.0
        return self._renewed + self._own.renew_deadline - self._clock.monotonic()

    def _settle(self, *, held: bool | None) -> None:
        """Draw the consequences of an attempt: the lease is ours, it is somebody's, or nothing is known."""
        if held and self._left() > 0:
            if not self._is_held:
                self._is_held = True
                self._log.write("info", "leading", lease=f"{self._own.namespace}/{self._own.name}", **self._me())
                self._changed(True)
        elif self._is_held and held is False:
            self._lose(f"the lease is held by {self._holder()}")
        elif self._is_held and self._left() <= 0:
            self._lose("the lease could not be renewed in time")

    def _lose(self, reason: str) -> None:
        self._is_held = False
        self._renewed = None
        self._log.write("warning", f"no longer leading: {reason}", **self._me())
        self._changed(False)

    async def _attempt(self) -> bool | None:
        """Take or renew the lease if that is allowed; return whether it is ours, None when nobody can say."""
        asked = self._clock.monotonic()
        try:
            is_ours = await self._take()
        except ClusterError as error:
            self._complain(f"lease {self._own.namespace}/{self._own.name}: {error}")
            return None
        if is_ours is False and not self._is_held:
            holder = self._holder() or "nobody that could be asked"
            self._complain(f"waiting for the lease {self._own.namespace}/{self._own.name}, held by {holder}", "info")
        else:
            self._trouble = ""
        if is_ours:
            # Others count from when they see the renewal, and that is never before it was asked for.
            self._renewed = asked
        return is_ours

    async def _take(self) -> bool | None:
        if self._is_held and self._stored is not None:
            with _unless_changed():
                return await self._renew(self._stored)
        live = await self._cluster.get(LEASE, self._own.namespace, self._own.name)
        if live is not None:
            self._see(live)
        elif self._record is not None and self._holder() != self._own.identity:
            # Whoever held the lease that is gone does not know that yet; who has not looked for a while, knows nothing.
            self._note({"missing since": self._missing_since()})
        self._looked = self._clock.monotonic()
        if self._is_somebodys():
            return False
        with _unless_changed():
            await (self._create() if live is None else self._renew(live))
            return True
        return None

    async def _create(self) -> None:
        metadata = {"name": self._own.name, "namespace": self._own.namespace}
        content = {"apiVersion": LEASE.api_version, "kind": LEASE.kind, "metadata": metadata, "spec": self._spec(0)}
        self._see(await self._cluster.create(content))

    async def _renew(self, live: Json) -> bool:
        before = live.get("spec") or {}
        is_mine = before.get("holderIdentity") == self._own.identity
        spec = self._spec(int(before.get("leaseTransitions") or 0) + (not is_mine))
        if is_mine:
            del spec["acquireTime"]
        self._see(await self._cluster.merge(live, {"spec": spec}))
        return True

    def _spec(self, transitions: int) -> dict[str, Any]:
        now = as_text(self._clock.utc())
        return {
            "holderIdentity": self._own.identity,
            "leaseDurationSeconds": int(self._own.lease_duration),
            "acquireTime": now,
            "renewTime": now,
            "leaseTransitions": transitions,
        }

    def _see(self, live: Json) -> None:
        """Remember the lease, and since when it is as it is."""
        # The version makes every edit count: the same words twice may have a renewal in between.
        version = {key: live["metadata"].get(key) for key in ("uid", "resourceVersion")}
        self._note({**(live.get("spec") or {}), **version})
        self._stored = live

    def _note(self, record: Object) -> None:
        if record != self._record:
            self._record = record
            self._record_seen = self._clock.monotonic()

    def _missing_since(self) -> float:
        now, known = self._clock.monotonic(), (self._record or {}).get("missing since")
        has_looked_away = now - self._looked > LOOKING_AWAY * self._own.retry_period
        return now if known is None or has_looked_away else float(known)

    def _holder(self) -> str:
        return str((self._record or {}).get("holderIdentity") or "")

    def _is_somebodys(self) -> bool:
        """Whether somebody else may hold the lease: it has not been unchanged for as long as it is good.

        A holder that gives up leaves a duration of one second; where only the name of the holder was wiped out,
        the holder may still believe to lead.
        """
        if self._record is None or self._holder() == self._own.identity:
            return False
        duration = self._record.get("leaseDurationSeconds") or self._own.lease_duration
        if not self._holder() and duration == GIVEN_UP:
            return False
        return self._clock.monotonic() <= self._record_seen + float(duration)

    def _complain(self, trouble: str, level: Literal["info", "warning"] = "warning") -> None:
        if trouble != self._trouble:
            self._log.write(level, trouble, **self._me())
        self._trouble = trouble

    def _me(self) -> dict[str, str]:
        return {"identity": self._own.identity}


async def within(clock: Clock, seconds: float, doing: Awaitable[Result]) -> Result | None:
    """Return what *doing* leads to, or None when it takes longer than *seconds*; what it raises is raised."""
    attempt = asyncio.ensure_future(doing)
    limit = asyncio.ensure_future(clock.sleep(seconds))
    try:
        await asyncio.wait((attempt, limit), return_when=asyncio.FIRST_COMPLETED)
        return attempt.result() if attempt.done() else None
    finally:
        attempt.cancel()
        limit.cancel()


@contextlib.contextmanager
def _unless_changed() -> Iterator[None]:
    """Pass over the rest of the block when an object has changed, or come or gone, since it was read."""
    try:
        yield
    except ClusterError as error:
        if not (error.is_conflict or error.is_missing):
            raise


def as_text(moment: datetime) -> str:
    """Return a moment in UTC as the API writes it, with microseconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def as_moment(text: str) -> datetime:
    """Return the moment that a text of the API names."""
    return datetime.fromisoformat(text)

"""The Lease that marks a namespace as a restricted controller's: who writes it, and who keeps away.

A restricted controller writes it to its namespace; a cluster-wide one leaves marked namespaces alone until the mark is
deleted or too old by the time of day. Specification: operator-config.md sections 10.2 and 10.3, decisions.md section 3.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import attrs

from dynamo_controller.leases import LEASE, as_moment, as_text, within
from dynamo_controller.ports import Clock, Cluster, ClusterError, Json, Log, Object, Selection
from dynamo_controller.store import Store
from dynamo_render.values import Value

NAME = "dynamo-operator-namespace-scope"
SELECTION = Selection(LEASE, fields=f"metadata.name={NAME}")

REMOVAL_LIMIT = 5.0
"""Seconds that taking the mark off at the stop may take."""

LONGEST_NAP = 3600.0
"""Seconds after which marks are looked at anyway: the time of day may be set."""

_MOMENT = 0.001
"""Seconds after the last one in which a mark counts: it ends strictly after its duration."""


@attrs.frozen(eq=False, repr=False)
class Mark(Value):
    """What a restricted controller says of its namespace: for how many seconds it holds, and how often it is said."""

    namespace: str
    version: str = "unknown"
    duration: float = 30.0
    interval: float = 10.0

    @property
    def holder(self) -> str:
        """The identity in the Lease."""
        return f"namespace-restricted-operator-{self.version}"

    @property
    def trusted(self) -> float:
        """Seconds after which a mark that could not be renewed is no longer relied on, well before others ignore it."""
        tolerated = self.interval * max(1, int(self.duration / self.interval) - 1)
        return (tolerated + int(self.duration)) / 2


class MarkerWriter:
    """Keeps the mark of one namespace; *changed* hears when others have been told, and when they may not know."""

    def __init__(self, cluster: Cluster, clock: Clock, log: Log, mark: Mark, changed: Callable[[bool], None]) -> None:
        """Write nothing yet."""
        self._cluster = cluster
        self._clock = clock
        self._log = log
        self._mark = mark
        self._changed = changed
        self._written: float | None = None
        self._is_told = False

    def is_marked(self) -> bool:
        """Whether others can be relied on to leave the namespace to us."""
        return self._written is not None and self._left() > 0

    async def run(self) -> None:
        """Write the mark and renew it, for ever."""
        while True:
            started = self._clock.monotonic()
            await self._attempt()
            self._tell()
            await self._clock.sleep(max(0.0, started + self._mark.interval - self._clock.monotonic()))

    async def end(self) -> None:
        """Take the mark off, so that others need not wait for its end; give up trying after a while."""
        self._written = None
        with contextlib.suppress(ClusterError):
            await within(self._clock, REMOVAL_LIMIT, self._remove())

    def _left(self) -> float:
        return 0.0 if self._written is None else self._written + self._mark.trusted - self._clock.monotonic()

    def _tell(self) -> None:
        if self.is_marked() != self._is_told:
            self._is_told = self.is_marked()
            self._changed(self._is_told)

    async def _attempt(self) -> None:
        asked = self._clock.monotonic()
        try:
            is_written = await within(self._clock, self._mark.interval, self._write())
        except ClusterError as error:
            self._log.write("warning", f"marker Lease of {self._mark.namespace}: {error}", status=error.status)
            return
        if is_written:
            self._written = asked
        else:
            self._log.write("warning", f"marker Lease of {self._mark.namespace}: no answer in time")

    async def _write(self) -> bool:
        live = await self._cluster.get(LEASE, self._mark.namespace, NAME)
        if live is None:
            live = await self._create()
        # A mark counts from its first renewal on, so a new one is renewed at once.
        renewal = {"renewTime": as_text(self._clock.utc()), **self._claim()}
        await self._cluster.merge(live, {"spec": renewal})
        return True

    async def _create(self) -> Json:
        spec = {"acquireTime": as_text(self._clock.utc()), **self._claim()}
        metadata = {"name": NAME, "namespace": self._mark.namespace}
        return await self._cluster.create(
            {"apiVersion": LEASE.api_version, "kind": LEASE.kind, "metadata": metadata, "spec": spec}
        )

    def _claim(self) -> Json:
        return {"holderIdentity": self._mark.holder, "leaseDurationSeconds": int(self._mark.duration)}

    async def _remove(self) -> None:
        live = await self._cluster.get(LEASE, self._mark.namespace, NAME)
        if live is not None and live["spec"].get("holderIdentity") == self._mark.holder:
            await self._cluster.delete(live)


class MarkedNamespaces:
    """The namespaces that are marked now, by a store of Leases; *ended* hears of each that is marked no longer."""

    def __init__(self, clock: Clock, ended: Callable[[str], None]) -> None:
        """Know of no mark yet."""
        self.store = Store(LEASE, _mark_only, self._heard)
        self._clock = clock
        self._ended = ended
        self._marked: frozenset[str] = frozenset()
        self._news = asyncio.Event()

    def __len__(self) -> int:
        """Return how many namespaces are marked now."""
        return len(self._now())

    def __contains__(self, namespace: object) -> bool:
        """Whether a namespace is marked now."""
        lease = self.store.get(str(namespace), NAME)
        return lease is not None and self._left(lease) >= 0

    async def run(self) -> None:
        """Notice marks that end without a word, for ever."""
        while True:
            self._news.clear()
            self._compare()
            lasts = [self._left(lease) for lease in self.store if lease["metadata"]["namespace"] in self._marked]
            if lasts:
                await within(self._clock, min(*lasts, LONGEST_NAP) + _MOMENT, self._news.wait())
            else:
                await self._news.wait()

    def _heard(self, _before: Object | None, _now: Object | None) -> None:
        self._compare()
        self._news.set()

    def _compare(self) -> None:
        before, self._marked = self._marked, self._now()
        for namespace in sorted(before - self._marked):
            self._ended(namespace)

    def _now(self) -> frozenset[str]:
        return frozenset(
            str(lease["metadata"]["namespace"]) for lease in self.store if lease["metadata"]["namespace"] in self
        )

    def _left(self, lease: Object) -> float:
        """Return the seconds until a mark ends; negative when it has ended or has never begun."""
        spec = lease.get("spec") or {}
        renewed, duration = spec.get("renewTime"), spec.get("leaseDurationSeconds")
        if renewed is None or duration is None:
            return -1.0
        return (as_moment(renewed) - self._clock.utc()).total_seconds() + float(duration)


def _mark_only(content: Json) -> Json | None:
    """Return a mark without what nobody asks for; None of other Leases."""
    metadata = content["metadata"]
    if metadata["name"] != NAME:
        return None
    kept = {key: metadata[key] for key in ("name", "namespace", "uid", "resourceVersion") if key in metadata}
    return {"apiVersion": LEASE.api_version, "kind": LEASE.kind, "metadata": kept, "spec": content.get("spec") or {}}

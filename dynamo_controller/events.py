"""Events beside resources: one object for the same words about the same resource, with a count that grows.

Its name follows from what it says, so that a new process goes on with it. What happens again and again is written
once in a while, with the number of times.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import Literal

import attrs

from dynamo_controller.ports import FIELD_MANAGER, Clock, Cluster, ClusterError, Json, Kind, Log, Object
from dynamo_controller.telemetry import Metrics

EVENT = Kind("v1", "Event")

SILENCE = 600.0
"""Seconds in which the same words about the same resource are counted and not written again."""

REMEMBERED = 4096
LONGEST_MESSAGE, LONGEST_NAME = 1024, 200

Words = tuple[str, str, str]
"""The uid of a resource, a reason and a message."""


@attrs.define(eq=False)
class _Told:
    """When some words were written, and how often they were to be told since."""

    written: float
    unsaid: int = 0


class ClusterEvents:
    """`dynamo_controller.ports.Events` as Event objects of the cluster, written by the process *identity*."""

    def __init__(
        self, cluster: Cluster, clock: Clock, log: Log, metrics: Metrics | None = None, identity: str = FIELD_MANAGER
    ) -> None:
        """Tell nothing yet."""
        self._cluster = cluster
        self._clock = clock
        self._log = log
        self._metrics = metrics or Metrics()
        self._identity = identity
        self._told: OrderedDict[Words, _Told] = OrderedDict()

    async def tell(self, resource: Object, sort: Literal["Normal", "Warning"], reason: str, message: str) -> None:
        """Record an event of now; what the cluster refuses goes to the log."""
        await self.record(resource, sort, reason, message, self._clock.timestamp())

    async def record(
        self, resource: Object, sort: Literal["Normal", "Warning"], reason: str, message: str, when: str
    ) -> None:
        """Record an event of the time *when*; what the cluster refuses goes to the log."""
        self._metrics.events.labels(sort, reason).inc()
        words = resource["metadata"]["uid"], reason, message
        times = self._times_to_write(words)
        if not times:
            return
        try:
            await self._write(self._event(resource, sort, words, times, when))
        except ClusterError as error:
            self._log.write("warning", f"event {reason} was not recorded: {error}", status=error.status)

    def _times_to_write(self, words: Words) -> int:
        """Return how often *words* were told since they were last written, or 0 while they are only counted."""
        now = self._clock.monotonic()
        told = self._told.pop(words, None)
        if told is not None and now - told.written < SILENCE:
            told.unsaid += 1
            self._told[words] = told
            return 0
        self._told[words] = _Told(now)
        if len(self._told) > REMEMBERED:
            self._told.popitem(last=False)
        return 1 + (told.unsaid if told else 0)

    async def _write(self, event: Json) -> None:
        try:
            await self._cluster.create(event)
        except ClusterError as error:
            if not error.is_conflict:
                raise
            await self._raise_count(event)

    async def _raise_count(self, event: Json) -> None:
        metadata = event["metadata"]
        live = await self._cluster.get(EVENT, metadata["namespace"], metadata["name"])
        if live is None:
            return
        count = int(live.get("count") or 1) + event["count"]
        await self._cluster.merge(live, {"count": count, "lastTimestamp": event["lastTimestamp"]})

    def _event(self, resource: Object, sort: str, words: Words, times: int, when: str) -> Json:
        metadata, (_uid, reason, message) = resource["metadata"], words
        subject = {key: metadata[key] for key in ("name", "namespace", "uid", "resourceVersion") if key in metadata}
        digest = hashlib.sha256("\0".join((sort, *words)).encode()).hexdigest()[:16]
        return {
            "apiVersion": EVENT.api_version,
            "kind": EVENT.kind,
            "metadata": {"name": f"{metadata['name'][:LONGEST_NAME]}.{digest}", "namespace": metadata["namespace"]},
            "involvedObject": {"apiVersion": resource["apiVersion"], "kind": resource["kind"], **subject},
            "type": sort,
            "reason": reason,
            "message": message[:LONGEST_MESSAGE],
            "source": {"component": FIELD_MANAGER},
            "reportingComponent": FIELD_MANAGER,
            "reportingInstance": self._identity,
            "firstTimestamp": when,
            "lastTimestamp": when,
            "count": times,
        }

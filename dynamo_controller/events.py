"""Events beside resources: each thing once in a while, however often it happens."""

from __future__ import annotations

from collections import OrderedDict
from typing import Literal

from dynamo_controller.ports import FIELD_MANAGER, Clock, Cluster, ClusterError, Log, Object

SILENCE = 600.0
"""Seconds in which the same words about the same resource are not told again."""

REMEMBERED = 4096
LONGEST_MESSAGE = 1024


class ClusterEvents:
    """`dynamo_controller.ports.Events` as Event objects of the cluster."""

    def __init__(self, cluster: Cluster, clock: Clock, log: Log) -> None:
        """Tell nothing yet."""
        self._cluster = cluster
        self._clock = clock
        self._log = log
        self._told: OrderedDict[tuple[str, str, str], float] = OrderedDict()

    async def tell(self, resource: Object, sort: Literal["Normal", "Warning"], reason: str, message: str) -> None:
        """Record an event; what the cluster refuses goes to the log."""
        if self._was_told((resource["metadata"]["uid"], reason, message)):
            return
        try:
            await self._cluster.create(self._event(resource, sort, reason, message))
        except ClusterError as error:
            self._log.write("warning", f"event {reason} was not recorded: {error}", status=error.status)

    def _was_told(self, words: tuple[str, str, str]) -> bool:
        now = self._clock.monotonic()
        last = self._told.pop(words, None)
        if last is not None and now - last < SILENCE:
            self._told[words] = last
            return True
        self._told[words] = now
        if len(self._told) > REMEMBERED:
            self._told.popitem(last=False)
        return False

    def _event(self, resource: Object, sort: str, reason: str, message: str) -> dict[str, object]:
        metadata, now = resource["metadata"], self._clock.timestamp()
        subject = {key: metadata[key] for key in ("name", "namespace", "uid", "resourceVersion") if key in metadata}
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"generateName": f"{metadata['name'][:57]}.", "namespace": metadata["namespace"]},
            "involvedObject": {"apiVersion": resource["apiVersion"], "kind": resource["kind"], **subject},
            "type": sort,
            "reason": reason,
            "message": message[:LONGEST_MESSAGE],
            "source": {"component": FIELD_MANAGER},
            "reportingComponent": FIELD_MANAGER,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        }

"""A controller that runs in this process against a real API server, until the block ends."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from random import Random
from typing import Any

import attrs

from dynamo_controller.adapters.clock import SystemClock
from dynamo_controller.adapters.http import HttpEndpoints
from dynamo_controller.adapters.kubernetes import KubernetesCluster, Limits
from dynamo_controller.events import ClusterEvents
from dynamo_controller.manager import Manager, Outside
from dynamo_controller.ports import UNREACHABLE, ClusterError, Endpoints, Object
from dynamo_controller.shell import Policy
from dynamo_render import OperatorSettings
from tests.fakes.stage import RecordingLog

Json = dict[str, Any]
POLL = 0.1


class CountingCluster(KubernetesCluster):
    """Remembers every change that it was asked for, by verb, kind and name; events aside."""

    writes: list[tuple[str, str, str]]
    is_dead: Callable[[str, Object], bool] = staticmethod(lambda _verb, _target: False)
    """Is asked before every change; once it says so, none of them reaches the server."""

    def _note(self, verb: str, target: Object) -> None:
        if self.is_dead(verb, target):
            raise ClusterError(UNREACHABLE, "Dead", "the process is gone")
        self.writes.append((verb, target["kind"], target["metadata"]["name"]))

    async def apply(self, content: Object, *, force: bool) -> Json:
        self._note("apply", content)
        return await super().apply(content, force=force)

    async def delete(self, target: Object) -> None:
        self._note("delete", target)
        await super().delete(target)

    async def merge(self, target: Object, patch: Object) -> Json:
        self._note("merge", target)
        return await super().merge(target, patch)

    async def merge_status(self, target: Object, patch: Object) -> Json:
        self._note("status", target)
        return await super().merge_status(target, patch)

    async def replace_status(self, target: Object, status: Object) -> Json:
        self._note("status", target)
        return await super().replace_status(target, status)

    async def create(self, content: Object) -> Json:
        if content["kind"] != "Event":
            self._note("create", content)
        return await super().create(content)


@attrs.frozen(eq=False)
class Running:
    """A controller at work: its *manager*, the *cluster* as it sees it, and its *log*."""

    manager: Manager
    cluster: CountingCluster
    log: RecordingLog

    async def until(self, is_true: Callable[[], Any], *, seconds: float = 30.0) -> None:
        """Return when *is_true* or raise TimeoutError with the end of the log."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not await asyncio.to_thread(is_true):  # noqa: ASYNC110 - a cluster has no event for it
                    await asyncio.sleep(POLL)
                return
        raise TimeoutError(f"not true within {seconds} s; log: {self.log.lines[-5:]}")

    async def quiet(self, *, seconds: float = 1.5) -> None:
        """Return when nothing was to do for a while."""
        since = 0.0
        while since < seconds:
            await asyncio.sleep(POLL)
            since = since + POLL if self.manager.is_idle else 0.0


@contextlib.asynccontextmanager
async def running(
    kubeconfig: Path,
    namespace: str = "",
    policy: Policy | None = None,
    *,
    limits: Limits | None = None,
    endpoints: Endpoints | None = None,
    **settings: Any,
) -> AsyncIterator[Running]:
    """Run the controller for one namespace or, without one, for all."""
    cluster, clock, log = await CountingCluster.connected(str(kubeconfig), limits=limits), SystemClock(), RecordingLog()
    cluster.writes = []
    events, chance = ClusterEvents(cluster, clock, log), Random(1)  # noqa: S311 - spreads delays
    outside = Outside(
        cluster=cluster, clock=clock, events=events, log=log, chance=chance, endpoints=endpoints or HttpEndpoints()
    )
    given = {"etcd_address": "etcd:2379", "nats_address": "nats://nats:4222", "restricted_namespace": namespace}
    manager = Manager(outside, OperatorSettings.from_mapping({**given, **settings}), workers=4, policy=policy)
    stop = asyncio.Event()
    task = asyncio.create_task(manager.run(stop))
    try:
        async with asyncio.timeout(30):
            await asyncio.wait([task, asyncio.create_task(manager.ready.wait())], return_when="FIRST_COMPLETED")
        yield Running(manager, cluster, log)
    finally:
        stop.set()
        await task
        await cluster.close()
    assert log.mistakes() == []

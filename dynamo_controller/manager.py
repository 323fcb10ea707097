"""The running controller: watches that wake keys, workers that reconcile them, and a stop that loses nothing.

Holds no rule about objects. An error in one key never touches another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator
from random import Random
from typing import Any, Literal

import attrs

from dynamo_controller import markers
from dynamo_controller.inventory import Tally
from dynamo_controller.kinds import CALLING, RECONCILED
from dynamo_controller.markers import MarkedNamespaces
from dynamo_controller.ports import (
    Clock,
    Cluster,
    ClusterError,
    DiscoveryKeys,
    Endpoints,
    Events,
    Json,
    Keys,
    Kind,
    Log,
    Nobody,
    Object,
    Selection,
)
from dynamo_controller.queue import Closed, Queue
from dynamo_controller.reconcile import Done, PassFailed
from dynamo_controller.shell import Groups, Key, Policy, Shell
from dynamo_controller.store import Store
from dynamo_controller.telemetry import Metrics
from dynamo_controller.watch import Reflector, Surroundings
from dynamo_controller.watching import Watching
from dynamo_render import OperatorSettings

DEFINITION = Kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")

CALLERS = 16
"""How many resources that wait for answers of others are worked on at a time, beside all the others."""

GRACE = 20.0
"""Seconds that a pass may still take after the stop; what comes after it has ten more."""

STARTING = "watches are not warm yet"
"""Why no pass is made before everything has been listed once."""

DETECTION_DELAY = 1.0
"""Seconds from a change of a definition to the question which groups are served, and between attempts at it."""


@attrs.frozen(kw_only=True, eq=False)
class Outside:
    """Everything that the controller reaches beyond itself."""

    cluster: Cluster
    clock: Clock
    events: Events
    log: Log
    chance: Random
    endpoints: Endpoints = attrs.field(factory=Nobody)
    keys: Keys | None = None
    discovery: DiscoveryKeys | None = None
    metrics: Metrics = attrs.field(factory=Metrics)


class Manager:
    """Keeps every resource in place from `run` until the stop."""

    def __init__(
        self, outside: Outside, settings: OperatorSettings, *, workers: int, policy: Policy | None = None
    ) -> None:
        """Start nothing yet."""
        around = Surroundings(outside.cluster, outside.clock, outside.log, outside.chance)
        self._outside = outside
        self._workers = workers
        self._own_namespace = settings.restricted_namespace
        waited = outside.metrics.wait_seconds.observe
        self.queue: Queue[Key] = Queue(outside.clock, outside.chance, waited)
        self.calling: Queue[Key] = Queue(outside.clock, outside.chance, waited)
        self.hold(STARTING)
        outside.metrics.queued.set_function(lambda: len(self.queue) + len(self.calling))
        self._watching = Watching(around, settings.restricted_namespace, self._wake, self._forget)
        self.marked = MarkedNamespaces(outside.clock, self._wake_namespace)
        self._marks_watch = Reflector(markers.SELECTION, self.marked.store, around)
        self._definitions = Store(DEFINITION, _only_identity, self._definition_changed)
        self._definition_watch = Reflector(Selection(DEFINITION), self._definitions, around)
        self._detect_again = asyncio.Event()
        self.ready = asyncio.Event()
        self.shell = Shell(
            cluster=outside.cluster,
            clock=outside.clock,
            events=outside.events,
            log=outside.log,
            stores=self._watching.stores,
            groups=Groups(),
            settings=settings,
            policy=policy or Policy(),
            endpoints=outside.endpoints,
            keys=outside.keys,
            discovery=outside.discovery,
        )

    @property
    def tally(self) -> Tally:
        """How many resources there are."""
        return self._watching.tally

    @property
    def is_idle(self) -> bool:
        """Whether no pass is under way or due now."""
        return self.queue.is_idle and self.calling.is_idle

    async def run(self, stop: asyncio.Event) -> None:
        """Keep everything in place until *stop*; passes that run then come to their end."""
        async with asyncio.TaskGroup() as tasks:
            background = [tasks.create_task(each) for each in self._background(tasks)]
            workers = [tasks.create_task(self._work(self.queue)) for _ in range(self._workers)]
            workers += [tasks.create_task(self._work(self.calling)) for _ in range(CALLERS)]
            await stop.wait()
            self.queue.close()
            self.calling.close()
            await asyncio.wait(workers, timeout=GRACE)
            self._watching.stop()
            for task in (*background, *workers):
                task.cancel()

    def _background(self, tasks: asyncio.TaskGroup) -> Iterator[Coroutine[Any, Any, None]]:
        yield self._definition_watch.run()
        yield self._follow(tasks)
        if not self._own_namespace:
            # A restricted controller does not care who else marks what.
            yield self._marks_watch.run()
            yield self.marked.run()

    def hold(self, reason: str) -> None:
        """Begin no passes until `resume` with the same *reason*, and with every other one there is."""
        for queue in (self.queue, self.calling):
            queue.hold(reason)

    def resume(self, reason: str) -> None:
        """Begin passes again, unless there are other reasons not to."""
        for queue in (self.queue, self.calling):
            queue.resume(reason)

    def leaves_out(self, namespace: str) -> bool:
        """Whether the resources of a namespace are not ours to keep. Specification: operator-config.md section 10.1."""
        if self._own_namespace:
            return namespace != self._own_namespace
        return namespace in self.marked or "ephemeral" in namespace

    def wake_everything(self) -> None:
        """Let a pass be made over every resource."""
        self._wake_all(lambda _key: True)

    async def _follow(self, tasks: asyncio.TaskGroup) -> None:
        """Follow the API groups: watches of new ones are warm before any pass knows of them."""
        while True:
            self._detect_again.clear()
            groups = await self._groups()
            await self._watching.follow(groups, tasks)
            is_new = groups != self.shell.groups.names
            self.shell.groups.names = groups
            if not self.ready.is_set():
                if not self._own_namespace:
                    # Whoever does not know which namespaces are marked must not write to any.
                    await self._marks_watch.synced.wait()
                self._outside.log.write("info", "ready", groups=sorted(groups))
                self.ready.set()
                self.resume(STARTING)
            if is_new:
                self.wake_everything()
            await self._detect_again.wait()
            await self._outside.clock.sleep(DETECTION_DELAY)

    async def _groups(self) -> frozenset[str]:
        while True:
            try:
                return await self._outside.cluster.groups()
            except ClusterError as error:
                self._outside.log.write("warning", f"asking for API groups: {error}", status=error.status)
                await self._outside.clock.sleep(DETECTION_DELAY * (1 + self._outside.chance.random()))

    def _wake_all(self, is_meant: Callable[[Key], bool]) -> None:
        for kind in RECONCILED:
            for key in self.shell.stores.keys(kind):
                if is_meant(key):
                    self._wake(key)

    def _wake_namespace(self, namespace: str) -> None:
        """Take over the resources of a namespace that nobody marks any more."""
        self._outside.log.write("info", "marker Lease has ended", namespace=namespace)
        self._wake_all(lambda key: key.namespace == namespace)

    def _wake(self, key: Key, *, urgent: bool = False) -> None:
        if key.kind in RECONCILED and not self.leaves_out(key.namespace):
            # Before the watches are warm nobody has asked for anything: it is what was there.
            self._queue_of(key).add(key, urgent=urgent and self.ready.is_set())

    def _queue_of(self, key: Key) -> Queue[Key]:
        return self.calling if key.kind in CALLING else self.queue

    def _forget(self, uid: str) -> None:
        self.shell.settled.pop(uid, None)

    def _definition_changed(self, _before: Object | None, _now: Object | None) -> None:
        self._detect_again.set()

    async def _work(self, queue: Queue[Key]) -> None:
        while True:
            try:
                key = await queue.next()
            except Closed:
                return
            try:
                await self._reconcile(key)
            finally:
                queue.done(key)

    async def _reconcile(self, key: Key) -> None:
        queue = self._queue_of(key)
        if self.leaves_out(key.namespace):
            queue.forget(key)
            return
        started, result = self._outside.clock.monotonic(), "error"
        try:
            done: Done = await RECONCILED[key.kind](key, self.shell)
        except PassFailed as failed:
            self._failed(key, failed)
        except Exception as error:  # noqa: BLE001 - a mistake of ours in one key must not end the others
            self._outside.metrics.pass_failed(key.kind.kind, key.namespace, None)
            self._retry(key, "error", f"mistake in a pass: {error!r}")
        else:
            result = "success" if done.look_again is None else "requeue"
            queue.forget(key)
            if done.look_again is not None:
                queue.add_later(key, done.look_again)
        seconds = self._outside.clock.monotonic() - started
        self._outside.metrics.pass_ended(key.kind.kind, key.namespace, result, seconds)

    def _failed(self, key: Key, failed: PassFailed) -> None:
        cause = failed.cause
        self._outside.metrics.pass_failed(key.kind.kind, key.namespace, cause)
        if cause is not None and cause.is_dying_namespace:
            self._queue_of(key).forget(key)
            return
        self._retry(key, "warning", f"pass failed: {failed}", (cause.retry_after or 0.0) if cause else 0.0)

    def _retry(self, key: Key, level: Literal["warning", "error"], message: str, at_least: float = 0.0) -> None:
        delay = self._queue_of(key).retry(key, at_least)
        self._outside.metrics.retries.inc()
        self._outside.log.write(level, message, **_named(key), again_in=round(delay, 1))


def _named(key: Key) -> dict[str, str]:
    return {"kind": key.kind.kind, "namespace": key.namespace, "name": key.name}


def _only_identity(content: Json) -> Json:
    conditions = (content.get("status") or {}).get("conditions") or ()
    kept: Iterable[str] = [each["type"] for each in conditions if each.get("status") == "True"]
    metadata = {key: content["metadata"][key] for key in ("name", "uid", "resourceVersion")}
    return {"apiVersion": DEFINITION.api_version, "kind": DEFINITION.kind, "metadata": metadata, "true": sorted(kept)}

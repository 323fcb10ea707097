"""The running controller: watches that wake keys, workers that reconcile them, and a stop that loses nothing.

Holds no rule about objects. An error in one key never touches another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from random import Random

import attrs

from dynamo_controller.kinds import CALLING, RECONCILED
from dynamo_controller.ports import (
    Clock,
    Cluster,
    ClusterError,
    Endpoints,
    Events,
    Json,
    Kind,
    Log,
    Nobody,
    Object,
    Selection,
)
from dynamo_controller.queue import Closed, Queue
from dynamo_controller.reconcile import Done, PassFailed
from dynamo_controller.routes import key_of
from dynamo_controller.shell import Groups, Key, Policy, Shell
from dynamo_controller.store import Store
from dynamo_controller.watch import Reflector, Surroundings
from dynamo_controller.watching import Watching
from dynamo_render import OperatorSettings

DEFINITION = Kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")

CALLERS = 16
"""How many resources that wait for answers of others are worked on at a time, beside all the others."""

GRACE = 30.0
"""Seconds that a pass may still take after the stop."""

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


class Manager:
    """Keeps every resource in place from `run` until the stop."""

    def __init__(
        self, outside: Outside, settings: OperatorSettings, *, workers: int, policy: Policy | None = None
    ) -> None:
        """Start nothing yet."""
        around = Surroundings(outside.cluster, outside.clock, outside.log, outside.chance)
        self._outside = outside
        self._workers = workers
        self._is_restricted = bool(settings.restricted_namespace)
        self.queue: Queue[Key] = Queue(outside.clock, outside.chance)
        self.calling: Queue[Key] = Queue(outside.clock, outside.chance)
        self._watching = Watching(around, settings.restricted_namespace, self._wake, self._forget)
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
        )

    @property
    def is_idle(self) -> bool:
        """Whether no pass is under way or due now."""
        return self.queue.is_idle and self.calling.is_idle

    async def run(self, stop: asyncio.Event) -> None:
        """Keep everything in place until *stop*; passes that run then come to their end."""
        async with asyncio.TaskGroup() as tasks:
            background = [tasks.create_task(self._definition_watch.run()), tasks.create_task(self._follow(tasks))]
            workers = [tasks.create_task(self._work(self.queue)) for _ in range(self._workers)]
            workers += [tasks.create_task(self._work(self.calling)) for _ in range(CALLERS)]
            await stop.wait()
            self.queue.close()
            self.calling.close()
            await asyncio.wait(workers, timeout=GRACE)
            self._watching.stop()
            for task in (*background, *workers):
                task.cancel()

    async def _follow(self, tasks: asyncio.TaskGroup) -> None:
        """Follow the API groups: watches of new ones are warm before any pass knows of them."""
        while True:
            self._detect_again.clear()
            groups = await self._groups()
            await self._watching.follow(groups, tasks)
            is_new = groups != self.shell.groups.names
            self.shell.groups.names = groups
            if not self.ready.is_set():
                self._outside.log.write("info", "ready", groups=sorted(groups))
                self.ready.set()
            if is_new:
                self._wake_everything()
            await self._detect_again.wait()
            await self._outside.clock.sleep(DETECTION_DELAY)

    async def _groups(self) -> frozenset[str]:
        while True:
            try:
                return await self._outside.cluster.groups()
            except ClusterError as error:
                self._outside.log.write("warning", f"asking for API groups: {error}", status=error.status)
                await self._outside.clock.sleep(DETECTION_DELAY * (1 + self._outside.chance.random()))

    def _wake_everything(self) -> None:
        for kind in RECONCILED:
            for resource in self.shell.stores.all(kind):
                self._wake(key_of(resource))

    def _wake(self, key: Key) -> None:
        if key.kind in RECONCILED and (self._is_restricted or "ephemeral" not in key.namespace):
            self._queue_of(key).add(key)

    def _queue_of(self, key: Key) -> Queue[Key]:
        return self.calling if key.kind in CALLING else self.queue

    def _forget(self, uid: str) -> None:
        self.shell.settled.pop(uid, None)

    def _definition_changed(self, _before: Object | None, _now: Object | None) -> None:
        self._detect_again.set()

    async def _work(self, queue: Queue[Key]) -> None:
        await self.ready.wait()
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
        try:
            done: Done = await RECONCILED[key.kind](key, self.shell)
        except PassFailed as failed:
            self._failed(key, failed)
        except Exception as error:  # noqa: BLE001 - a mistake of ours in one key must not end the others
            delay = queue.retry(key)
            self._outside.log.write("error", f"mistake in a pass: {error!r}", **_named(key), again_in=round(delay, 1))
        else:
            queue.forget(key)
            if done.look_again is not None:
                queue.add_later(key, done.look_again)

    def _failed(self, key: Key, failed: PassFailed) -> None:
        cause, queue = failed.cause, self._queue_of(key)
        if cause is not None and cause.is_dying_namespace:
            queue.forget(key)
            return
        delay = queue.retry(key, (cause.retry_after or 0.0) if cause else 0.0)
        self._outside.log.write("warning", f"pass failed: {failed}", **_named(key), again_in=round(delay, 1))


def _named(key: Key) -> dict[str, str]:
    return {"kind": key.kind.kind, "namespace": key.namespace, "name": key.name}


def _only_identity(content: Json) -> Json:
    conditions = (content.get("status") or {}).get("conditions") or ()
    kept: Iterable[str] = [each["type"] for each in conditions if each.get("status") == "True"]
    metadata = {key: content["metadata"][key] for key in ("name", "uid", "resourceVersion")}
    return {"apiVersion": DEFINITION.api_version, "kind": DEFINITION.kind, "metadata": metadata, "true": sorted(kept)}

"""Keeping a store in step with the cluster: list in pages, watch, list again when the watch cannot go on.

Decides nothing about objects. Whatever goes wrong is told to the log and tried again after a while, for ever. Never
goes back: a list that is older than what is known, as a server that lags behind another one gives it, is not taken.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import Literal, NamedTuple

from dynamo_controller.ports import UNREACHABLE, Clock, Cluster, ClusterError, Log, Selection, WatchEvent
from dynamo_controller.store import Place, Store

PAGE = 200
"""Objects in one answer to a list: many kinds are listed at one time, and all of an answer is in memory then."""

FIRST_DELAY, LONGEST_DELAY = 0.5, 30.0
"""Seconds until the next attempt after the first failure, and after many."""

SPREAD = 0.25
"""The share of a wait that a server asks for that chance may add, so that watches do not come back together."""

SHORT_WATCH = 1.0
"""Seconds under which a watch that told nothing counts as refused."""


class Surroundings(NamedTuple):
    """What a reflector works with."""

    cluster: Cluster
    clock: Clock
    log: Log
    chance: Random


class Reflector:
    """Keeps one *store* in step with one *selection* of objects."""

    def __init__(self, selection: Selection, store: Store, around: Surroundings, *, page: int = PAGE) -> None:
        """Ask nothing yet."""
        self.selection = selection
        self.synced = asyncio.Event()
        self.answered = asyncio.Event()
        self._store = store
        self._around = around
        self._page = page
        self._failures = 0
        self._version = ""
        self._newest = 0
        self._heard = False

    async def run(self) -> None:
        """Keep the store in step until cancelled."""
        while True:
            try:
                if not self._version:
                    await self.list()
                await self._watch()
            except ClusterError as error:
                await self._recover(error)
            except Exception as error:  # noqa: BLE001 - a mistake of ours about one kind must not end the others
                self._version = ""
                self._log("error", f"mistake in a watch: {error!r}")
                await self._pause()

    async def list(self) -> None:
        """Make the store equal to a list of the cluster, and say in `synced` that it has been once."""
        listed: set[Place] = set()
        next_page = ""
        while True:
            page = await self._around.cluster.page(self.selection, limit=self._page, next_page=next_page)
            self._require_progress(page.resource_version)
            # Page by page: whole objects take many times the memory of what is kept of them.
            listed |= self._store.put_all(page.items)
            next_page = page.next_page
            if not next_page:
                break
        self._store.trouble = None
        self._store.drop_others(listed, page.resource_version)
        self._version = page.resource_version
        self._newest = int(page.resource_version or 0)
        self.synced.set()
        self.answered.set()

    def _require_progress(self, version: str) -> None:
        if int(version or 0) < self._newest:
            message = f"a list of version {version} is older than what is known of version {self._newest}"
            raise ClusterError(UNREACHABLE, "Stale", message)

    async def _watch(self) -> None:
        self._heard = False
        started = self._around.clock.monotonic()
        async for event in self._around.cluster.watch(self.selection, self._version):
            self._heard = True
            self._failures = 0
            self._take(event)
        if not self._heard and self._around.clock.monotonic() - started < SHORT_WATCH:
            # A server that ends every watch at once must not be asked in a circle.
            await self._pause()

    def _take(self, event: WatchEvent) -> None:
        version: str = event.content["metadata"]["resourceVersion"]
        if int(version) < self._newest:
            return
        if event.sort == "DELETED":
            self._store.drop(event.content)
        elif event.sort != "BOOKMARK":
            self._store.put(event.content)
        # Last, so that an event that led to a mistake is told again.
        self._version, self._newest = version, int(version)

    async def _recover(self, error: ClusterError) -> None:
        if error.is_expired and self._version:
            self._version = ""
            if not self._heard:
                await self._pause()
            return
        if error.is_missing:
            # The kind is gone, and its objects with it.
            self._version = ""
            self._store.clear()
            self.synced.set()
            self.answered.set()
        elif error.is_forbidden and not self.synced.is_set():
            # One kind that may not be listed must not keep the others waiting; who needs it hears why.
            self._store.trouble = error
            self.answered.set()
        self._log("warning", str(error), status=error.status)
        await self._pause(error.retry_after or 0.0)

    async def _pause(self, at_least: float = 0.0) -> None:
        delay = min(LONGEST_DELAY, FIRST_DELAY * 2 ** min(self._failures, 16))
        self._failures += 1
        chance = self._around.chance.random()
        await self._around.clock.sleep(max(at_least * (1 + SPREAD * chance), delay * (0.5 + chance)))

    def _log(self, level: Literal["warning", "error"], message: str, **fields: object) -> None:
        self._around.log.write(level, f"watching {self.selection.kind.kind}: {message}", **fields)

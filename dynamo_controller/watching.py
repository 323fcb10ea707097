"""The stores of everything that is watched, and the reflectors that keep them in step, as API groups come and go."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Protocol

from dynamo_controller.inventory import Tally
from dynamo_controller.kinds import WATCHED, Route, Watched
from dynamo_controller.ports import Kind, Object, Selection
from dynamo_controller.shell import Key, Stores, key_of, place_of
from dynamo_controller.store import Listener, PackedStore, Store, controller, version
from dynamo_controller.watch import Reflector, Surroundings

_ALWAYS = ("", "apps", "batch", "discovery.k8s.io", "networking.k8s.io", "rbac.authorization.k8s.io")


class Wake(Protocol):
    """Hears that a resource may need a pass."""

    def __call__(self, key: Key, *, urgent: bool = False) -> None:
        """Hear it; an *urgent* pass is one that somebody waits for."""


class Watching:
    """One store for each watched kind, and a reflector for each that the cluster serves."""

    def __init__(self, around: Surroundings, namespace: str, wake: Wake, gone: Callable[[str], None]) -> None:
        """Watch nothing yet; *wake* hears which resources a change concerns, *gone* the uid of what is gone."""
        self._around = around
        self._namespace = namespace
        self._wake = wake
        self._gone = gone
        self._running: dict[Kind, asyncio.Task[None]] = {}
        self.tally = Tally()
        self.stores = Stores({each.kind: self._store(each) for each in WATCHED})

    def reflectors(self, groups: frozenset[str]) -> list[Reflector]:
        """Return a new reflector for every watched kind that is served and has none running."""
        return [
            Reflector(self._selection(each), self._of(each.kind), self._around)
            for each in WATCHED
            if is_served(each.kind, groups) and each.kind not in self._running
        ]

    async def follow(self, groups: frozenset[str], tasks: asyncio.TaskGroup) -> None:
        """Watch what *groups* serve and nothing else; return when all of it has been listed once."""
        for kind in [kind for kind in self._running if not is_served(kind, groups)]:
            self._running.pop(kind).cancel()
            self._of(kind).clear()
        new = self.reflectors(groups)
        for reflector in new:
            self._running[reflector.selection.kind] = tasks.create_task(reflector.run())
        for reflector in new:
            await reflector.answered.wait()

    def stop(self) -> None:
        """Watch nothing any more."""
        for task in self._running.values():
            task.cancel()

    def _selection(self, watched: Watched) -> Selection:
        return Selection(watched.kind, self._namespace, labels=watched.labels, fields=watched.fields)

    def _of(self, kind: Kind) -> Store:
        return self.stores.by_kind[kind]

    def _store(self, watched: Watched) -> Store:
        sort = PackedStore if watched.packed else Store
        heard = self._listener(watched.route)
        return sort(watched.kind, watched.keep, heard, self._passed, label=watched.labels, belongs=watched.belongs)

    def _listener(self, route: Route) -> Listener:
        def listen(before: Object | None, now: Object | None) -> None:
            self.tally.heard(before, now)
            asked = key_of(now) if now is not None and is_asked(before, now) else None
            for key in route(before, now, self.stores):
                self._wake_unless_expected(now, key, urgent=key == asked)
            if now is None and before is not None:
                self._gone(before["metadata"]["uid"])

        return listen

    def _passed(self, content: Object) -> None:
        """Wake the resources that met an object of others where this one is."""
        if self.stores.occupied:
            for key in self.stores.occupied.pop(place_of(content), ()):
                self._wake(key)

    def _wake_unless_expected(self, now: Object | None, key: Key, *, urgent: bool) -> None:
        """Wake a resource, at once or, where its own pass writes the object just now, when more is known."""
        expected = self.stores.expected.get(place_of(now)) if now is not None else None
        if now is not None and expected is not None and expected.writer == key:
            expected.heard.append((version(now), partial(self._wake, key, urgent=urgent)))
        else:
            self._wake(key, urgent=urgent)


_ASKED = "generation", "deletionTimestamp"


def is_asked(before: Object | None, now: Object) -> bool:
    """Whether a resource asks for something that it did not ask before, by somebody who may be waiting for it."""
    if before is None:
        return controller(now) is None
    return any(before["metadata"].get(part) != now["metadata"].get(part) for part in _ASKED)


def is_served(kind: Kind, groups: frozenset[str]) -> bool:
    """Whether *groups* hold a kind; those of Kubernetes itself are everywhere, and ours are waited for."""
    return kind.group in _ALWAYS or kind.group == "nvidia.com" or kind.group in groups

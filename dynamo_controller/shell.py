"""What a pass works with, in one value, and the stores that it reads. No decisions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import attrs

from dynamo_controller.ports import (
    Clock,
    Cluster,
    DiscoveryKeys,
    Endpoints,
    Events,
    Json,
    Keys,
    Kind,
    Log,
    Nobody,
    Object,
)
from dynamo_controller.store import Store
from dynamo_render import OperatorSettings
from dynamo_render.values import Value


class Key(NamedTuple):
    """One resource that the controller keeps in place."""

    kind: Kind
    namespace: str
    name: str


def key_of(resource: Object) -> Key:
    """Return the key of a resource."""
    return Key(*place_of(resource))


Place = tuple[Kind, str, str]
"""Kind, namespace and name of an object."""


def place_of(content: Object) -> Place:
    """Return the place of an object."""
    metadata = content["metadata"]
    return Kind(content["apiVersion"], content["kind"]), metadata.get("namespace", ""), metadata["name"]


@attrs.define(eq=False)
class Expected:
    """A write by the pass over *writer*: the version that it was *answered* with, and the wake-ups *heard* until then.

    The pass goes on with the answer, so that it need not be made again for that version or one before it.
    """

    writer: Key
    answered: int = -1
    heard: list[tuple[int, Callable[[], None]]] = attrs.field(factory=list)


@attrs.frozen(eq=False)
class Stores:
    """The stores of all kinds that the controller watches.

    *occupied* are places where resources met objects of others, each with the resources that look again when the object
    changes or goes. *expected* are the places of writes that are under way.
    """

    by_kind: Mapping[Kind, Store]
    occupied: dict[Place, set[Key]] = attrs.field(factory=dict)
    expected: dict[Place, Expected] = attrs.field(factory=dict)

    def get(self, kind: Kind, namespace: str, name: str) -> Object | None:
        """Return what is known of an object, or None."""
        store = self.by_kind.get(kind)
        return store.get(namespace, name) if store else None

    def all(self, kind: Kind) -> Iterator[Object]:
        """Yield all known objects of a kind."""
        store = self.by_kind.get(kind)
        return iter(store or ())

    def keys(self, kind: Kind, namespace: str | None = None) -> list[Key]:
        """Return the keys of all known resources of a kind, in one namespace or in all."""
        store = self.by_kind.get(kind)
        return [Key(kind, *place) for place in store.places(namespace)] if store else []

    def inside(self, kind: Kind, namespace: str) -> list[Object]:
        """Return all known objects of a kind in a namespace, by name."""
        store = self.by_kind.get(kind)
        return store.inside(namespace) if store else []

    def belonging(self, kind: Kind, namespace: str, name: str) -> list[Object]:
        """Return all known objects of a kind in a namespace that belong to *name* there, by name."""
        store = self.by_kind.get(kind)
        return store.belonging(namespace, name) if store else []

    def known(
        self, kind: Kind, namespace: str, labels: Mapping[str, str] | None = None, *, belonging: str = ""
    ) -> list[Object]:
        """Return all objects of a kind in a namespace, or those that belong to a name, or at least those with *labels*.

        Raises ClusterError where the cluster has never let us ask for them.
        """
        store = self.by_kind.get(kind)
        if store is None:
            return []
        if store.trouble is not None:
            raise store.trouble
        if belonging:
            return store.belonging(namespace, belonging)
        if labels and store.label in labels:
            return store.labelled(labels[store.label])
        return store.inside(namespace)

    def owned_by(self, uid: str) -> list[Object]:
        """Return all known objects whose controller has this *uid*."""
        return [owned for store in self.by_kind.values() for owned in store.owned_by(uid)]

    def remember(self, content: Json) -> None:
        """Keep what an own write has led to, so that the next pass knows it before the watch tells it."""
        store = self.by_kind.get(Kind(content["apiVersion"], content["kind"]))
        if store is not None:
            store.put(content)

    @contextlib.contextmanager
    def expecting(self, content: Object, writer: Key) -> Iterator[Expected]:
        """Keep wake-ups of *writer* because of an object that its pass writes inside the block until the block ends.

        A watch may tell of a write before the answer comes.
        """
        place = place_of(content)
        expected = self.expected[place] = Expected(writer)
        try:
            yield expected
        finally:
            if self.expected.get(place) is expected:
                del self.expected[place]
            for number, wake in expected.heard:
                if number > expected.answered:
                    wake()

    def forget(self, content: Object) -> None:
        """Forget an object that an own write has removed."""
        store = self.by_kind.get(Kind(content["apiVersion"], content["kind"]))
        if store is not None:
            store.drop(content)


@attrs.define(eq=False)
class Groups:
    """The API groups of the cluster as last seen; the one thing here that changes."""

    names: frozenset[str] = frozenset()


@attrs.frozen(eq=False, repr=False)
class Policy(Value):
    """What users let us do: *adopt* what the released operator has made; let a changed profile replace pods."""

    adopt: bool = False
    allow_profile_rollouts: bool = False


@attrs.frozen(eq=False)
class Shell:
    """What passes work with.

    Without *keys* none are made, and without *discovery* nothing outside of the cluster is cleaned up. *settled* has,
    by uid, the version of objects that an apply would not change, which only spares work.
    """

    cluster: Cluster
    clock: Clock
    events: Events
    log: Log
    stores: Stores
    groups: Groups
    settings: OperatorSettings
    policy: Policy = attrs.field(factory=Policy)
    endpoints: Endpoints = attrs.field(factory=Nobody)
    keys: Keys | None = None
    discovery: DiscoveryKeys | None = None
    settled: dict[str, tuple[int, bytes]] = attrs.field(factory=dict)

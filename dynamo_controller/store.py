"""What is known of the cluster: the objects of one kind each, as lists, watches and our own writes told them.

Never asks the cluster. A store does not go back: what is older than what it holds is passed over.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from collections.abc import Set as AbstractSet
from typing import Any

import orjson

from dynamo_controller.ports import ClusterError, Json, Kind, Object

Place = tuple[str, str]
"""Namespace and name."""

Projection = Callable[[Json], Json | None]
"""What is kept of an object, or None when nothing is."""

Listener = Callable[[Object | None, Object | None], None]
"""Is told what was kept of an object before and what is now."""


class Shelf(MutableMapping[Place, Json]):
    """A dictionary of JSON objects that keeps each of them compressed, and gives out a new one each time."""

    def __init__(self) -> None:
        """Start empty."""
        self._packed: dict[Place, bytes] = {}

    def __getitem__(self, place: Place) -> Json:
        """Return an object; KeyError where there is none."""
        found: Json = orjson.loads(zlib.decompress(self._packed[place]))
        return found

    def __setitem__(self, place: Place, content: Json) -> None:
        """Keep an object."""
        self._packed[place] = zlib.compress(orjson.dumps(content), 1)

    def __delitem__(self, place: Place) -> None:
        """Forget an object."""
        del self._packed[place]

    def __iter__(self) -> Iterator[Place]:
        """Yield the places of all objects."""
        return iter(self._packed)

    def __len__(self) -> int:
        """Return how many objects there are."""
        return len(self._packed)


class Store:
    """The objects of one kind that are worth keeping, by place, by the uid of their controller, and by one label.

    *trouble* says why nothing is known: the cluster has not let us ask so far.
    """

    def __init__(
        self,
        kind: Kind,
        keep: Projection,
        listener: Listener,
        passing: Callable[[Object], None] = lambda _content: None,
        *,
        label: str = "",
        belongs: Callable[[Object], str] = lambda _content: "",
    ) -> None:
        """Start empty; *passing* is told every object that is put or dropped, also of those that are not kept.

        Objects are found by the value of *label*, if one is given, and by what *belongs* names in their namespace.
        """
        self.kind = kind
        self.trouble: ClusterError | None = None
        self._keep = keep
        self._listener = listener
        self._passing = passing
        self._belongs = belongs
        self._objects: MutableMapping[Place, Json] = self._shelf()
        # Beside the objects, so that one that says nothing new need not be unpacked.
        self._versions: dict[Place, int] = {}
        self._owned: dict[str, set[Place]] = {}
        self.label = label
        self._labelled: dict[str, set[Place]] = {}
        self._inside: dict[str, set[Place]] = {}
        self._belonging: dict[Place, set[Place]] = {}

    def _shelf(self) -> MutableMapping[Place, Json]:
        """Return where objects are kept."""
        return {}

    def __iter__(self) -> Iterator[Object]:
        """Yield all objects."""
        # One after the other: kept packed, all at one time would take the memory that packing spares.
        return (found for place in tuple(self._objects) if (found := self._objects.get(place)) is not None)

    def get(self, namespace: str, name: str) -> Object | None:
        """Return an object, or None where none is kept."""
        return self._objects.get((namespace, name))

    def places(self, namespace: str | None = None) -> list[Place]:
        """Return where objects are: in one namespace by name, or in all, what changed last at the end."""
        return list(self._objects) if namespace is None else sorted(self._inside.get(namespace, ()))

    def owned_by(self, uid: str) -> list[Object]:
        """Return the objects whose controller has this *uid*, by place."""
        return [self._objects[place] for place in sorted(self._owned.get(uid, ()))]

    def labelled(self, value: str) -> list[Object]:
        """Return the objects whose label has this *value*, by place."""
        return [self._objects[place] for place in sorted(self._labelled.get(value, ()))]

    def inside(self, namespace: str) -> list[Object]:
        """Return the objects of a namespace, by name."""
        return [self._objects[place] for place in sorted(self._inside.get(namespace, ()))]

    def belonging(self, namespace: str, name: str) -> list[Object]:
        """Return the objects of a namespace that belong to *name*, by name."""
        return [self._objects[place] for place in sorted(self._belonging.get((namespace, name), ()))]

    def put(self, content: Json) -> None:
        """Keep what the cluster says of an object, unless something newer is known."""
        self._passing(content)
        place = _place(content)
        if self._versions.get(place, -1) >= version(content):
            return
        before, kept = self._objects.get(place), self._keep(content)
        if before is None and kept is None:
            return
        self._set(place, before, kept)
        self._listener(before, kept)

    def drop(self, content: Object) -> None:
        """Forget an object that the cluster no longer has, unless another one of its name is known."""
        self._passing(content)
        place = _place(content)
        if self._versions.get(place, version(content) + 1) > version(content):
            return
        before = self._objects[place]
        self._set(place, before, None)
        self._listener(before, None)

    def put_all(self, contents: Iterable[Json]) -> set[Place]:
        """Keep what a part of a list says, and return the places of its objects."""
        listed = set()
        for content in contents:
            listed.add(_place(content))
            self.put(content)
        return listed

    def drop_others(self, listed: AbstractSet[Place], resource_version: str) -> None:
        """Forget what a whole list of *resource_version* lacks, unless it is newer: it is gone."""
        limit = int(resource_version or 0)
        for place in self._objects.keys() - listed:
            if self._versions[place] <= limit:
                before = self._objects[place]
                self._set(place, before, None)
                self._listener(before, None)

    def clear(self) -> None:
        """Forget everything: the kind is gone, and its objects with it."""
        self.drop_others(frozenset(), str(max(self._versions.values(), default=0)))

    def _set(self, place: Place, before: Json | None, kept: Json | None) -> None:
        if before is not None:
            del self._objects[place], self._versions[place]
            for index, key in self._keys(place, before):
                index[key].discard(place)
                if not index[key]:
                    del index[key]
        if kept is not None:
            self._objects[place], self._versions[place] = kept, version(kept)
            for index, key in self._keys(place, kept):
                index.setdefault(key, set()).add(place)

    def _keys(self, place: Place, content: Object) -> Iterator[tuple[dict[Any, set[Place]], Any]]:
        """Yield where an object stands in each index."""
        yield self._inside, place[0]
        if uid := controller_uid(content):
            yield self._owned, uid
        if value := self._value(content):
            yield self._labelled, value
        if name := self._belongs(content):
            yield self._belonging, (place[0], name)

    def _value(self, content: Object) -> str:
        return str((content["metadata"].get("labels") or {}).get(self.label) or "") if self.label else ""


class PackedStore(Store):
    """A store that takes a tenth of the memory, and longer to go through."""

    def _shelf(self) -> MutableMapping[Place, Json]:
        """Return where objects are kept compressed."""
        return Shelf()


def version(content: Object) -> int:
    """Return the resource version as the number that the API promises it to be."""
    return int(content["metadata"].get("resourceVersion") or 0)


def controller(content: Object) -> Object | None:
    """Return the owner reference of the controller of an object, or None."""
    references = content["metadata"].get("ownerReferences") or ()
    return next((reference for reference in references if reference.get("controller")), None)


def controller_uid(content: Object) -> str:
    """Return the uid of the controller of an object; empty without one."""
    found = controller(content)
    return str(found["uid"]) if found else ""


def _place(content: Object) -> Place:
    return content["metadata"].get("namespace", ""), content["metadata"]["name"]

"""How parts of an object belong together: which entries of two lists are the same one, and what is replaced as a whole.

This is what an apply goes by when it merges. It says nothing about types, which values are allowed, or defaults, except
where a default is part of what tells entries apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import attrs

from dynamo_render.kube import embedded_types
from dynamo_render.values import Value, frozen


@frozen
class Entry(Value):
    """A step into a list whose entries go by *keys*; *occurrence* counts, from 0, those with the same keys."""

    keys: tuple[tuple[str, object], ...]
    occurrence: int = 0

    def __str__(self) -> str:
        """Return the keys as paths show them: ``name=main``."""
        text = ",".join(f"{key}={value}" for key, value in self.keys)
        return f"{text} #{self.occurrence + 1}" if self.occurrence else text


Step = str | int | Entry
Path = tuple[Step, ...]


def entry(**keys: object) -> Entry:
    """Return the step to the first list entry that has these *keys*."""
    return Entry(tuple(keys.items()))


@frozen
class Shape(Value):
    """The shape of one value.

    *fields* are the shapes of keys of a mapping, before those that the Kubernetes type *embedded* has; *item* is the
    shape of every entry of a list. *keys* tell the entries of a list apart, each with the value that stands for a
    missing one; without keys, entries are told apart by position. An *atomic* list is one value.
    """

    fields: Mapping[str, Shape] = attrs.field(factory=dict)
    item: Shape | None = None
    keys: Mapping[str, object] = attrs.field(factory=dict)
    atomic: bool = False
    embedded: str = ""

    def of_field(self, key: str) -> Shape:
        """Return the shape of the value below *key*; where nothing is known, lists go by position."""
        if found := self.fields.get(key):
            return found
        return _embedded_field(self.embedded, key) if self.embedded else ANY

    def of_entry(self) -> Shape:
        """Return the shape of an entry."""
        return self.item or ANY


def listed(*keys: str, item: Shape | None = None, **defaults: object) -> Shape:
    """Return the shape of a list whose entries are told apart by *keys*; *defaults* stand for missing ones."""
    return Shape(item=item, keys={key: defaults.get(key) for key in keys})


def within(**fields: Shape) -> Shape:
    """Return the shape of a mapping with known *fields*."""
    return Shape(fields=fields)


@cache
def embedded(kind: str) -> Shape:
    """Return the shape of the Kubernetes type *kind*, such as ``core/v1.PodSpec``."""
    return Shape(embedded=kind)


@cache
def _embedded_field(kind: str, key: str) -> Shape:
    row = embedded_types.TYPES[kind].get(key)
    if row is None:
        return ANY
    type_text, _emit, _required, _default, list_type, keys = row
    inner = type_text.removeprefix("[]")
    if inner == type_text:
        # Mappings that an apply replaces as a whole are told apart by their keys all the same: that reads better.
        return embedded(type_text) if type_text in embedded_types.TYPES else ANY
    if list_type == "atomic":
        return ATOMIC
    if inner not in embedded_types.TYPES:
        return ANY
    return Shape(item=embedded(inner), keys={name: embedded_types.TYPES[inner][name][3] for name in keys})


ANY = Shape()
ATOMIC = Shape(atomic=True)
POD_TEMPLATE = within(metadata=embedded("meta/v1.ObjectMeta"), spec=embedded("core/v1.PodSpec"))

# By (group, kind), where lists of plain Kubernetes have keys. What runs pods is described by whoever builds it.
PLAIN: Mapping[tuple[str, str], Shape] = {
    ("", "Service"): within(spec=within(ports=listed("port", "protocol", protocol="TCP"))),
}


def of_object(group: str, kind: str, known: Mapping[tuple[str, str], Shape]) -> Shape:
    """Return the shape of an object by *known* kinds and plain ones; every object has the metadata of Kubernetes."""
    shape = known.get((group, kind)) or PLAIN.get((group, kind)) or ANY
    return attrs.evolve(shape, fields={"metadata": embedded("meta/v1.ObjectMeta"), **shape.fields})

"""Classes of user-written fields to and from JSON, by the field table that each class carries.

Such a class is an attrs class whose fields are all declared with `key`; `struct_of` turns it into a structural schema
and `encoded` writes an instance as the released operator's typed client would. Structuring is strict: no type is
coerced.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from dynamo_render.kube import structural
from dynamo_render.kube.schema_nodes import ABSENT, Emit, Field, Node, Struct

_TABLE = "dynamo_render.field"


def key(
    node: Node | type,
    *,
    name: str | None = None,
    emit: Emit = "if-set",
    required: bool = False,
    default: object = ABSENT,
    null_hint: str | None = None,
) -> Any:
    """Declare a field of a user-written class: its JSON schema, when it is written again, its server-side default."""
    schema = struct_of(node) if isinstance(node, type) else node
    field = Field(schema, emit, required, default, "", null_hint)
    return attrs.field(default=None if default is ABSENT else default, metadata={_TABLE: (name, field)})


@functools.cache
def struct_of(cls: type) -> Struct:
    """Return the structural schema of *cls*; decoding it gives an instance. A class may list its `DEMANDS`."""
    return Struct(cls.__name__, _Fields(cls), cls, demands=getattr(cls, "DEMANDS", ()))


class _Fields(Mapping[str, Field]):
    """The fields of a class by JSON name, found out when somebody looks: most classes are not met in a resource."""

    def __init__(self, cls: type) -> None:
        self._cls = cls

    @functools.cached_property
    def _found(self) -> dict[str, Field]:
        return dict(_rows(self._cls))

    def __getitem__(self, name: str) -> Field:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


@functools.cache
def _rows(cls: type) -> tuple[tuple[str, Field], ...]:
    """Return the fields of *cls* by JSON name, in the order of the class."""
    declared = ((attribute.name, *attribute.metadata[_TABLE]) for attribute in attrs.fields(cls))
    return tuple((name or camel_case(own), attrs.evolve(field, attribute=own)) for own, name, field in declared)


def camel_case(name: str) -> str:
    """Return the Kubernetes spelling of a Python attribute: ``mount_point`` is ``mountPoint``."""
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)


@functools.cache
def decoder_of(cls: type) -> structural.Decoder:
    """Return the decoder that gives instances of *cls*."""
    return structural.decoder(struct_of(cls))


def encoded(instance: Any) -> dict[str, Any]:
    """Return *instance* as JSON, without fields that a typed client leaves out. Nothing is shared with *instance*."""
    result = {}
    entries = vars(instance)
    own_class: type = type(instance)
    for attribute, json_name, drops_zero in _written(own_class):
        entry = entries[attribute]
        if entry or (entry is not None and not drops_zero):
            result[json_name] = entry if type(entry) in _LEAVES else _encoded_value(entry)
    return result


@functools.cache
def _written(cls: type) -> tuple[tuple[str, str, bool], ...]:
    """Return attribute and JSON name of each field of *cls*, and whether a typed client leaves out its zero value."""
    return tuple((field.attribute, name, field.emit in {"non-zero", "non-empty"}) for name, field in _rows(cls))


_LEAVES = frozenset({str, int, float, bool, type(None)})


def _encoded_value(entry: Any) -> Any:
    kind = type(entry)
    if kind in _LEAVES:
        return entry
    if kind is dict:
        return {name: inner if type(inner) in _LEAVES else _encoded_value(inner) for name, inner in entry.items()}
    if kind is list:
        return [inner if type(inner) in _LEAVES else _encoded_value(inner) for inner in entry]
    encode = getattr(entry, "__json__", None)
    return encoded(entry) if encode is None else encode()

"""Resources with one to three mistakes in them, made with a seed, so that a run can be repeated.

A mistake is chosen for what the schema has at its place: a wrong type, a bad choice, a number out of range, a missing
or unknown field, a repeated list entry, a long or illegal name. Whether anyone refuses the result is not known here.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import attrs

from dynamo_render.kube import schema_nodes
from dynamo_render.kube.schema_nodes import ListOf, MapOf, Node, Ref, Scalar, Struct
from dynamo_render.schemas import kinds

Json = dict[str, Any]

MOST_MISTAKES = 3

WRONG_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2.0, 2.5, 0.5, 1e3, -0.0, 2**31, 2**63, -(2**63) - 1, 10**30),
    *("", "x", "0", "true", "8Gi", "1 Gi", "-1", "5m", "A" * 300, "\u2603", "a\nb", "1e400", "0x10"),
    *([], [None], [1], ["x"], [{}], [[]], {}, {"x": None}, {"x": 1}, {"name": "x"}, {"": {}}),
)

UNKNOWN_KEYS = ("unknown", "Replicas", "x-y", "a.b", "", "\u2603", "metadata", "name")

NAMES: tuple[Any, ...] = (
    *(
        "a",
        "a" * 63,
        "a" * 64,
        "a" * 253,
        "a" * 254,
        "a.b",
        "Upper",
        "under_score",
        "-x",
        "x-",
        "1x",
        "a..b",
        "",
        "x/y",
    ),
    *(None, 5, True, [], {}),
)


@attrs.frozen(eq=False)
class Place:
    """One value of a document: what *holds* it under which *key*, and the *node* of its schema, if it has one."""

    holder: Any
    key: str | int
    node: Node | None
    is_named: bool
    """Whether the key is one that the schema names, so neither an index nor a key of a map."""

    @property
    def value(self) -> Any:
        """What stands here now."""
        return self.holder[self.key]

    def put(self, value: Any) -> None:
        """Replace what stands here."""
        self.holder[self.key] = value


@functools.cache
def schema_of(kind: str) -> Struct:
    """Return the schema of a whole resource of *kind*, metadata included."""
    return kinds.resource_struct(kinds.KINDS[kind])


def broken(resource: Json, random: Random) -> Json:
    """Return a copy of *resource* with one to `MOST_MISTAKES` mistakes in metadata or spec."""
    result = copy.deepcopy(resource)
    for _ in range(random.randint(1, MOST_MISTAKES)):
        random.choice(MISTAKES)(result, random)
    return result


def places(value: Any, node: Node | None) -> Iterator[Place]:
    """Yield every place inside *value*, outer ones first; *node* is the schema of *value*."""
    if isinstance(node, Ref):
        node = schema_nodes.referred(node)
    if isinstance(value, dict):
        for key, entry in value.items():
            inner, is_named = _node_of(node, key)
            yield Place(value, key, inner, is_named)
            yield from places(entry, inner)
    elif isinstance(value, list):
        inner = node.item if isinstance(node, ListOf) else None
        for index, entry in enumerate(value):
            yield Place(value, index, inner, is_named=False)
            yield from places(entry, inner)


def _node_of(node: Node | None, key: str) -> tuple[Node | None, bool]:
    if isinstance(node, Struct) and key in node.fields:
        return node.fields[key].node, True
    return (node.item, False) if isinstance(node, MapOf) else (None, False)


def _spec_places(resource: Json) -> list[Place]:
    schema = schema_of(resource["kind"])
    resource.setdefault("spec", {})
    own = Place(resource, "spec", schema.fields["spec"].node, is_named=True)
    return [own, *places(own.value, own.node)]


def _resolved(node: Node | None) -> Node | None:
    return schema_nodes.referred(node) if isinstance(node, Ref) else node


def _any(found: list[Place], random: Random, wanted: Callable[[Place], Any]) -> Place | None:
    fitting = [place for place in found if wanted(place)]
    return random.choice(fitting) if fitting else None


def _wrong_value(resource: Json, random: Random) -> None:
    random.choice(_spec_places(resource)).put(copy.deepcopy(random.choice(WRONG_VALUES)))


def _new_field(resource: Json, random: Random) -> None:
    """Give a struct one of the fields that it does not have, with a value that may or may not fit."""
    place = _any(_spec_places(resource), random, lambda at: isinstance(_resolved(at.node), Struct) and _is_map(at))
    if place is None:
        return
    fields = _resolved(place.node).fields  # type: ignore[union-attr]
    if fields:
        name = random.choice(sorted(fields))
        place.value[name] = _near(fields[name].node, random)


def _near(node: Node, random: Random) -> Any:
    """Return a value whose outermost type is often that of *node*."""
    found = _resolved(node)
    if isinstance(found, Struct):
        if not found.fields or random.random() < 0.2:
            return {}
        names = random.sample(sorted(found.fields), min(len(found.fields), random.randint(1, 2)))
        return {name: _near(found.fields[name].node, random) for name in names}
    if isinstance(found, ListOf):
        return [_near(found.item, random) for _ in range(random.randint(0, 2))]
    if isinstance(found, MapOf):
        return {random.choice(("a", "Key", "x y")): _near(found.item, random)}
    if isinstance(found, Scalar) and found.enum and random.random() < 0.5:
        return random.choice(found.enum)
    return copy.deepcopy(random.choice(WRONG_VALUES))


def _is_map(place: Place) -> bool:
    return isinstance(place.value, dict)


def _unknown_field(resource: Json, random: Random) -> None:
    place = _any(_spec_places(resource), random, _is_map)
    if place is not None:
        place.value[random.choice(UNKNOWN_KEYS)] = copy.deepcopy(random.choice(WRONG_VALUES))


def _missing_field(resource: Json, random: Random) -> None:
    place = _any(_spec_places(resource), random, lambda at: at.is_named and _is_required(resource, at))
    if place is None or random.random() < 0.5:
        place = random.choice(_spec_places(resource))
    del place.holder[place.key]


def _is_required(resource: Json, place: Place) -> bool:
    del resource
    return place.key in {"name", "type", "mountPoint", "containerPort", "modelType", "baseModelName", "model", "id"}


def _bad_choice(resource: Json, random: Random) -> None:
    place = _any(_spec_places(resource), random, lambda at: isinstance(at.node, Scalar) and at.node.enum)
    if place is not None:
        choice = str(place.value)
        place.put(random.choice((choice.upper(), f"{choice} ", "", f"{choice}x", 3, None)))


def _out_of_range(resource: Json, random: Random) -> None:
    place = _any(_spec_places(resource), random, lambda at: type(at.value) is int)
    if place is not None:
        place.put(random.choice((-1, -5, 2**31 - 1, 2**31, -(2**31) - 1, 2**53 + 1, 2**63 - 1, 2**63, 1e20, 2.0, 2.5)))


def _repeated_entry(resource: Json, random: Random) -> None:
    place = _any(_spec_places(resource), random, lambda at: isinstance(at.value, list) and at.value)
    if place is not None:
        entry = copy.deepcopy(random.choice(place.value))
        place.value.insert(random.randint(0, len(place.value)), entry)


def _other_name(resource: Json, random: Random) -> None:
    metadata = resource.get("metadata")
    if isinstance(metadata, dict):
        metadata["name"] = random.choice(NAMES)


def _other_metadata(resource: Json, random: Random) -> None:
    metadata = resource.get("metadata")
    if not isinstance(metadata, dict):
        return
    field = random.choice(("labels", "annotations", "generateName", "finalizers", "ownerReferences", "unknown"))
    text = random.choice(("x", "a/b", "a/b/c", "", "A_b.c-1", "x y", "a" * 64, "example.com/" + "a" * 64))
    metadata[field] = random.choice(({text: text}, {"a": random.choice(WRONG_VALUES)}, text, [text], [], None))


MISTAKES = (
    *(_wrong_value,) * 4,
    *(_new_field,) * 4,
    *(_unknown_field,) * 2,
    *(_missing_field,) * 2,
    *(_out_of_range,) * 2,
    _bad_choice,
    _repeated_entry,
    _other_name,
    _other_metadata,
)

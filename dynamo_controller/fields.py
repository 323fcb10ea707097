"""Whether an apply would change a live object: what we want against what is there and what of it is ours.

Pure. Goes by the server's own record of the fields that we have applied, which also knows how lists are merged, so that
no hash and no memory of earlier passes is needed. Where in doubt, an apply is said to be needed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import attrs

from dynamo_controller.ports import FieldPath, Object
from dynamo_controller.projection import is_our_apply, recorded_fields
from dynamo_render.kube import quantity, shapes
from dynamo_render.kube.shapes import Path, Step

_NOT_CONTENT = ("apiVersion", "kind", "metadata", "status")
_AMOUNTS = ("requests", "limits", "capacity", "sizeLimit", "minResources", "divisor", "storage")
_NOTHING: Mapping[str, Any] = {}

# Go leaves empty values out of objects of its own types; in a custom resource they stay as they were written.
_OWN_GROUPS = ("", "apps", "batch", "autoscaling", "policy", "networking.k8s.io", "rbac.authorization.k8s.io")


def needs_apply(wanted: Object, live: Object) -> bool:
    """Whether applying *wanted* would change *live*, an object of the same kind and name."""
    managed = _managed(live)
    look = _Look(empty_is_absent=live["apiVersion"].rpartition("/")[0] in _OWN_GROUPS)
    content = {key: value for key, value in wanted.items() if key not in _NOT_CONTENT}
    if not look.holds(content, live, managed):
        return True
    metadata, of_live = wanted["metadata"], live["metadata"]
    for key in ("labels", "annotations"):
        if not _is_part_of(metadata.get(key) or _NOTHING, of_live.get(key) or _NOTHING):
            return True
    if any(
        reference not in (of_live.get("ownerReferences") or ()) for reference in metadata.get("ownerReferences", ())
    ):
        return True
    return not _covers(wanted, managed)


def differs_at(wanted: Object, live: Object, path: Path) -> bool:
    """Whether applying *wanted* would change what *live* has at *path*; what only one of them has is no difference.

    An object that we have never applied has no record, so that what it has beside *wanted* is seen in lists only.
    """
    look = _Look(empty_is_absent=live["apiVersion"].rpartition("/")[0] in _OWN_GROUPS)
    mine: Any = wanted
    theirs: Any = live
    managed = _managed(live)
    for step in path:
        mine, theirs, managed = _value_below(mine, step), _value_below(theirs, step), _record_below(managed, step)
    if mine is None:
        return bool(managed) and theirs is not None
    return theirs is not None and not (look.holds(mine, theirs, managed) and _covers(mine, managed))


def _value_below(value: Any, step: Step) -> Any:
    if isinstance(step, shapes.Entry):
        position = _position(value, dict(step.keys)) if isinstance(value, list | tuple) else None
        return None if position is None else value[position]
    return value.get(step) if isinstance(value, Mapping) else None


def _record_below(managed: Mapping[str, Any], step: Step) -> Mapping[str, Any]:
    if not isinstance(step, shapes.Entry):
        return managed.get(f"f:{step}") or _NOTHING
    keys = [key for key in managed if key.startswith("k:") and _parsed(key[2:]) == dict(step.keys)]
    return managed[keys[0]] if keys else _NOTHING


def emptied(wanted: Object, live: Object) -> tuple[FieldPath, ...]:
    """Return the paths in *live* of what we have applied inside mappings that *wanted* leaves empty.

    An API server that is to take the last field out of a mapping leaves null behind, also where an empty mapping is
    asked for; so these fields have to go before the apply.
    """
    content = {key: value for key, value in wanted.items() if key not in {"apiVersion", "kind", "status"}}
    return tuple(_emptied(content, live, _managed(live), ()))


def _emptied(wanted: Any, live: Any, managed: Mapping[str, Any], path: FieldPath) -> Iterator[FieldPath]:
    if isinstance(wanted, Mapping) and isinstance(live, Mapping):
        for key, value in wanted.items():
            inner = managed.get(f"f:{key}", _NOTHING)
            if value == {} and isinstance(live.get(key), Mapping):
                yield from ((*path, key, name[2:]) for name in inner if name.startswith("f:") and name[2:] in live[key])
            elif inner:
                yield from _emptied(value, live.get(key), inner, (*path, key))
    elif isinstance(wanted, list | tuple) and isinstance(live, list):
        for key, inner in managed.items():
            if key.startswith("k:"):
                ours, theirs = _position(wanted, _parsed(key[2:])), _position(live, _parsed(key[2:]))
                if ours is not None and theirs is not None:
                    yield from _emptied(wanted[ours], live[theirs], inner, (*path, theirs))


@attrs.frozen
class _Look:
    """How a comparison reads values; *amounts* are equal when they are the same number."""

    empty_is_absent: bool
    amounts: bool = False

    def holds(self, wanted: Any, live: Any, managed: Mapping[str, Any]) -> bool:
        """Whether *live* has all that *wanted* says; *managed* is the record of our fields at this place."""
        if wanted is None:
            return True
        if live is None:
            return self.empty_is_absent and _is_empty(wanted)
        if isinstance(wanted, Mapping):
            return isinstance(live, Mapping) and all(
                self._below(key).holds(value, live.get(key), managed.get(f"f:{key}", _NOTHING))
                for key, value in wanted.items()
            )
        if isinstance(wanted, list | tuple):
            return isinstance(live, list) and self._holds_list(wanted, live, managed)
        return self._is_same(wanted, live)

    def _below(self, key: str) -> _Look:
        return attrs.evolve(self, amounts=True) if key in _AMOUNTS and not self.amounts else self

    def _holds_list(self, wanted: Sequence[Any], live: Sequence[Any], managed: Mapping[str, Any]) -> bool:
        keyed = [(_parsed(key[2:]), inner) for key, inner in managed.items() if key.startswith("k:")]
        if keyed:
            return len(keyed) == len(wanted) and self._holds_entries(wanted, live, keyed)
        if any(key.startswith("v:") for key in managed):
            return all(value in live for value in wanted)
        return len(wanted) == len(live) and all(
            self.holds(mine, theirs, _NOTHING) for mine, theirs in zip(wanted, live, strict=True)
        )

    def _holds_entries(
        self, wanted: Sequence[Any], live: Sequence[Any], keyed: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]
    ) -> bool:
        """Whether a list that the server merges by keys has every entry of ours, in our order."""
        places = []
        for keys, managed in keyed:
            mine, theirs = _position(wanted, keys), _position(live, keys)
            if mine is None or theirs is None or not self.holds(wanted[mine], live[theirs], managed):
                return False
            places.append((mine, theirs))
        in_live = [theirs for _mine, theirs in sorted(places)]
        return in_live == sorted(in_live)

    def _is_same(self, wanted: Any, live: Any) -> bool:
        if self.amounts and _is_amount(wanted) and _is_amount(live):
            return quantity.as_number(str(wanted)) == quantity.as_number(str(live))
        if isinstance(wanted, bool) or isinstance(live, bool):
            return wanted is live
        return bool(wanted == live)


@lru_cache(maxsize=1024)
def _parsed(text: str) -> Any:
    """Return the keys or the value that a record names; the same few hundred are met in every comparison."""
    return json.loads(text)


def _managed(live: Object) -> Mapping[str, Any]:
    entries = live["metadata"].get("managedFields") or ()
    return next((recorded_fields(entry) for entry in entries if is_our_apply(entry)), _NOTHING)


def _covers(wanted: Any, managed: Mapping[str, Any]) -> bool:
    """Whether *wanted* still has every field that we have applied before, so that none would be given up."""
    return all(_covers_one(wanted, key, inner) for key, inner in managed.items() if key != ".")


def _covers_one(wanted: Any, key: str, inner: Mapping[str, Any]) -> bool:
    sort, _, name = key.partition(":")
    if sort == "f":
        below = wanted.get(name) if isinstance(wanted, Mapping) else None
        return below is not None and _covers(below, inner)
    if not isinstance(wanted, list | tuple):
        return False
    if sort == "k":
        position = _position(wanted, _parsed(name))
        return position is not None and _covers(wanted[position], inner)
    return sort != "v" or _parsed(name) in wanted


def _position(entries: Sequence[Any], keys: Mapping[str, Any]) -> int | None:
    """Return where the entry with *keys* stands; a key that an entry lacks has been filled in by the server."""
    wanted = tuple(keys.items())
    # Loops instead of generators: of all that is done for an object that has not changed, this takes the most time.
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict):
            continue
        for key, value in wanted:
            if entry.get(key, value) != value:
                break
        else:
            return index
    return None


def _is_part_of(wanted: Mapping[str, Any], live: Mapping[str, Any]) -> bool:
    return all(live.get(key) == value for key, value in wanted.items())


def _is_empty(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(inner is None or _is_empty(inner) for inner in value.values())
    return not value


def _is_amount(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, str | int | float) and quantity.is_quantity(str(value))

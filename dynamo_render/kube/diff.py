"""What differs between two JSON values, or between two sets of objects, by field path.

Entries of lists are matched as an apply would match them, by the keys that `dynamo_render.kube.shapes` knows, so that a
variable in front of the others is one addition. Nothing here prints, and nothing knows what a difference leads to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from dynamo_render.errors import field_path
from dynamo_render.kube import manifest, shapes, structural
from dynamo_render.kube.manifest import Manifest
from dynamo_render.kube.shapes import ANY, Entry, Path, Shape, Step
from dynamo_render.values import Value, frozen

Identity = tuple[str, str, str, str]


@frozen
class Change(Value):
    """One difference, from *old* to *new*; the values are those of the inputs, and not copies.

    What is ``added`` to a list that goes by keys stands behind *after*, or at the front when that is None. A list is
    ``reordered`` when entries that both sides have follow each other in another order; *old* and *new* are their steps.
    """

    path: Path
    kind: Literal["added", "removed", "replaced", "reordered"]
    old: Any = None
    new: Any = None
    after: Step | None = None

    def where(self) -> str:
        """Return the path as users write it: ``spec.containers[name=main].image``."""
        return field_path(self.path)


@frozen
class ObjectChange(Value):
    """One object that is not the same on both sides; *old* or *new* is None where it is missing."""

    identity: Identity
    old: Manifest | None
    new: Manifest | None
    changes: tuple[Change, ...] = ()

    @property
    def kind(self) -> Literal["added", "removed", "changed"]:
        """What has become of the object."""
        return "added" if self.old is None else "removed" if self.new is None else "changed"


def object_changes(
    old: Iterable[Manifest], new: Iterable[Manifest], known: Mapping[tuple[str, str], Shape] | None = None
) -> tuple[ObjectChange, ...]:
    """Return which objects are added, removed or changed, in the order of *old*, with new ones behind.

    *known* are the shapes of kinds, by group and kind, besides those of plain Kubernetes. Of objects with the same
    identity on one side, the last counts.
    """
    before = {manifest.identity(made): made for made in old}
    after = {manifest.identity(made): made for made in new}
    return tuple(
        change
        for identity in dict.fromkeys((*before, *after))
        if (change := _object_change(identity, before.get(identity), after.get(identity), known or {}))
    )


def _object_change(
    identity: Identity, old: Manifest | None, new: Manifest | None, known: Mapping[tuple[str, str], Shape]
) -> ObjectChange | None:
    if old is None or new is None:
        return ObjectChange(identity, old, new)
    group = identity[0].rpartition("/")[0]
    found = differences(old, new, shapes.of_object(group, identity[1], known))
    return ObjectChange(identity, old, new, found) if found else None


def differences(old: object, new: object, shape: Shape = ANY) -> tuple[Change, ...]:
    """Return what leads from *old* to *new*; nothing when both are the same JSON value.

    The law: ``applied(old, differences(old, new, shape), shape)`` is the same JSON value as *new*. The order of keys in
    mappings does not count.
    """
    return tuple(_differences(old, new, shape, ()))


def same(old: object, new: object) -> bool:
    """Whether both are the same JSON value; unlike for ==, true is not 1, and 1 is not 1.0."""
    if type(old) is not type(new):
        return False
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(same(value, new[key]) for key, value in old.items())
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(same, old, new))
    return old == new


def _differences(old: object, new: object, shape: Shape, path: Path) -> Iterator[Change]:
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _in_mappings(old, new, shape, path)
    elif isinstance(old, list) and isinstance(new, list) and not shape.atomic:
        goes_by_keys = shape.keys and all(isinstance(item, dict) for item in (*old, *new))
        yield from (_in_keyed_lists if goes_by_keys else _in_lists)(old, new, shape, path)
    elif not same(old, new):
        yield Change(path, "replaced", old, new)


def _in_mappings(old: dict[str, Any], new: dict[str, Any], shape: Shape, path: Path) -> Iterator[Change]:
    for key, value in old.items():
        if key in new:
            yield from _differences(value, new[key], shape.of_field(key), (*path, key))
        else:
            yield Change((*path, key), "removed", value)
    for key, value in new.items():
        if key not in old:
            yield Change((*path, key), "added", new=value)


def _in_lists(old: list[Any], new: list[Any], shape: Shape, path: Path) -> Iterator[Change]:
    for index, (before, after) in enumerate(zip(old, new, strict=False)):
        yield from _differences(before, after, shape.of_entry(), (*path, index))
    for index in range(len(new), len(old)):
        yield Change((*path, index), "removed", old[index])
    for index in range(len(old), len(new)):
        yield Change((*path, index), "added", new=new[index])


def _in_keyed_lists(old: list[Any], new: list[Any], shape: Shape, path: Path) -> Iterator[Change]:
    before, after = dict(zip(_steps(old, shape), old, strict=True)), dict(zip(_steps(new, shape), new, strict=True))
    old_order = tuple(step for step in before if step in after)
    new_order = tuple(step for step in after if step in before)
    if old_order != new_order:
        yield Change(path, "reordered", old_order, new_order)
    for step, value in before.items():
        if step in after:
            yield from _differences(value, after[step], shape.of_entry(), (*path, step))
        else:
            yield Change((*path, step), "removed", value)
    predecessor = None
    for step, value in after.items():
        if step not in before:
            yield Change((*path, step), "added", new=value, after=predecessor)
        predecessor = step


def _steps(entries: Sequence[Mapping[str, Any]], shape: Shape) -> Iterator[Entry]:
    """Yield the step to every entry of a list that goes by keys."""
    seen: Counter[tuple[tuple[str, object], ...]] = Counter()
    for item in entries:
        keys = tuple((key, _hashable(item.get(key, default))) for key, default in shape.keys.items())
        yield Entry(keys, seen[keys])
        seen[keys] += 1


def _hashable(value: object) -> object:
    return str(value) if isinstance(value, dict | list) else value


def applied(value: object, changes: Iterable[Change], shape: Shape = ANY) -> Any:
    """Return *value* after *changes* that `differences` found for the same *shape*; shares nothing with either."""
    return _applied(structural.copied(value), list(changes), shape, 0)


def _applied(value: Any, changes: list[Change], shape: Shape, depth: int) -> Any:
    if not changes:
        return value
    below: dict[Step, list[Change]] = {}
    for change in changes:
        if len(change.path) > depth:
            below.setdefault(change.path[depth], []).append(change)
        elif change.kind != "reordered":
            return structural.copied(change.new)
    if isinstance(value, dict):
        return _applied_to_parts(value, below, shape, depth)
    if below and all(isinstance(step, int) for step in below):
        return list(_applied_to_parts(dict(enumerate(value)), below, shape, depth).values())
    parts = _applied_to_parts(dict(zip(_steps(value, shape), value, strict=True)), below, shape, depth)
    return [parts[step] for step in _order(parts, changes, depth)]


def _applied_to_parts(
    parts: dict[Any, Any], below: dict[Step, list[Change]], shape: Shape, depth: int
) -> dict[Any, Any]:
    """Return mapping keys, or list entries by their steps, after the changes *below* each; new ones stand last."""
    for step, changes in below.items():
        if changes[0].kind == "removed" and len(changes[0].path) == depth + 1:
            del parts[step]
        else:
            inner = shape.of_field(step) if isinstance(step, str) else shape.of_entry()
            parts[step] = _applied(parts.get(step), changes, inner, depth + 1)
    return parts


def _order(parts: Iterable[Step], changes: Iterable[Change], depth: int) -> list[Step]:
    """Return the steps of a list that goes by keys in their new order."""
    order = list(parts)
    new = (change for change in changes if change.kind == "added" and len(change.path) == depth + 1)
    added = {change.path[depth]: change.after for change in new}
    order = [step for step in order if step not in added]
    for change in changes:
        if change.kind == "reordered" and len(change.path) == depth:
            order = list(change.new)
    for step, predecessor in added.items():
        order.insert(0 if predecessor is None else order.index(predecessor) + 1, step)
    return order

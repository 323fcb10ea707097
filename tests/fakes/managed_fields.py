"""Server-side apply as far as the controller depends on it: paths of fields, their record, and the merge.

Lists of mappings that all have a name go by it; every other list is one value, as in most of Kubernetes.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator
from typing import Any

Json = dict[str, Any]
Path = tuple[str, ...]

UNMANAGED = {"apiVersion", "kind", "status"}
OF_METADATA = {"labels", "annotations", "ownerReferences", "finalizers"}


def paths(content: Json) -> set[Path]:
    """Return the paths of all fields of an object that a manager can own."""
    found = {
        path
        for key, value in content.items()
        if key not in {*UNMANAGED, "metadata"}
        for path in _paths(value, (f"f:{key}",))
    }
    metadata = content.get("metadata", {})
    return found | {
        path for key in OF_METADATA & metadata.keys() for path in _paths(metadata[key], ("f:metadata", f"f:{key}"))
    }


def _paths(value: Any, at: Path) -> Iterator[Path]:
    if value is None:
        return
    below = list(_steps(value))
    if not below:
        yield at
    for step, inner in below:
        if step.startswith("k:"):
            yield (*at, step)
        yield from _paths(inner, (*at, step))


def _steps(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f"f:{key}", inner) for key, inner in value.items())
    elif _goes_by_name(value):
        yield from ((_step(entry), entry) for entry in value)


def _goes_by_name(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(each, dict) and ("uid" in each or "name" in each) for each in value)
    )


def _step(entry: Json) -> str:
    key = "uid" if "uid" in entry else "name"
    return "k:" + json.dumps({key: entry[key]})


def record(owned: Iterable[Path]) -> Json:
    """Return the paths as the record that managed fields keep of them."""
    tree: Json = {}
    for path in sorted(owned):
        at = tree
        for step in path:
            at = at.setdefault(step, {})
    return tree


def value_at(content: Any, path: Path) -> Any:
    """Return the value at *path*, None where there is none."""
    for step in path:
        if step.startswith("f:"):
            content = content.get(step[2:]) if isinstance(content, dict) else None
        else:
            content = next((each for each in content or () if isinstance(each, dict) and _step(each) == step), None)
    return content


def without(content: Any, path: Path) -> Any:
    """Return *content* without the value at *path*; a mapping or list that this empties is left out too."""
    step, rest = path[0], path[1:]
    if isinstance(content, dict):
        key = step[2:]
        if key not in content:
            return content
        inner = without(content[key], rest) if rest else None
        return {
            **{k: v for k, v in content.items() if k != key},
            **({key: inner} if inner not in (None, {}, []) else {}),
        }
    result = [without(each, rest) if rest and _step(each) == step else each for each in content or ()]
    return [each for each in result if each is not None and (rest or _step(each) != step)]


def merged(live: Any, wanted: Any) -> Any:
    """Return *live* after applying *wanted* to it."""
    if isinstance(live, dict) and isinstance(wanted, dict):
        return {**live, **{key: merged(live.get(key), value) for key, value in wanted.items() if value is not None}}
    if _goes_by_name(live) and _goes_by_name(wanted):
        mine = {_step(each): each for each in wanted}
        theirs = {_step(each): each for each in live}
        others = [each for step, each in theirs.items() if step not in mine]
        return [merged(theirs.get(step), each) for step, each in mine.items()] + others
    return copy.deepcopy(wanted)

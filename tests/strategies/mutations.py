"""Plain JSON values with something wrong in them: a leaf replaced, a key dropped or added, at any depth."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

from hypothesis import strategies as st

Path = tuple[str | int, ...]


@cache
def json_values() -> st.SearchStrategy[Any]:
    """Return JSON values that a field may not expect, a text that is no Unicode included."""
    leaf = st.one_of(
        st.sampled_from((None, True, False, 0, 1, -1, 2**31, -(2**63) - 1, 10**30, 1.5, -0.0, 1e300)),
        st.sampled_from(("", "x", "0", "true", "8Gi", "-1", "a/b", "A" * 300, "\ud800", "\x00", "☃", "${X}", "'")),
        st.text(max_size=5),
    )
    keys = st.sampled_from(("", "name", "value", "a/b/c", "☃")) | st.text(max_size=3)
    return st.recursive(
        leaf, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(keys, inner, max_size=2), max_leaves=4
    )


def paths(value: Any, here: Path = ()) -> Iterator[Path]:
    """Yield the path of every value inside *value*, outer ones first."""
    yield here
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield from paths(entry, (*here, key))


@st.composite
def mutated(draw: st.DrawFn, value: Any) -> Any:
    """Return a copy of *value* with one to three places changed."""
    result = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 3))):
        places = [path for path in paths(result) if path]
        if not places:
            break
        *outer, key = draw(st.sampled_from(places))
        holder = result
        for step in outer:
            holder = holder[step]
        change = draw(st.sampled_from(("replace", "replace", "replace", "drop", "add")))
        if change == "drop":
            del holder[key]
        elif change == "add" and isinstance(holder, dict):
            holder[draw(st.text(max_size=4))] = draw(json_values())
        else:
            holder[key] = copy.deepcopy(draw(json_values()))
    return result


def shuffled(value: Any, random: Random) -> Any:
    """Return a copy of *value* whose mappings list their keys in another order."""
    if isinstance(value, dict):
        keys = list(value)
        random.shuffle(keys)
        return {key: shuffled(value[key], random) for key in keys}
    return [shuffled(entry, random) for entry in value] if isinstance(value, list) else value

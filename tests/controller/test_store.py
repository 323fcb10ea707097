"""What a store knows of objects by label, as they come, change and go."""

from __future__ import annotations

import zlib
from typing import Any

import pytest

from dynamo_controller.ports import Kind
from dynamo_controller.store import PackedStore, Store


def thing(name: str, version: int, **labels: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "team", "resourceVersion": str(version), "labels": labels}
    return {"apiVersion": "v1", "kind": "Thing", "metadata": metadata}


def store() -> Store:
    return Store(Kind("v1", "Thing"), lambda content: content, lambda _before, _now: None, label="model")


def named(store: Store, value: str) -> list[str]:
    return [found["metadata"]["name"] for found in store.labelled(value)]


def test_objects_are_found_by_the_value_of_the_label() -> None:
    things = store()
    for name, value in (("b", "x"), ("a", "x"), ("c", "y")):
        things.put(thing(name, 1, model=value))
    assert (named(things, "x"), named(things, "y"), named(things, "z")) == (["a", "b"], ["c"], [])


def test_an_object_moves_with_its_label() -> None:
    things = store()
    things.put(thing("a", 1, model="x"))
    things.put(thing("a", 2, model="y"))
    assert (named(things, "x"), named(things, "y")) == ([], ["a"])


def test_an_object_that_loses_its_label_or_goes_is_found_no_more() -> None:
    things = store()
    things.put(thing("a", 1, model="x"))
    things.put(thing("b", 1, model="x"))
    things.put(thing("a", 2))
    things.drop(thing("b", 2))
    assert named(things, "x") == []


def test_what_a_packed_store_is_told_again_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A watch tells each of our own writes once more, and unpacking takes longer than all the rest."""
    heard: list[Any] = []
    packed = PackedStore(Kind("v1", "Thing"), lambda content: content, lambda before, now: heard.append((before, now)))
    packed.put(thing("a", 5))
    monkeypatch.delattr(zlib, "decompress")
    packed.put(thing("a", 5))
    packed.put(thing("a", 4))
    packed.drop(thing("a", 4))
    assert len(heard) == 1

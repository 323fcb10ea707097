"""Which resources a change of an object concerns. Pure; reads stores only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dynamo_controller import models, requests
from dynamo_controller.apply import ADAPTER
from dynamo_controller.components import COMPONENT
from dynamo_controller.graphs import GRAPH
from dynamo_controller.ports import Kind, Object
from dynamo_controller.projection import POD_LABEL, graph_of
from dynamo_controller.rollouts import ALLOWED_BY
from dynamo_controller.shell import Key, Stores, key_of
from dynamo_controller.store import controller

_ASKED = ("generation", "deletionTimestamp", "labels", "annotations")


def itself(before: Object | None, now: Object | None, _stores: Stores) -> Iterator[Key]:
    """Yield the changed resource when it asks for something else than before: a new status is no such thing."""
    changed = now or before
    if changed is None:
        return
    if before is None or now is None or any(before["metadata"].get(k) != now["metadata"].get(k) for k in _ASKED):
        yield key_of(changed)


def graph(before: Object | None, now: Object | None, stores: Stores) -> Iterator[Key]:
    """Yield a changed graph, adapters that pass counts on to it, components that may go ahead with it, its requests."""
    found = tuple(itself(before, now, stores))
    yield from found
    yield from map(key_of, requests.waiting_for(before, now, stores))
    if before is not None and now is not None and _allowed_profile(before) != _allowed_profile(now):
        yield from map(key_of, stores.by_kind[COMPONENT].owned_by(now["metadata"]["uid"]))
    for key in found:
        yield from map(key_of, stores.belonging(ADAPTER, key.namespace, key.name))


def controlled(before: Object | None, now: Object | None, stores: Stores) -> Iterator[Key]:
    """Yield a changed resource and the one that controls it, which looks at its status too."""
    yield from itself(before, now, stores)
    yield from child(before, now, stores)


def child(before: Object | None, now: Object | None, _stores: Stores) -> Iterator[Key]:
    """Yield the controllers of a changed object, before and now."""
    for each in (before, now):
        owner = controller(each) if each is not None else None
        if each is not None and owner is not None:
            yield Key(Kind(owner["apiVersion"], owner["kind"]), each["metadata"]["namespace"], owner["name"])


def claim(before: Object | None, now: Object | None, stores: Stores) -> Iterator[Key]:
    """Yield the controllers of a changed claim and, where it came or went, the graphs that mount it by name."""
    yield from child(before, now, stores)
    if before is not None and now is not None:
        return
    metadata = (before or now or {"metadata": {}})["metadata"]
    for each in stores.inside(GRAPH, metadata.get("namespace", "")):
        listed = (each.get("spec") or {}).get("pvcs") or ()
        if metadata["name"] in _names(listed):
            yield key_of(each)


def _names(listed: Iterable[Object]) -> set[str]:
    return {str(entry.get("name")) for entry in listed}


def clique(before: Object | None, now: Object | None, _stores: Stores) -> Iterator[Key]:
    """Yield the graphs that a changed object of Grove belongs to."""
    for each in (before, now):
        name = graph_of(each) if each is not None else ""
        if each is not None and name:
            yield Key(GRAPH, each["metadata"]["namespace"], name)


def endpoint_slice(before: Object | None, now: Object | None, stores: Stores) -> Iterator[Key]:
    """Yield the models that pods of a changed slice can serve, or could before.

    A pod that has become ready again may have lost what it had loaded, so readiness is a change too.
    """
    if before is not None and now is not None and models.says_the_same(before, now):
        return
    for model in models.served_by([each for each in (before, now) if each is not None], stores):
        yield key_of(model)


def pull_secret(before: Object | None, now: Object | None, stores: Stores) -> Iterator[Key]:
    """Yield every resource that may pull images with a changed Secret."""
    if before is None or now is None or before.get("data") != now.get("data"):
        yield from _all_in(before or now, stores)


def account(before: Object | None, now: Object | None, stores: Stores) -> Iterator[Key]:
    """Yield the controller of a changed service account, or all whose pods may run under it."""
    yield from child(before, now, stores)
    if any(POD_LABEL in ((each or {}).get("metadata", {}).get("labels") or {}) for each in (before, now)):
        yield from _all_in(before or now, stores)


def _allowed_profile(resource: Object) -> str | None:
    found: str | None = (resource["metadata"].get("annotations") or {}).get(ALLOWED_BY)
    return found


def _all_in(content: Object | None, stores: Stores) -> Iterator[Key]:
    if content is not None:
        for kind in (GRAPH, COMPONENT):
            yield from stores.keys(kind, content["metadata"]["namespace"])

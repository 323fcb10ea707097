"""What a run would change now: a cluster that carries out no write, and lists them instead."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import attrs

from dynamo_controller.ports import (
    Cluster,
    ClusterError,
    FieldPath,
    Json,
    Kind,
    Object,
    Page,
    Selection,
    WatchEvent,
)
from dynamo_render.kube import diff
from dynamo_render.kube.diff import Change
from dynamo_render.values import Value

_SET_BY_SERVERS = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp")


@attrs.frozen(eq=False, repr=False)
class Planned(Value):
    """One write that a run would make: the *verb*, what it is about, and what it changes."""

    verb: str
    kind: str
    namespace: str
    name: str
    changes: tuple[Change, ...] = ()

    def lines(self) -> list[str]:
        """Return the write and its changes as lines of text."""
        head = f"{self.verb} {self.kind} {self.namespace}/{self.name}"
        return [head, *(f"    {change.kind} {change.where()}" for change in self.changes)]


class PlanningCluster:
    """A `dynamo_controller.ports.Cluster` that reads from another one; *planned* are the writes it was asked for.

    A server with *dry runs* is asked what an apply would lead to; the answer is the plan's.
    """

    def __init__(self, real: Cluster, dry_run: Cluster) -> None:
        """Plan nothing yet; *dry_run* writes to the same cluster without storing anything."""
        self._real = real
        self._dry_run = dry_run
        self.planned: list[Planned] = []
        self._created: dict[tuple[Kind, str, str], Json] = {}

    async def reach(self) -> None:
        """Ask whether the real cluster is ready."""
        await self._real.reach()

    async def groups(self) -> frozenset[str]:
        """Return the API groups of the real cluster."""
        return await self._real.groups()

    async def get(self, kind: Kind, namespace: str, name: str) -> Json | None:
        """Return an object of the real cluster, or one that a pass of the plan has created."""
        return copy.deepcopy(self._created.get((kind, namespace, name))) or await self._real.get(kind, namespace, name)

    async def page(self, selection: Selection, *, limit: int, next_page: str = "") -> Page:
        """Return a part of a list of the real cluster."""
        return await self._real.page(selection, limit=limit, next_page=next_page)

    def watch(self, selection: Selection, resource_version: str) -> AsyncIterator[WatchEvent]:
        """Watch the real cluster."""
        return self._real.watch(selection, resource_version)

    async def apply(self, content: Object, *, force: bool) -> Json:
        """List an apply that would change something, and return what would be stored."""
        kind, metadata = Kind(content["apiVersion"], content["kind"]), content["metadata"]
        live = await self._real.get(kind, metadata.get("namespace", ""), metadata["name"])
        result = await self._dry_run.apply(content, force=force)
        changes = () if live is None else diff.differences(_comparable(live), _comparable(result))
        if live is None or changes:
            self._plan("create" if live is None else "change", content, changes)
        return result

    async def create(self, content: Object) -> Json:
        """List a create, unless it is an event."""
        kind, metadata = Kind(content["apiVersion"], content["kind"]), content["metadata"]
        namespace, name = metadata.get("namespace", ""), metadata.get("name", "")
        if kind.kind == "Event":
            return copy.deepcopy(dict(content))
        if await self.get(kind, namespace, name) is not None:
            raise ClusterError(409, "AlreadyExists", f"{name} already exists")
        self._plan("create", content)
        stored = copy.deepcopy(dict(content))
        stored["metadata"] |= {"uid": f"planned-{len(self.planned)}", "resourceVersion": "0"}
        self._created[kind, namespace, name] = stored
        return copy.deepcopy(stored)

    async def delete(self, target: Object) -> None:
        """List a deletion."""
        self._plan("delete", target)

    async def merge(self, target: Object, patch: Object) -> Json:
        """List a change."""
        self._plan("change", target, _set(patch))
        metadata = dict(target["metadata"])
        given = patch.get("metadata", {}).get("annotations")
        if given:
            metadata["annotations"] = {**(metadata.get("annotations") or {}), **given}
        return _newer({**target, "metadata": metadata})

    async def replace_status(self, target: Object, status: Object) -> Json:
        """List nothing, and return the object as it would be stored: the next pass goes on from there."""
        return _newer({**target, "status": status})

    async def merge_status(self, target: Object, patch: Object) -> Json:  # noqa: ARG002 - a protocol's method
        """List nothing: a status follows what is there."""
        return copy.deepcopy(dict(target))

    async def remove_fields(self, target: Object, paths: Sequence[FieldPath]) -> Json:  # noqa: ARG002 - a protocol's method
        """List nothing: the apply that follows tells the change."""
        return copy.deepcopy(dict(target))

    async def scale(self, kind: Kind, namespace: str, name: str, replicas: int) -> None:
        """List a change of the scale."""
        target = {"kind": kind.kind, "metadata": {"namespace": namespace, "name": name}}
        self._plan("change", target, _set({"spec": {"replicas": replicas}}))

    def _plan(self, verb: str, target: Object, changes: tuple[Change, ...] = ()) -> None:
        metadata = target["metadata"]
        self.planned.append(Planned(verb, target["kind"], metadata.get("namespace", ""), metadata["name"], changes))


def _newer(content: Object) -> Json:
    """Return *content* with a version above its own, so that the stores of a plan take it."""
    stored = copy.deepcopy(dict(content))
    stored["metadata"]["resourceVersion"] = str(int(stored["metadata"].get("resourceVersion") or 0) + 1)
    return stored


def _comparable(content: Object) -> Json:
    metadata = {key: value for key, value in content["metadata"].items() if key not in _SET_BY_SERVERS}
    return {**{key: value for key, value in content.items() if key != "status"}, "metadata": metadata}


def _set(patch: Mapping[str, Any]) -> tuple[Change, ...]:
    return diff.differences({}, dict(patch))

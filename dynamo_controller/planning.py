"""What a run would change now: a cluster that carries out no write, and lists them instead."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import attrs

from dynamo_controller.forwarding import Forwarding
from dynamo_controller.ports import Cluster, ClusterError, FieldPath, Json, Kind, Object
from dynamo_render import restarts
from dynamo_render.commandline import differences
from dynamo_render.kube import diff, manifest
from dynamo_render.kube.diff import ObjectChange
from dynamo_render.restarts import PodImpact
from dynamo_render.values import Value

_SET_BY_SERVERS = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp")


@attrs.frozen(eq=False, repr=False)
class Planned(Value):
    """One write that a run would make: the *verb*, and the *change* of the object that it leads to."""

    verb: str
    change: ObjectChange

    def lines(self) -> list[str]:
        """Return the write, and below it its changes as a diff; what a Secret holds is not shown."""
        _version, kind, namespace, name = self.change.identity
        head = f"{self.verb} {kind} {namespace}/{name}"
        if kind == "Secret" or self.verb in ("adopt", "delete"):
            return [head]
        return [head, *(f"    {line}" for line in differences.lines([self.change]) if line[:4] not in ("--- ", "+++ "))]


@attrs.frozen(eq=False, repr=False)
class Plan(Value):
    """What a run would do: its *writes*; *has_failed* says that a pass did not get to its end."""

    writes: tuple[Planned, ...]
    has_failed: bool = False

    @property
    def impacts(self) -> tuple[PodImpact, ...]:
        """What the writes mean for running pods."""
        found = restarts.impacts(each.change for each in self.writes if each.verb == "change")
        return tuple(impact for impact in found if impact.because)

    def lines(self) -> list[str]:
        """Return the plan as text: every write, and then which pods are replaced, and because of what."""
        replaced = list(differences.impact_lines(self.impacts))
        return [line for each in self.writes for line in each.lines()] + (["pods:", *replaced] if replaced else [])


class PlanningCluster(Forwarding):
    """Reads from another cluster and writes nothing; *planned* are the writes it was asked for.

    A server with *dry runs* is asked what an apply would lead to; the answer is the plan's.
    """

    def __init__(self, real: Cluster, dry_run: Cluster) -> None:
        """Plan nothing yet; *dry_run* writes to the same cluster without storing anything."""
        super().__init__(real)
        self._dry_run = dry_run
        self.planned: list[Planned] = []
        self._created: dict[tuple[Kind, str, str], Json] = {}

    async def change(self, verb: str, target: Object, send: Callable[[], Awaitable[Json]]) -> Json:  # noqa: ARG002 - a hook
        """Raise RuntimeError: each sort of change is listed by a method below, and none is sent."""
        raise RuntimeError(f"a plan does not know how to list {verb}")

    async def get(self, kind: Kind, namespace: str, name: str) -> Json | None:
        """Return an object of the real cluster, or one that a pass of the plan has created."""
        return copy.deepcopy(self._created.get((kind, namespace, name))) or await self._inner.get(kind, namespace, name)

    async def apply(self, content: Object, *, force: bool) -> Json:
        """List an apply that would change something, and return what would be stored."""
        kind, metadata = Kind(content["apiVersion"], content["kind"]), content["metadata"]
        live = await self._inner.get(kind, metadata.get("namespace", ""), metadata["name"])
        result = await self._dry_run.apply(content, force=force)
        old, new = _comparable(live) if live else None, _comparable(result)
        changes = restarts.object_changes([old] if old else [], [new])
        for change in changes:
            self._plan(Planned("change" if live else "create", change))
        return (
            _newer({**result, "metadata": {**live["metadata"], **result["metadata"]}}) if live and changes else result
        )

    async def create(self, content: Object) -> Json:
        """List a create, unless it is an event."""
        kind, metadata = Kind(content["apiVersion"], content["kind"]), content["metadata"]
        namespace, name = metadata.get("namespace", ""), metadata.get("name", "")
        if kind.kind == "Event":
            return copy.deepcopy(dict(content))
        if await self.get(kind, namespace, name) is not None:
            raise ClusterError(409, "AlreadyExists", f"{name} already exists")
        self._plan(Planned("create", ObjectChange(manifest.identity(content), None, dict(content))))
        stored = copy.deepcopy(dict(content))
        stored["metadata"] |= {"uid": f"planned-{len(self.planned)}", "resourceVersion": "0"}
        self._created[kind, namespace, name] = stored
        return copy.deepcopy(stored)

    async def delete(self, target: Object) -> None:
        """List a deletion."""
        self._plan(Planned("delete", ObjectChange(manifest.identity(target), dict(target), None)))

    async def merge(self, target: Object, patch: Object) -> Json:
        """List a change; one of managed fields alone takes over from the released operator."""
        metadata = dict(target["metadata"])
        is_adoption = patch.keys() == {"metadata"} and patch["metadata"].keys() == {"managedFields"}
        self._plan(Planned("adopt" if is_adoption else "change", _edited(target, patch)))
        if is_adoption:
            return _newer({**target, "metadata": {**metadata, **patch["metadata"]}})
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
        metadata = {"namespace": namespace, "name": name}
        target = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}
        self._plan(Planned("change", _edited(target, {"spec": {"replicas": replicas}})))

    def _plan(self, planned: Planned) -> None:
        if planned not in self.planned:
            self.planned.append(planned)


def _newer(content: Object) -> Json:
    """Return *content* with a version above its own, so that the stores of a plan take it."""
    stored = copy.deepcopy(dict(content))
    stored["metadata"]["resourceVersion"] = str(int(stored["metadata"].get("resourceVersion") or 0) + 1)
    return stored


def _comparable(content: Object) -> Json:
    metadata = {key: value for key, value in content["metadata"].items() if key not in _SET_BY_SERVERS}
    return {**{key: value for key, value in content.items() if key != "status"}, "metadata": metadata}


def _edited(target: Object, patch: Mapping[str, Any]) -> ObjectChange:
    return ObjectChange(manifest.identity(target), dict(target), dict(target), diff.differences({}, dict(patch)))

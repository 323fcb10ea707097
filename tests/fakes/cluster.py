"""A cluster in memory that behaves, as far as the controller can see, like an API server.

It has resource versions, generations, server-side apply with a record of fields, watches that can expire, garbage
collection of dependents on request, and failures by order. It has no controllers and no schemas.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from dynamo_controller.ports import FIELD_MANAGER, ClusterError, FieldPath, Kind, Page, Selection, WatchEvent
from tests.fakes import managed_fields
from tests.fakes.places import Place, place_of, selects, target_at

Json = dict[str, Any]

KUBERNETES = (
    "v1",
    "apps/v1",
    "batch/v1",
    "discovery.k8s.io/v1",
    "networking.k8s.io/v1",
    "rbac.authorization.k8s.io/v1",
    "apiextensions.k8s.io/v1",
    "coordination.k8s.io/v1",
)

Fault = Callable[[str, Json], ClusterError | None]
"""Is asked before every request, with its verb and its target; what it returns is raised."""


class FakeCluster:
    """`dynamo_controller.ports.Cluster` in memory. `writes` has the verb and the target of every change."""

    def __init__(self, *groups: str) -> None:
        self.objects: dict[Place, Json] = {}
        self.served = {"nvidia.com", *groups}
        self.writes: list[tuple[str, str, str]] = []
        self.faults: list[Fault] = []
        self.lists = 0
        self._version = 100
        self._uids = 0
        self._events: list[tuple[int, WatchEvent, Json | None]] = []
        self._oldest = self._version
        self._told = asyncio.Event()
        self._generation_of_watches = 0

    # What the controller uses

    async def reach(self) -> None:
        await self._asked("reach", {})

    async def groups(self) -> frozenset[str]:
        await self._asked("groups", {})
        return frozenset(self.served)

    async def get(self, kind: Kind, namespace: str, name: str) -> Json | None:
        await self._asked("get", target_at(kind, namespace, name))
        return copy.deepcopy(self.objects.get((kind, namespace, name)))

    async def page(self, selection: Selection, *, limit: int, next_page: str = "") -> Page:
        await self._asked("list", target_at(selection.kind, selection.namespace, ""))
        self._require_served(selection.kind)
        self.lists += not next_page
        version, start = map(int, next_page.split("/")) if next_page else (self._version, 0)
        if version < self._oldest:
            raise ClusterError(410, "Expired", "the continue token is too old")
        places = sorted((place for place, live in self.objects.items() if selects(selection, live)), key=_order)
        items = tuple(copy.deepcopy(self.objects[place]) for place in places[start : start + limit])
        more = f"{version}/{start + limit}" if start + limit < len(places) else ""
        return Page(items, str(version), more)

    async def watch(self, selection: Selection, resource_version: str) -> AsyncIterator[WatchEvent]:
        await self._asked("watch", target_at(selection.kind, selection.namespace, ""))
        self._require_served(selection.kind)
        seen, mine = int(resource_version), self._generation_of_watches
        while mine == self._generation_of_watches:
            if seen < self._oldest:
                raise ClusterError(410, "Expired", "too old resource version")
            await self._asked("watching", target_at(selection.kind, selection.namespace, ""))
            for version, event, before in [each for each in self._events if each[0] > seen]:
                seen = version
                if selects(selection, event.content):
                    yield copy.deepcopy(event)
                elif before is not None and selects(selection, before):
                    yield WatchEvent("DELETED", copy.deepcopy(event.content))
            if not self._events or self._events[-1][0] <= seen:
                self._told.clear()
                await self._told.wait()

    async def apply(self, content: Mapping[str, Any], *, force: bool) -> Json:
        wanted = copy.deepcopy(dict(content))
        await self._asked("apply", wanted)
        place = place_of(wanted)
        live = self.objects.get(place)
        if live is None:
            if "uid" in wanted["metadata"]:
                raise ClusterError(409, "Conflict", "uid mismatch: the object does not exist")
            return self._applied_new(wanted)
        self._check_preconditions(wanted, live)
        return self._applied(wanted, live, force=force)

    async def create(self, content: Mapping[str, Any]) -> Json:
        wanted = copy.deepcopy(dict(content))
        await self._asked("create", wanted)
        if "name" not in wanted["metadata"]:
            self._uids += 1
            wanted["metadata"]["name"] = f"{wanted['metadata'].pop('generateName')}{self._uids}"
        if place_of(wanted) in self.objects:
            raise ClusterError(409, "AlreadyExists", f"{wanted['metadata']['name']} already exists")
        if wanted["kind"] == "Event":
            # No story counts events among the writes, and nobody watches them.
            self._uids += 1
            wanted["metadata"] |= {"uid": f"uid-{self._uids}", "resourceVersion": "1"}
            self.objects[place_of(wanted)] = wanted
            return copy.deepcopy(wanted)
        return self._store_new(wanted, {})

    async def delete(self, target: Mapping[str, Any]) -> None:
        await self._asked("delete", dict(target))
        live = self._live(target)
        if live["metadata"]["uid"] != target["metadata"]["uid"]:
            raise ClusterError(409, "Conflict", "uid precondition failed")
        self._remove(live)

    async def merge(self, target: Mapping[str, Any], patch: Mapping[str, Any]) -> Json:
        await self._asked("merge", dict(target))
        live = self._same_version(target)
        if live["kind"] == "Event":
            version = str(int(live["metadata"]["resourceVersion"]) + 1)
            live |= {**copy.deepcopy(dict(patch)), "metadata": {**live["metadata"], "resourceVersion": version}}
            return copy.deepcopy(live)
        return self.edit(live, patch, manager=FIELD_MANAGER)

    async def merge_status(self, target: Mapping[str, Any], patch: Mapping[str, Any]) -> Json:
        await self._asked("status", dict(target))
        live = self._same_version(target)
        changed = copy.deepcopy(live)
        changed["status"] = _patched(live.get("status") or {}, patch)
        return self._store("status", live, changed)

    async def replace_status(self, target: Mapping[str, Any], status: Mapping[str, Any]) -> Json:
        await self._asked("status", dict(target))
        live = self._same_version(target)
        return self._store("status", live, {**copy.deepcopy(live), "status": copy.deepcopy(dict(status))})

    async def remove_fields(self, target: Mapping[str, Any], paths: Sequence[FieldPath]) -> Json:
        await self._asked("remove", dict(target))
        live = self._same_version(target)
        changed = copy.deepcopy(live)
        for *way, last in paths:
            parent: Any = changed
            for part in way:
                parent = parent[part]
            del parent[last]
        gone = managed_fields.paths(live) - managed_fields.paths(changed)
        owners = {name: owned - gone for name, owned in self._owners(live).items()}
        return self._store("remove", live, changed, owners)

    async def scale(self, kind: Kind, namespace: str, name: str, replicas: int) -> None:
        target = target_at(kind, namespace, name)
        await self._asked("scale", target)
        self.edit(self._live(target), {"spec": {"replicas": replicas}}, manager=FIELD_MANAGER)

    # What tests use

    def put(self, content: Json) -> Json:
        """Store a new object as a user would create it."""
        return self._store_new(copy.deepcopy(content), {"user": managed_fields.paths(content)})

    def edit(self, target: Mapping[str, Any], patch: Mapping[str, Any], *, manager: str = "user") -> Json:
        """Change an object as a user would edit it: what changes becomes the editor's."""
        live = self._live(target)
        changed = _patched(live, patch)
        mine = {
            path
            for path in managed_fields.paths(changed)
            if managed_fields.value_at(live, path) != managed_fields.value_at(changed, path)
        }
        # Who writes the record of fields says who has written what.
        recorded = changed if "managedFields" in patch.get("metadata", {}) else live
        owners = {name: owned - mine for name, owned in self._owners(recorded).items()}
        key = f"{manager}/Update"
        owners[key] = owners.get(key, set()) | mine
        return self._store("edit", live, changed, owners)

    def set_status(self, target: Mapping[str, Any], status: Mapping[str, Any]) -> Json:
        """Replace a status as another controller would write it."""
        live = self._live(target)
        return self._store("", live, {**copy.deepcopy(live), "status": dict(status)})

    def remove(self, target: Mapping[str, Any]) -> None:
        """Delete an object and everything it controls, as garbage collection would."""
        live = self._live(target)
        uid = live["metadata"]["uid"]
        self._remove(live)
        for each in [each for each in self.objects.values() if _owner_uid(each) == uid]:
            if place_of(each) in self.objects:
                self.remove(each)

    def find(self, kind: str, name: str, namespace: str = "team") -> Json:
        """Return the one object of a kind and name; KeyError where there is none."""
        for (each, where, called), live in self.objects.items():
            if (each.kind, where, called) == (kind, namespace, name):
                return copy.deepcopy(live)
        raise KeyError(f"{kind} {namespace}/{name}")

    def names(self, kind: str) -> list[str]:
        """Return the names of all objects of a kind, sorted."""
        return sorted(name for each, _namespace, name in self.objects if each.kind == kind)

    def for_dry_runs(self) -> FakeCluster:
        """Return a cluster that is the same now and whose changes do not come back."""
        copied = FakeCluster(*self.served)
        copied.objects = copy.deepcopy(self.objects)
        copied._version, copied._uids = self._version, self._uids
        return copied

    def end_watches(self) -> None:
        """End all running watches, as a server does from time to time."""
        self._generation_of_watches += 1
        self._told.set()

    def compact(self) -> None:
        """Forget what has happened so far: watches and pages that start before now expire."""
        self._oldest = self._version = self._version + 1
        self._events.clear()
        self._told.set()

    # Inside

    def _applied_new(self, wanted: Json) -> Json:
        return self._store_new(wanted, {f"{FIELD_MANAGER}/Apply": managed_fields.paths(wanted)})

    def _applied(self, wanted: Json, live: Json, *, force: bool) -> Json:
        owners, mine = self._owners(live), f"{FIELD_MANAGER}/Apply"
        fields = managed_fields.paths(wanted)
        for name, owned in owners.items():
            contested = [
                path
                for path in owned & fields
                if name != mine and managed_fields.value_at(live, path) != managed_fields.value_at(wanted, path)
            ]
            if contested and not force:
                raise ClusterError(409, "Conflict", f"conflict with {name}: {contested}")
            if name != mine:
                owners[name] = owned - set(contested)
        _refuse_emptied(wanted, owners.get(mine, set()) - fields)
        changed = copy.deepcopy(live)
        others = set().union(*(owned for name, owned in owners.items() if name != mine))
        for path in sorted(owners.get(mine, set()) - fields - others, key=len):
            changed = managed_fields.without(changed, path)
        content = {key: value for key, value in wanted.items() if key != "metadata"}
        changed = managed_fields.merged(changed, content)
        kept = {key: wanted["metadata"][key] for key in managed_fields.OF_METADATA & wanted["metadata"].keys()}
        changed["metadata"] = managed_fields.merged(changed["metadata"], kept)
        owners[mine] = fields
        return self._store("apply", live, changed, owners)

    def _owners(self, live: Json) -> dict[str, set[managed_fields.Path]]:
        def walk(tree: Json, at: tuple[str, ...]) -> set[tuple[str, ...]]:
            found = {at} if at and (not tree or at[-1].startswith("k:")) else set()
            return found.union(*(walk(inner, (*at, step)) for step, inner in tree.items()))

        entries = live["metadata"].get("managedFields") or ()
        return {f"{each['manager']}/{each['operation']}": walk(each["fieldsV1"], ()) for each in entries}

    def _store_new(self, content: Json, owners: dict[str, set[managed_fields.Path]]) -> Json:
        self._uids += 1
        content["metadata"] |= {"uid": f"uid-{self._uids}", "generation": 1}
        owners = {name if "/" in name else f"{name}/Update": owned for name, owned in owners.items()}
        return self._keep("create", content, owners, "ADDED")

    def _store(
        self, verb: str, live: Json, changed: Json, owners: dict[str, set[managed_fields.Path]] | None = None
    ) -> Json:
        spec = {key: value for key, value in changed.items() if key not in {"metadata", "status"}}
        if any(live.get(key) != value for key, value in spec.items()):
            changed["metadata"]["generation"] = live["metadata"]["generation"] + 1
        owners = self._owners(live) if owners is None else owners
        if {**changed, "metadata": _rest(changed)} == {**live, "metadata": _rest(live)} and owners == self._owners(
            live
        ):
            return copy.deepcopy(live)
        if "deletionTimestamp" in changed["metadata"] and not changed["metadata"].get("finalizers"):
            self.objects[place_of(changed)] = changed
            self._remove(changed)
            return copy.deepcopy(changed)
        return self._keep(verb, changed, owners, "MODIFIED")

    def _keep(self, verb: str, content: Json, owners: dict[str, set[managed_fields.Path]], sort: Any) -> Json:
        self._version += 1
        content["metadata"]["resourceVersion"] = str(self._version)
        content["metadata"]["managedFields"] = [
            {
                "manager": name.partition("/")[0],
                "operation": name.partition("/")[2],
                "fieldsType": "FieldsV1",
                "fieldsV1": managed_fields.record(owned),
            }
            for name, owned in owners.items()
            if owned
        ]
        before = self.objects.get(place_of(content))
        self.objects[place_of(content)] = content
        self._note(verb, content)
        self._tell(sort, content, before)
        return copy.deepcopy(content)

    def _remove(self, live: Json) -> None:
        if live["metadata"].get("finalizers"):
            live["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
            self._keep("delete", live, self._owners(live), "MODIFIED")
            return
        del self.objects[place_of(live)]
        self._version += 1
        self._note("delete", live)
        gone = copy.deepcopy(live)
        gone["metadata"]["resourceVersion"] = str(self._version)
        self._tell("DELETED", gone)

    def _note(self, verb: str, content: Json) -> None:
        if verb:
            self.writes.append((verb, content["kind"], content["metadata"]["name"]))

    def _tell(self, sort: Any, content: Json, before: Json | None = None) -> None:
        self._events.append((self._version, WatchEvent(sort, copy.deepcopy(content)), before))
        self._told.set()

    def _live(self, target: Mapping[str, Any]) -> Json:
        live = self.objects.get(place_of(target))
        if live is None:
            raise ClusterError(404, "NotFound", f"{target['kind']} {target['metadata']['name']} not found")
        return live

    def _same_version(self, target: Mapping[str, Any]) -> Json:
        live = self._live(target)
        self._check_preconditions(target, live)
        return live

    def _check_preconditions(self, content: Mapping[str, Any], live: Json) -> None:
        for key in ("uid", "resourceVersion"):
            if content["metadata"].get(key, live["metadata"][key]) != live["metadata"][key]:
                raise ClusterError(409, "Conflict", f"{key} precondition failed")

    async def _asked(self, verb: str, target: Json) -> None:
        await asyncio.sleep(0)  # as every request, it lets others go on
        for fault in self.faults:
            error = fault(verb, target)
            if error is not None:
                raise error

    def _require_served(self, kind: Kind) -> None:
        if kind.api_version not in KUBERNETES and kind.group not in self.served:
            raise ClusterError(404, "NotFound", f"{kind.kind} is not served")


def _refuse_emptied(wanted: Json, gone: set[managed_fields.Path]) -> None:
    """Raise as a server does that would leave null where an apply takes the last field out of a mapping."""
    for path in gone:
        if managed_fields.value_at(wanted, path[:-1]) == {}:
            raise ClusterError(422, "Invalid", f'{path[:-1]}: Invalid value: "null"')


def _patched(old: Mapping[str, Any], patch: Mapping[str, Any]) -> Json:
    result = copy.deepcopy(dict(old))
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping):
            result[key] = _patched(result[key] if isinstance(result.get(key), Mapping) else {}, value)
        else:
            result[key] = copy.deepcopy(value)
    return result


def _rest(content: Json) -> Json:
    return {key: value for key, value in content["metadata"].items() if key not in {"managedFields", "resourceVersion"}}


def _order(place: Place) -> tuple[str, str]:
    return place[1:]


def _owner_uid(content: Mapping[str, Any]) -> str:
    references = content["metadata"].get("ownerReferences") or ()
    return next((str(each["uid"]) for each in references if each.get("controller")), "")

"""Carrying out what a pass wants: apply in order, prune what is no longer wanted, and tell what stood in the way.

Writes nothing that changes nothing, and nothing that is not the resource's own. Errors of the cluster end the work
where it is; what is done stays done, and the next pass goes on from there.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

import attrs

from dynamo_controller import adoption, fields, ownership, settling
from dynamo_controller.ports import ClusterError, Json, Kind, Object
from dynamo_controller.shell import Shell, key_of, place_of
from dynamo_controller.store import version
from dynamo_render.kube import live as live_parts
from dynamo_render.kube import manifest
from dynamo_render.kube.diff import Identity

ADAPTER = Kind("nvidia.com/v1alpha1", "DynamoGraphDeploymentScalingAdapter")
CLAIM = Kind("v1", "PersistentVolumeClaim")

KEPT = (CLAIM, Kind("v1", "Secret"))
"""Kinds that are created and then left alone: a claim that nobody mentions any more still holds its user's data, and a
key that is there is the one that pods log in with."""

NO_VERSION = "1"
"""A resource version that no object has: an apply with it makes an object, or is a conflict where there is one."""


class Refused(Exception):
    """A write of one object failed; the message names the object, *cause* is the cluster's answer."""

    def __init__(self, verb: str, target: Object, cause: ClusterError) -> None:
        """Name the object in the message."""
        super().__init__(f'failed to {verb} {target["kind"]} "{target["metadata"]["name"]}": {cause}')
        self.cause = cause


@attrs.define(eq=False)
class Outcome:
    """What a pass did: the *live* objects that it wanted, the *foreign* ones in its way, how many *writes*."""

    live: list[Object] = attrs.field(factory=list)
    foreign: list[tuple[str, str]] = attrs.field(factory=list)
    writes: int = 0


@attrs.frozen(eq=False)
class Applier:
    """Applies the objects of one *resource*."""

    shell: Shell
    resource: Object
    outcome: Outcome = attrs.field(factory=Outcome)

    async def apply_all(self, wanted: Sequence[tuple[Json, bool]], left_alone: Container[Identity] = ()) -> None:
        """Bring the cluster to *wanted*, objects in order, each with whether it is *shared* and has no owner.

        Live objects that are to be *left alone* stay as they are.
        """
        for content, shared in wanted:
            live = self._known(content) if manifest.identity(content) in left_alone else None
            if live is not None:
                self.outcome.live.append(live)
                continue
            made = content if shared else ownership.with_owner(content, self.resource)
            await self._apply(made, shared=shared)

    async def prune(self, wanted: Iterable[Object]) -> None:
        """Delete what the resource owns and no longer wants."""
        kept = {manifest.identity(content) for content in wanted}
        for owned in self.shell.stores.owned_by(self.resource["metadata"]["uid"]):
            is_kept = manifest.identity(owned) in kept or _kind(owned) in KEPT
            if not is_kept and not live_parts.is_being_deleted(owned):
                await self._delete(owned)

    async def _apply(self, wanted: Json, *, shared: bool) -> None:
        kind, live = _kind(wanted), self._known(wanted)
        if live is None:
            live = await self._create(wanted, shared=shared)
        if live is None:
            return
        if kind in KEPT:
            self.outcome.live.append(live)
        elif not ownership.is_ours(live, self.resource):
            self._meet_foreign(wanted, live, shared=shared)
        else:
            await self._update(wanted, live)

    def _known(self, wanted: Object) -> Object | None:
        return self.shell.stores.get(*place_of(wanted))

    async def _create(self, wanted: Json, *, shared: bool) -> Object | None:
        """Make an object that the stores do not know, or return the one that is there.

        Objects of others are not kept, and a store may be behind: only the cluster knows that there is none.
        """
        place = place_of(wanted)
        if shared or place[0] in KEPT or place in self.shell.stores.occupied:
            live = await self._asked(wanted)
            if live is not None:
                return live
            self.shell.stores.occupied.pop(place, None)
        new = {**wanted, "metadata": {**wanted["metadata"], "resourceVersion": NO_VERSION}}
        try:
            await self._write(new, wanted, "Created", force=False)
        except Refused as refused:
            live = await self._asked(wanted) if refused.cause.is_conflict else None
            if live is None:
                raise
            return live
        return None

    async def _asked(self, wanted: Json) -> Object | None:
        with _named("get", wanted):
            return await self.shell.cluster.get(*place_of(wanted))

    def _meet_foreign(self, wanted: Json, live: Object, *, shared: bool) -> None:
        """Do with what is there, or tell that it is in the way; either way, look again when it changes or goes."""
        self.shell.stores.occupied.setdefault(place_of(wanted), set()).add(key_of(self.resource))
        if ownership.serves(wanted, live, shared=shared):
            self.outcome.live.append(live)
            return
        self.outcome.foreign.append((wanted["kind"], wanted["metadata"]["name"]))

    async def _update(self, wanted: Json, live: Object) -> None:
        if live_parts.is_being_deleted(live):
            self.outcome.live.append(live)
            return
        if self.shell.policy.adopt:
            live = await self._adopted(wanted, live)
        pinned = {"uid": live["metadata"]["uid"]}
        if _kind(wanted) == ADAPTER:
            # The count is the adapter's own: an apply must not write back what somebody has just scaled.
            wanted = {**wanted, "spec": {**wanted["spec"], "replicas": live["spec"]["replicas"]}}
            pinned["resourceVersion"] = live["metadata"]["resourceVersion"]
        if settling.is_settled(wanted, live, self.shell):
            self.outcome.live.append(live)
            return
        if paths := fields.emptied(wanted, live):
            with _named("change", live):
                emptied = await self.shell.cluster.remove_fields(live, paths)
            self.shell.stores.remember(emptied)
            self.outcome.writes += 1
            pinned |= {key: emptied["metadata"][key] for key in pinned}
        await self._write(_pinned(wanted, pinned), wanted, "Updated", force=True)

    async def _adopted(self, wanted: Json, live: Object) -> Object:
        """Return *live* with the fields that the released operator has written handed over to us."""
        managed = adoption.handed_over(live, wanted)
        if managed is None:
            return live
        try:
            # What is kept of an object does not have all of its managers.
            whole = await self.shell.cluster.get(*place_of(live))
            if whole is None or whole["metadata"]["uid"] != live["metadata"]["uid"]:
                return live
            managed = adoption.handed_over(whole, wanted)
            if managed is None:
                return live
            stored = await self.shell.cluster.merge(whole, {"metadata": {"managedFields": managed}})
        except ClusterError as error:
            raise Refused("adopt", live, error) from error
        self.shell.stores.remember(stored)
        self.outcome.writes += 1
        name = f"{live['kind']} {live['metadata']['name']}"
        await self.shell.events.tell(self.resource, "Normal", f"Adopt{live['kind']}", f"Adopted {name}")
        return self._known(live) or live

    async def _write(self, content: Json, wanted: Json, word: str, *, force: bool) -> None:
        # Asked before: a watch may tell of the write earlier than its answer comes.
        before = self._known(content)
        with _named("apply", content), self.shell.stores.expecting(content, key_of(self.resource)) as expected:
            stored = await self.shell.cluster.apply(content, force=force)
            expected.answered = version(stored)
            self.shell.stores.remember(stored)
        self.outcome.live.append(stored)
        settling.note_applied(wanted, stored, self.shell)
        if before is not None and version(before) == version(stored):
            return
        self.outcome.writes += 1
        verb = "Create" if word == "Created" else "Update"
        name = content["metadata"]["name"]
        await self.shell.events.tell(
            self.resource, "Normal", f"{verb}{content['kind']}", f"{word} {content['kind']} {name}"
        )

    async def _delete(self, owned: Object) -> None:
        try:
            await self.shell.cluster.delete(owned)
        except ClusterError as error:
            if not error.is_missing:
                raise Refused("delete", owned, error) from error
        else:
            self.outcome.writes += 1
            await self.shell.events.tell(self.resource, "Normal", *self._farewell(owned))
        self.shell.stores.forget(owned)

    def _farewell(self, owned: Object) -> tuple[str, str]:
        """Return reason and message of the event about a deletion; an adapter may go with its service."""
        kind, name = owned["kind"], owned["metadata"]["name"]
        if _kind(owned) == ADAPTER:
            service = owned["spec"]["dgdRef"]["serviceName"]
            if service not in self.resource["spec"].get("services", {}):
                return "AdapterDeleted", f"Deleted orphaned scaling adapter {name} for removed service {service}"
        return f"Delete{kind}", f"Deleted {kind} {name}"


class _named:  # noqa: N801 - reads as a statement
    """Names the object in the error of a request."""

    def __init__(self, verb: str, target: Object) -> None:
        self._verb = verb
        self._target = target

    def __enter__(self) -> None:
        pass

    def __exit__(self, _sort: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, ClusterError):
            raise Refused(self._verb, self._target, error) from error


def _kind(content: Object) -> Kind:
    return Kind(content["apiVersion"], content["kind"])


def _pinned(content: Json, metadata: Json) -> Json:
    return {**content, "metadata": {**content["metadata"], **metadata}}

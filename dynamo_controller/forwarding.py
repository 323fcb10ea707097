"""A cluster in front of another one: what looks at requests derives from it, and what forbids writes is here.

Changes nothing about a request.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from dynamo_controller.ports import (
    UNREACHABLE,
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

Objection = Callable[[Object], str]
"""Says why the target of a write must not be written now; empty when it may be."""


class Forwarding:
    """A `dynamo_controller.ports.Cluster` that asks *inner* for everything; every change passes `change`."""

    def __init__(self, inner: Cluster) -> None:
        """Ask nothing yet."""
        self._inner = inner

    async def change(self, verb: str, target: Object, send: Callable[[], Awaitable[Json]]) -> Json:  # noqa: ARG002
        """Let one change happen: *send* sends it."""
        return await send()

    async def reach(self) -> None:
        """Ask whether the server is ready."""
        await self._inner.reach()

    async def groups(self) -> frozenset[str]:
        """Return the names of the API groups that are served."""
        return await self._inner.groups()

    async def get(self, kind: Kind, namespace: str, name: str) -> Json | None:
        """Return an object, or None where there is none."""
        return await self._inner.get(kind, namespace, name)

    async def page(self, selection: Selection, *, limit: int, next_page: str = "") -> Page:
        """Return a part of a list."""
        return await self._inner.page(selection, limit=limit, next_page=next_page)

    def watch(self, selection: Selection, resource_version: str) -> AsyncIterator[WatchEvent]:
        """Yield what happens."""
        return self._inner.watch(selection, resource_version)

    async def apply(self, content: Object, *, force: bool) -> Json:
        """Apply an object."""
        return await self.change("apply", content, lambda: self._inner.apply(content, force=force))

    async def create(self, content: Object) -> Json:
        """Create an object."""
        return await self.change("create", content, lambda: self._inner.create(content))

    async def delete(self, target: Object) -> None:
        """Delete an object."""

        async def send() -> Json:
            await self._inner.delete(target)
            return {}

        await self.change("delete", target, send)

    async def merge(self, target: Object, patch: Object) -> Json:
        """Merge a patch into an object."""
        return await self.change("merge", target, lambda: self._inner.merge(target, patch))

    async def merge_status(self, target: Object, patch: Object) -> Json:
        """Merge a patch into a status."""
        return await self.change("status", target, lambda: self._inner.merge_status(target, patch))

    async def replace_status(self, target: Object, status: Object) -> Json:
        """Replace a status."""
        return await self.change("status", target, lambda: self._inner.replace_status(target, status))

    async def remove_fields(self, target: Object, paths: Sequence[FieldPath]) -> Json:
        """Remove fields of an object."""
        return await self.change("remove", target, lambda: self._inner.remove_fields(target, paths))

    async def scale(self, kind: Kind, namespace: str, name: str, replicas: int) -> None:
        """Set the scale of an object."""
        metadata = {"namespace": namespace, "name": name}

        async def send() -> Json:
            await self._inner.scale(kind, namespace, name, replicas)
            return {}

        await self.change("scale", {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}, send)


class Fenced(Forwarding):
    """Refuses every write to which somebody objects, at the last moment before it is sent."""

    def __init__(self, inner: Cluster, objection: Objection) -> None:
        """Keep who is asked before every write."""
        super().__init__(inner)
        self._objection = objection

    async def change(self, verb: str, target: Object, send: Callable[[], Awaitable[Json]]) -> Json:
        """Let one change happen, or raise ClusterError with the objection."""
        if reason := self._objection(target):
            raise ClusterError(UNREACHABLE, "HeldBack", f"{verb} {target['kind']} was held back: {reason}")
        return await send()

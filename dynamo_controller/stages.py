"""One key of a kind that lives through stages: look, ask its machine, carry out, ask again, tell the end.

The other half of the conversation that `dynamo_render.kinds.shared.machine` describes. What is looked up, written,
called and told, the machine decides; here is only how. Errors leave as `PassFailed`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import attrs

import dynamo_render
from dynamo_controller import ownership, writing
from dynamo_controller.gather import PAGE, SLICE
from dynamo_controller.ports import ClusterError, Kind, Object, Selection
from dynamo_controller.reconcile import Done, PassFailed
from dynamo_controller.shell import Key, Shell
from dynamo_render import ClusterFacts, Lookup, Outcome, Seen
from dynamo_render.kinds.shared.machine import Action, Annotate, Create, Delete, Finalizer, HttpCall, Step

COMPLETE = (SLICE, Kind("nvidia.com/v1alpha1", "DynamoGraphDeployment"))
"""Watched kinds whose stores have every object of the namespaces that are watched; others are read live."""

MOST_ROUNDS = 100
"""Answers after which a machine that still wants something is taken for one that never ends."""

_FINAL = frozenset({400, 403, 405, 413, 422})
"""What a server answers that will not do a thing however often it is asked."""


async def reconcile(key: Key, shell: Shell) -> Done:
    """Go through one pass over a resource to its end. Raises `PassFailed`."""
    resource = shell.stores.get(key.kind, key.namespace, key.name)
    if resource is None:
        return Done()
    try:
        return await Pass(shell, resource).ended()
    except ClusterError as error:
        raise PassFailed(str(error), error) from error


@attrs.define(eq=False)
class Pass:
    """One pass: the *resource* as it is stored now, what it has *seen*, and how many *writes* it has made."""

    shell: Shell
    resource: Object
    seen: Seen = attrs.field(factory=Seen)
    writes: int = 0

    async def ended(self) -> Done:
        """Go through the pass and return what came of it. Raises ClusterError, PassFailed."""
        step = await self._last_step()
        wrote = False
        if step.status is not None:
            wrote = await writing.write_status(self.resource, step.status, self.shell, whole=True)
        if wrote or step.status is None:
            # The words of a pass that has changed nothing in the status have been told before.
            for event in step.events:
                await self.shell.events.tell(self.resource, event.sort, event.reason, event.message)
        if step.failure:
            raise PassFailed(step.failure)
        return Done(self.writes + wrote, step.look_again)

    async def _last_step(self) -> Step:
        for _round in range(MOST_ROUNDS):
            await self._look()
            step = dynamo_render.advance(self.resource, **self._inputs())
            waiting = step.waiting(self.seen)
            if not waiting:
                return step
            await self._carry_out(waiting)
        raise PassFailed(f"no end after {MOST_ROUNDS} answers: a mistake of the state machine")

    async def _look(self) -> None:
        """Answer what the machine asks to see, and what it asks because of the answers."""
        while asked := dynamo_render.lookups(self.resource, **self._inputs()):
            for lookup in asked:
                try:
                    self.seen = self.seen.with_found(lookup, await _found(lookup, self.shell))
                except ClusterError as error:
                    if not lookup.optional:
                        raise
                    self.seen = self.seen.with_trouble(lookup, str(error))

    def _inputs(self) -> dict[str, Any]:
        facts = ClusterFacts(self.shell.groups.names)
        return {"settings": self.shell.settings, "facts": facts, "seen": self.seen}

    async def _carry_out(self, waiting: Sequence[Action]) -> None:
        """Carry out the first of the actions, and with a call the calls that follow it."""
        calls = [call for call in itertools.takewhile(_is_call, waiting) if isinstance(call, HttpCall)]
        if calls:
            for name, outcome in (await self.shell.endpoints.call(calls)).items():
                self.seen = self.seen.with_outcome(name, outcome)
            return
        self.seen = self.seen.with_outcome(waiting[0].id, await self._done(waiting[0]))

    async def _done(self, action: Action) -> Outcome:
        match action:
            case Create():
                return await self._created(action)
            case Delete():
                return await self._deleted(action)
            case Annotate():
                patch = {"metadata": {"annotations": dict(action.annotations)}}
                self.resource = await self.shell.cluster.merge(self.resource, patch)
                self.shell.stores.remember(dict(self.resource))
            case Finalizer(wanted=True):
                self.resource = await writing.add_finalizer(self.resource, self.shell)
            case Finalizer():
                # The machine goes on to speak of the resource that it has let go.
                await writing.remove_finalizer(self.resource, self.shell)
        self.writes += 1
        return Outcome("done", content=self.resource)

    async def _created(self, wanted: Create) -> Outcome:
        content = wanted.content
        if wanted.owned:
            content = ownership.with_owner(content, self.resource)
        try:
            stored = await self.shell.cluster.create(content)
        except ClusterError as error:
            live = await self._live(content) if error.is_conflict else None
            if live is not None:
                return Outcome("exists", content=live)
            if _is_final(error):
                return Outcome("refused", str(error))
            raise
        self.shell.stores.remember(stored)
        self.writes += 1
        if wanted.owned:
            kind, name = stored["kind"], stored["metadata"]["name"]
            await self.shell.events.tell(self.resource, "Normal", f"Create{kind}", f"Created {kind} {name}")
        return Outcome("done", content=stored)

    async def _deleted(self, delete: Delete) -> Outcome:
        try:
            await self.shell.cluster.delete(delete.target)
        except ClusterError as error:
            # An object of that name with another uid is not the one that was to go.
            if not error.is_missing and not error.is_conflict:
                raise
        else:
            self.writes += 1
        self.shell.stores.forget(delete.target)
        return Outcome("done")

    async def _live(self, content: Object) -> Object | None:
        kind, metadata = Kind(content["apiVersion"], content["kind"]), content["metadata"]
        return await self.shell.cluster.get(kind, metadata["namespace"], metadata["name"])


async def _found(lookup: Lookup, shell: Shell) -> tuple[Object, ...]:
    kind = Kind(lookup.api_version, lookup.kind)
    if kind in COMPLETE and shell.settings.restricted_namespace in ("", lookup.namespace):
        return tuple(
            live for live in shell.stores.known(kind, lookup.namespace, dict(lookup.labels)) if lookup.takes(live)
        )
    if lookup.name:
        live = await shell.cluster.get(kind, lookup.namespace, lookup.name)
        return () if live is None else (live,)
    selection = Selection(kind, lookup.namespace, labels=",".join(f"{key}={value}" for key, value in lookup.labels))
    found: list[Object] = []
    next_page = ""
    while True:
        page = await shell.cluster.page(selection, limit=PAGE, next_page=next_page)
        found.extend(page.items)
        next_page = page.next_page
        if not next_page:
            return tuple(live for live in found if lookup.takes(live))


def _is_call(action: Action) -> bool:
    return isinstance(action, HttpCall)


def _is_final(error: ClusterError) -> bool:
    """Whether a server will never do what it was asked, so that another try is of no use."""
    return error.status in _FINAL and not error.is_dying_namespace

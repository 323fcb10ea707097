"""What a kind offers that lives through stages: a pure state machine, and the values that it and its shell exchange.

A pass is a conversation. The shell asks `Machine.lookups` what to look at, reads it, and asks again with what it found
until nothing new is asked for. Then it asks `Machine.advance`; as long as the step has actions without an outcome it
carries them out, in their order, and asks again with their outcomes. The step whose actions all have outcomes is the
end of the pass: its events are told and its status is written, once.

A request that never arrived or that may succeed later (no connection, a conflict, a busy server) has no outcome: it
ends the pass, which is tried again from the start. So every pass must be safe to repeat after any of its actions.
Nothing here knows a clock: statuses have no times, and `Step.look_again` is a number of seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import attrs

from dynamo_render.kinds.shared.conditions import Status
from dynamo_render.kube.live import Object
from dynamo_render.kube.manifest import Manifest
from dynamo_render.values import Value, frozen

if TYPE_CHECKING:
    from dynamo_render.kinds.contract import Inputs


DEFAULT = "default"
"""The namespace of what names none, in files; nothing that a cluster answers lacks its namespace."""


@frozen
class Lookup(Value):
    """What a pass must look at: one object by *name* or, without one, all of a *namespace* with these *labels*.

    The namespace is empty for objects that have none. Labels are pairs, all of which an object must carry. Where an
    *optional* one cannot be answered, the pass goes on, and `Seen.troubles` says why.
    """

    api_version: str
    kind: str
    namespace: str
    name: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    optional: bool = False

    def takes(self, live: Object) -> bool:
        """Whether *live* is an answer to this lookup."""
        metadata = live["metadata"]
        carried = metadata.get("labels") or {}
        return (
            (live["apiVersion"], live["kind"]) == (self.api_version, self.kind)
            and (metadata.get("namespace") or DEFAULT) == (self.namespace or DEFAULT)
            and self.name in ("", metadata["name"])
            and all(carried.get(key) == value for key, value in self.labels)
        )


@frozen
class Outcome(Value):
    """What became of an action.

    ``done``: *content* is the object as stored, or the answer to a call. ``exists``: the object to be created is there
    already, as *content*. ``refused``: the server will not do it however often it is asked; *text* says why in words.
    """

    sort: Literal["done", "exists", "refused"]
    text: str = ""
    content: Any = None


@frozen
class Seen(Value):
    """What a pass knows so far: answers to lookups, and outcomes of actions by their id.

    A lookup without an entry has not been answered: what it asks for is unknown, which is not the same as absent.
    """

    found: Mapping[Lookup, tuple[Object, ...]] = attrs.field(factory=dict)
    outcomes: Mapping[str, Outcome] = attrs.field(factory=dict)
    troubles: Mapping[Lookup, str] = attrs.field(factory=dict)

    def knows(self, lookup: Lookup) -> bool:
        """Whether *lookup* has been answered."""
        return lookup in self.found or lookup in self.troubles

    def one(self, lookup: Lookup) -> Object | None:
        """Return the object that *lookup* asks for; None where it is absent or unknown."""
        return next(iter(self.found.get(lookup, ())), None)

    def all(self, lookup: Lookup) -> tuple[Object, ...]:
        """Return the objects that *lookup* asks for, in the order of the server; none where they are unknown."""
        return self.found.get(lookup, ())

    def with_found(self, lookup: Lookup, found: Iterable[Object]) -> Seen:
        """Return this with an answer to *lookup*."""
        return attrs.evolve(self, found={**self.found, lookup: tuple(found)})

    def with_trouble(self, lookup: Lookup, reason: str) -> Seen:
        """Return this with the reason why an optional lookup has no answer."""
        return attrs.evolve(self, troubles={**self.troubles, lookup: reason})

    def with_outcome(self, action: str, outcome: Outcome) -> Seen:
        """Return this with the outcome of the *action* of that id."""
        return attrs.evolve(self, outcomes={**self.outcomes, action: outcome})


@frozen
class Create(Value):
    """Create an object; one that is there already is never changed.

    With *owned* the resource becomes its controller; otherwise it stays when the resource goes.
    """

    id: str
    content: Manifest
    owned: bool = True


@frozen
class Delete(Value):
    """Delete *target*, a live object as it was seen; that it is gone already is as good."""

    id: str
    target: Object


@frozen
class Annotate(Value):
    """Set annotations of the resource itself; None removes one."""

    id: str
    annotations: Mapping[str, str | None]


@frozen
class Finalizer(Value):
    """Put our finalizer on the resource, or take it off; the latter ends the pass without a status."""

    id: str
    wanted: bool


@frozen(kw_only=True)
class HttpCall(Value):
    """Call *url* with *body*, which is JSON or empty.

    *seconds* bound the whole call, *most_bytes* the answer. Calls of one step that follow each other are made side by
    side, and are redirected to each other's hosts only. The outcome is ``done`` with an `HttpAnswer`, or ``refused``
    with the reason where there is none.
    """

    id: str
    method: Literal["GET", "POST", "DELETE"]
    url: str
    body: str = ""
    seconds: float = 15.0
    most_bytes: int = 65536


@frozen
class HttpAnswer(Value):
    """What an endpoint answered: HTTP's status and the text of the whole body."""

    status: int
    body: str


Action = Create | Delete | Annotate | Finalizer | HttpCall


@frozen
class Event(Value):
    """What users read beside the resource."""

    sort: Literal["Normal", "Warning"]
    reason: str
    message: str


@frozen(kw_only=True)
class Step(Value):
    """What a pass wants: *actions* in their order, and at its end *events* and *status*.

    A status of None stays as it is; any other replaces the whole status, its conditions without times. *look_again* is
    in seconds, 0 for at once, None for not before something changes. *failure* says in words why the pass did not get
    to its end and is to be tried again with back-off. *row* names the row of the machine's table that was taken.
    """

    actions: tuple[Action, ...] = ()
    status: Status | None = None
    events: tuple[Event, ...] = ()
    look_again: float | None = None
    failure: str = ""
    row: str = ""

    def waiting(self, seen: Seen) -> tuple[Action, ...]:
        """Return the actions that have no outcome yet; without any, the pass is at its end."""
        return tuple(action for action in self.actions if action.id not in seen.outcomes)


@frozen(kw_only=True)
class Machine(Value):
    """The state machine of one kind: *lookups* and *advance* as the module says, both pure."""

    lookups: Callable[[Object, Inputs, Seen], tuple[Lookup, ...]]
    advance: Callable[[Object, Inputs, Seen], Step]

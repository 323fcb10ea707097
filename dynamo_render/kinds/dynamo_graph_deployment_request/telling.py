"""What a row of the table tells: the status after it, its event, and whether the next pass follows at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dynamo_render.kinds.dynamo_graph_deployment_request.request import Request
from dynamo_render.kinds.dynamo_graph_deployment_request.transitions import TRANSITIONS, Said, Told
from dynamo_render.kinds.shared.conditions import Status, condition
from dynamo_render.kinds.shared.machine import Action, Event, Step

LONGEST_EVENT = 1024
"""Characters that the API takes as the message of an event."""


def told(  # noqa: PLR0913 - keyword-only, each a part of the step
    request: Request,
    row: str,
    *,
    actions: tuple[Action, ...] = (),
    fields: Mapping[str, Any] | None = None,
    more: tuple[Event, ...] = (),
    look_again: float | None = None,
    failure: str = "",
    **words: str,
) -> Step:
    """Return the end of a pass by a *row* of the table.

    *fields* change the status, None takes one away; *words* stand for the names in braces; *more* events come first.
    """
    transition = TRANSITIONS[row]
    status: Status = {**request.status, **(fields or {})}
    if transition.target is not None:
        status["state"] = transition.target
    status = {key: value for key, value in status.items() if value is not None}
    status = with_conditions(status, transition.conditions, request.generation, words)
    event = (event_of(transition.event, words),) if transition.event else ()
    return Step(
        actions=actions,
        status=None if status == request.status else status,
        events=(*more, *event),
        look_again=0.0 if transition.again else look_again,
        failure=failure,
        row=row,
    )


def event_of(said: Said, words: Mapping[str, str]) -> Event:
    """Return an event with *words* in place of names."""
    return Event(said.sort, said.reason, said.message.format_map(words)[:LONGEST_EVENT])


def with_conditions(status: Status, wanted: Iterable[Told], generation: int, words: Mapping[str, str]) -> Status:
    """Return *status* with conditions replaced where they stand, new ones at the end."""
    conditions = {each["type"]: each for each in status.get("conditions") or ()}
    for each in wanted:
        message = each.message.format_map(words)
        conditions[each.type] = condition(each.type, each.status, each.reason, message, generation)
    return {**status, "conditions": list(conditions.values())} if conditions else status

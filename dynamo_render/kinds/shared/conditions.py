"""Conditions in the status of a custom resource. controllers-graph.md section 12.

A wanted status has no times: what is wanted does not depend on when it is asked for. `with_transition_times` adds them,
so that a status that says nothing new is equal to the one before and need not be written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Status = dict[str, Any]

LONGEST_MESSAGE = 32768


def condition(kind: str, status: bool, reason: str, message: str, generation: int) -> dict[str, Any]:  # noqa: FBT001 - the value that a condition has
    """Return a condition without its time, about the spec of *generation*; a message over the limit is cut."""
    return {
        "type": kind,
        "status": "True" if status else "False",
        "reason": reason,
        "message": message[:LONGEST_MESSAGE],
        "observedGeneration": generation,
    }


def with_transition_times(wanted: Mapping[str, Any], previous: Mapping[str, Any] | None, now: str) -> Status:
    """Return *wanted* with the time of each condition, RFC 3339 text: the one before while its status is the same.

    Conditions of other types keep their place in the list. The result is equal to *previous* if nothing has changed.
    """
    earlier = list((previous or {}).get("conditions") or ())
    mine = {condition["type"]: condition for condition in wanted.get("conditions", ())}
    conditions = [_replaced(old, mine.pop(old.get("type"), None), now) for old in earlier]
    conditions += [{**new, "lastTransitionTime": now} for new in mine.values()]
    return {**wanted, "conditions": conditions}


def _replaced(old: Mapping[str, Any], new: Mapping[str, Any] | None, now: str) -> dict[str, Any]:
    if new is None:
        return dict(old)
    kept = old.get("lastTransitionTime") if old.get("status") == new["status"] else None
    return {**new, "lastTransitionTime": kept or now}

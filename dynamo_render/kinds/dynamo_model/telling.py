"""What a pass over a model tells: its row of `table.ROWS` with the numbers and words of the case filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from dynamo_render.kinds.dynamo_model import rules, table
from dynamo_render.kinds.dynamo_model.candidates import Candidate, Discovery
from dynamo_render.kinds.dynamo_model.table import ROWS, RowName, Told
from dynamo_render.kinds.shared import conditions
from dynamo_render.kinds.shared.conditions import Status
from dynamo_render.kinds.shared.machine import Event, Step
from dynamo_render.kube import live
from dynamo_render.kube.live import Object
from dynamo_render.spec.model import ModelSpec
from dynamo_render.values import Value, frozen

MOST_REASONS = 3
"""Failures that a message tells one by one; the others are counted."""


@frozen(kw_only=True)
class Sight(Value):
    """What a pass goes by: the *model*, its *spec*, what was *found* of its pods, and whether reasons are told.

    *trouble* says why its pods could not be looked up.
    """

    model: Object
    spec: ModelSpec
    found: Discovery
    tells_reasons: bool
    trouble: str = ""

    @property
    def is_adapter(self) -> bool:
        """Whether the model is loaded by calls; an `adapter` is not, as in the released operator."""
        return self.spec.model_type.casefold() == rules.LORA

    @property
    def uri(self) -> str:
        """Where the adapter is loaded from; empty where nothing is said."""
        return self.spec.source.uri if self.spec.source is not None else ""


@frozen
class Result(Value):
    """What became of one pod; *why_not* is empty where it did what it was asked to."""

    candidate: Candidate
    why_not: str


def stopped() -> Step:
    """Return the end of a pass over a model that others hold."""
    return Step(row="stopped")


def invalid(sight: Sight, problem: str) -> Step:
    """Return the end of a pass over an invalid model; what was told of endpoints stays."""
    before = live.status(sight.model)
    kept = {key: before[key] for key in ("endpoints", "readyEndpoints", "totalEndpoints") if key in before}
    words = {"problem": problem}
    told = _conditions(sight, {"Valid": ROWS["V"].valid}, words)
    status: Status = {"readyEndpoints": 0, "totalEndpoints": 0, **kept, "conditions": told}
    return Step(status=status, events=_events("V", words), row="V")


def undiscovered(sight: Sight) -> Step:
    """Return the end of a pass whose pods could not be looked up: what was told of them stays."""
    events = _events("L", {"trouble": sight.trouble})
    return Step(events=events, failure=f"looking up the pods of the base model: {sight.trouble}", row="L")


def settled(sight: Sight, results: Sequence[Result]) -> Step:
    """Return the end of a pass over a valid model with the *results* of its calls: one of the rows E0 to E4."""
    name = _row(sight, results)
    endpoints = _endpoints(sight.found.candidates if name == "E3" else (), results)
    words = {
        "base": sight.spec.base_model_name,
        "services": sight.found.services,
        "total": len(endpoints),
        "ready": sum(each["ready"] for each in endpoints),
        **_failures(sight, results),
    }
    row = ROWS[name]
    services = row.services or table.SERVICES[sight.found.services > 0]
    told = {"Valid": row.valid, "ServicesFound": services, "EndpointsReady": row.ready}
    status: Status = {
        "conditions": _conditions(sight, told, words),
        "readyEndpoints": words["ready"],
        "totalEndpoints": words["total"],
    }
    if endpoints:
        status["endpoints"] = endpoints
    return Step(status=status, events=_events(name, words), look_again=row.look_again, row=name)


def released(sight: Sight, results: Sequence[Result]) -> Step:
    """Return what is told when a model goes: one of the rows D0 to D4."""
    words = {"total": len(results), "trouble": sight.trouble, **_failures(sight, results)}
    name: RowName = "D0"
    if sight.is_adapter:
        name = "D4" if sight.trouble else "D3" if words["failed"] else "D2" if results else "D1"
    return Step(events=_events(name, words), row=name)


def _row(sight: Sight, results: Sequence[Result]) -> RowName:
    if not sight.found.candidates:
        return "E0"
    if not sight.is_adapter:
        return "E3"
    if not results:
        return "E4"
    return "E2" if any(result.why_not for result in results) else "E1"


def _endpoints(unloaded: Sequence[Candidate], results: Sequence[Result]) -> list[dict[str, Any]]:
    judged = [*((each, False) for each in unloaded), *((each.candidate, not each.why_not) for each in results)]
    return [
        {"address": candidate.address, **({"podName": candidate.pod} if candidate.pod else {}), "ready": ready}
        for candidate, ready in judged
    ]


def _failures(sight: Sight, results: Sequence[Result]) -> dict[str, Any]:
    """Return how many *results* are failures and, where the profile tells them, the first of them in words."""
    failed = [result for result in results if result.why_not]
    reasons = [f"{each.candidate.pod or each.candidate.address}: {each.why_not}" for each in failed[:MOST_REASONS]]
    if len(failed) > MOST_REASONS:
        reasons.append(f"and {len(failed) - MOST_REASONS} more")
    told = "".join(f"; {reason}" for reason in reasons) if sight.tells_reasons else ""
    return {"failed": len(failed), "reasons": told}


def _conditions(sight: Sight, told: Mapping[str, Told | None], words: Mapping[str, Any]) -> list[dict[str, Any]]:
    generation = live.generation(sight.model)
    return [
        conditions.condition(kind, each.status, each.reason, each.message.format_map(words), generation)
        for kind, each in told.items()
        if each is not None
    ]


def _events(name: RowName, words: Mapping[str, Any]) -> tuple[Event, ...]:
    return tuple(attrs.evolve(event, message=event.message.format_map(words)) for event in ROWS[name].events)

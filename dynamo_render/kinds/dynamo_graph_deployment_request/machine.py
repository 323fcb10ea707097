"""The state machine of a request: one row of `transitions.TRANSITIONS` for each pass. controllers-other.md section 1.6.

Pure: the resource, what was seen and what became of actions come in, a step goes out.
"""

from __future__ import annotations

import attrs

from dynamo_render.kinds.contract import Inputs
from dynamo_render.kinds.dynamo_graph_deployment_request import deploying, profiling, starting, validating
from dynamo_render.kinds.dynamo_graph_deployment_request.request import Request, request_of
from dynamo_render.kinds.dynamo_graph_deployment_request.telling import event_of, told, with_conditions
from dynamo_render.kinds.dynamo_graph_deployment_request.transitions import STATES, TERMINAL, TRANSITIONS
from dynamo_render.kinds.shared.finalizers import finalizer_step
from dynamo_render.kinds.shared.machine import Finalizer, Lookup, Machine, Seen, Step
from dynamo_render.kube import live
from dynamo_render.kube.live import Object


def lookups(resource: Object, inputs: Inputs, seen: Seen) -> tuple[Lookup, ...]:
    """Return what a pass over a request must look at, by its state."""
    if live.is_being_deleted(resource):
        return ()
    request = request_of(resource, inputs)
    match request.state:
        case "":
            return tuple(validating.lookups(request))
        case "Pending":
            return tuple(starting.lookups(request))
        case "Profiling":
            return tuple(profiling.lookups(request, seen))
        case "Deploying" | "Ready":
            return tuple(deploying.lookups(request))
    return ()


def advance(resource: Object, inputs: Inputs, seen: Seen) -> Step:
    """Return what a pass over a request wants. Deletion comes first: nothing is made for what is on its way out."""
    match finalizer_step(resource, needed=False):
        case "finalize":
            return Step(actions=(Finalizer("finalizer", wanted=False),), row="deleted")
        case "stop":
            return Step(row="deleted")
    request = request_of(resource, inputs)
    step = _of_state(request, seen)
    if step.waiting(seen) or request.state in {"", "Failed"} or request.state not in STATES:
        return step
    return _with_edit(request, step)


MACHINE = Machine(lookups=lookups, advance=advance)


def _of_state(request: Request, seen: Seen) -> Step:
    match request.state:
        case "":
            return validating.advance(request, seen)
        case "Pending":
            return starting.advance(request, seen)
        case "Profiling":
            return profiling.advance(request, seen)
        case "Deploying" | "Ready":
            return deploying.advance(request, seen)
    return told(request, "T16" if request.state in TERMINAL else "T14")


def _with_edit(request: Request, step: Step) -> Step:
    """Return *step* with what is to be told of a spec that is not, or is again, the one that profiling started from."""
    generation = live.generation(request.resource)
    if not request.is_noted or live.observed_generation(request.resource) == generation:
        return step
    status = request.status if step.status is None else step.status
    words = {"state": request.state}
    if not request.is_edited:
        row = TRANSITIONS["reverted"]
        status = with_conditions({**status, "observedGeneration": generation}, row.conditions, generation, words)
        return attrs.evolve(step, status=status)
    row = TRANSITIONS["edited"]
    told_already = _is_told(request, generation)
    if told_already or row.event is None:
        return step
    status = with_conditions(status, row.conditions, generation, words)
    return attrs.evolve(step, status=status, events=(event_of(row.event, words), *step.events))


def _is_told(request: Request, generation: int) -> bool:
    """Whether the status says already that the edit of this *generation* does not count."""
    return any(
        each.get("type") == "Validation"
        and each.get("reason") == "SpecChangeRejected"
        and each.get("observedGeneration") == generation
        for each in live.status(request.resource).get("conditions") or ()
    )

"""The state machine of a DynamoModel: what a pass looks at, calls and tells. controllers-other.md section 3.

Pure: slices, answers to calls and the resource come in, a step goes out. Every pass ends in one row of `table.ROWS`.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from dynamo_render.kinds.contract import Inputs
from dynamo_render.kinds.dynamo_model import calls, candidates, rules, telling
from dynamo_render.kinds.dynamo_model.calls import Verb
from dynamo_render.kinds.dynamo_model.candidates import Candidate
from dynamo_render.kinds.dynamo_model.telling import Result, Sight
from dynamo_render.kinds.shared.finalizers import finalizer_step
from dynamo_render.kinds.shared.machine import Action, Finalizer, HttpCall, Lookup, Machine, Seen, Step
from dynamo_render.kube import names
from dynamo_render.kube.live import Object
from dynamo_render.values import Value, frozen

SLICE_API, SLICE = "discovery.k8s.io/v1", "EndpointSlice"

HOLD, RELEASE = Finalizer("finalizer", wanted=True), Finalizer("finalizer", wanted=False)


@frozen
class Attempt(Value):
    """What is to be done with one pod: a call, or the reason why there can be none."""

    candidate: Candidate
    call: HttpCall | str


def lookups(model: Object, inputs: Inputs, _seen: Seen) -> tuple[Lookup, ...]:
    """Return the EndpointSlices of the pods that serve the base model; none for a model that names no base model."""
    base = rules.read(model, inputs.profile).spec.base_model_name
    if not base:
        return ()
    labels = ((candidates.HASH_LABEL, names.model_hash(base)),)
    return (Lookup(SLICE_API, SLICE, str(model["metadata"].get("namespace", "")), labels=labels, optional=True),)


def advance(model: Object, inputs: Inputs, seen: Seen) -> Step:
    """Return what a pass over *model* wants, given what it has *seen*.

    Deletion comes before validation, so that an invalid model can be deleted. Validation comes before the finalizer: an
    invalid model is called into no pod.
    """
    reading = rules.read(model, inputs.profile)
    asked = lookups(model, inputs, seen)
    slices = (found for lookup in asked for found in seen.all(lookup))
    sight = Sight(
        model=model,
        spec=reading.spec,
        found=candidates.discovered(slices),
        tells_reasons=inputs.profile.failed_calls_are_told,
        trouble="; ".join(seen.troubles[lookup] for lookup in asked if lookup in seen.troubles),
    )
    step = finalizer_step(model, needed=True)
    if step == "stop":
        return telling.stopped()
    if step == "finalize":
        return _taken_out(sight, seen)
    problem = rules.why_invalid(reading)
    if problem:
        return telling.invalid(sight, problem)
    if sight.trouble:
        return telling.undiscovered(sight)
    return _loaded(sight, seen, (HOLD,) if step == "add" else ())


MACHINE = Machine(lookups=lookups, advance=advance)


def _loaded(sight: Sight, seen: Seen, hold: tuple[Action, ...]) -> Step:
    """Return the calls that load an adapter and, when all have been answered, what came of them."""
    attempts = [
        Attempt(each, calls.load(each.address, sight.spec.model_name, sight.uri)) for each in _to_call(sight, sight.uri)
    ]
    step = Step(actions=(*hold, *_calls(attempts)), row="loading")
    if _calls(attempts) and step.waiting(seen):
        return step
    return attrs.evolve(telling.settled(sight, _results(attempts, "load", seen)), actions=step.actions)


def _taken_out(sight: Sight, seen: Seen) -> Step:
    """Return the calls that take an adapter out, and then the release of the model: nothing holds up its deletion."""
    name = sight.spec.model_name
    attempts = [Attempt(each, calls.unload(each.address, name)) for each in _to_call(sight, name)]
    step = Step(actions=_calls(attempts), row="unloading")
    if step.waiting(seen):
        return step
    return attrs.evolve(telling.released(sight, _results(attempts, "unload", seen)), actions=(*step.actions, RELEASE))


def _to_call(sight: Sight, needed: str) -> tuple[Candidate, ...]:
    """Return the pods to call: those that serve an adapter's base model, where there is what a call *needed*."""
    return sight.found.candidates if sight.is_adapter and needed else ()


def _calls(attempts: Sequence[Attempt]) -> tuple[HttpCall, ...]:
    """Return the calls of *attempts*; an address that slices name twice is called once."""
    distinct = {each.call.id: each.call for each in attempts if isinstance(each.call, HttpCall)}
    return tuple(distinct.values())


def _results(attempts: Sequence[Attempt], verb: Verb, seen: Seen) -> list[Result]:
    return [Result(each.candidate, _why_not(each.call, verb, seen)) for each in attempts]


def _why_not(call: HttpCall | str, verb: Verb, seen: Seen) -> str:
    return call if isinstance(call, str) else calls.why_failed(verb, seen.outcomes[call.id])

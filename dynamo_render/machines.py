"""Kinds that live through stages: what a pass over one of them must look at, and what it leads to.

The pure half of a controller, of which `dynamo_render.kinds.shared.machine` says how it talks to the other half. Kept
out of a plain import of the package, which most renders do without.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from dynamo_render import pipeline
from dynamo_render.errors import InvalidResource, Problem
from dynamo_render.facts import ClusterFacts
from dynamo_render.kinds.contract import Inputs
from dynamo_render.kinds.dynamo_graph_deployment_request import machine as request
from dynamo_render.kinds.dynamo_model import machine as model
from dynamo_render.kinds.shared.conditions import Status
from dynamo_render.kinds.shared.machine import (
    Action,
    Annotate,
    Create,
    Delete,
    Event,
    HttpCall,
    Lookup,
    Machine,
    Outcome,
    Seen,
    Step,
)
from dynamo_render.kube import live, manifest
from dynamo_render.kube.live import Object
from dynamo_render.kube.manifest import Manifest
from dynamo_render.settings import OperatorSettings
from dynamo_render.values import Value, frozen

MOST_PASSES = 10
"""Passes that a rehearsal makes at most; no resource goes through as many stages."""

MACHINES: Mapping[tuple[str, str], Machine] = {
    ("nvidia.com/v1alpha1", "DynamoGraphDeploymentRequest"): request.MACHINE,
    ("nvidia.com/v1alpha1", "DynamoModel"): model.MACHINE,
}
"""State machines by (apiVersion, kind)."""


def advance(
    resource: Object,
    *,
    settings: OperatorSettings | None = None,
    facts: ClusterFacts | None = None,
    seen: Seen | None = None,
) -> Step:
    """Return what a pass over *resource*, as it is stored, wants after what has been *seen*.

    Raises InvalidResource for a kind without stages, InvalidSettings for an unknown profile.
    """
    return machine_of(resource).advance(resource, _inputs(settings, facts), seen or Seen())


def lookups(
    resource: Object,
    *,
    settings: OperatorSettings | None = None,
    facts: ClusterFacts | None = None,
    seen: Seen | None = None,
) -> tuple[Lookup, ...]:
    """Return what a pass over *resource* must look at next; empty when all of it has been *seen*. Raises as `advance`.

    Answers may lead to further questions, so ask again with them.
    """
    seen = seen or Seen()
    asked = machine_of(resource).lookups(resource, _inputs(settings, facts), seen)
    return tuple(lookup for lookup in dict.fromkeys(asked) if not seen.knows(lookup))


def machine_of(resource: Object) -> Machine:
    """Return the state machine of the kind of *resource*. Raises InvalidResource where it has none."""
    found = MACHINES.get((str(resource.get("apiVersion")), str(resource.get("kind"))))
    if found is None:
        known = ", ".join(sorted(kind for _version, kind in MACHINES))
        raise InvalidResource(
            [Problem("schema/kind", ("kind",), f"must be one of {known}; other kinds have no stages")]
        )
    return found


@frozen
class Rehearsal(Value):
    """What a resource leads to until something happens: *objects* that are made, *status* then, *events* on the way.

    *rows* names the rows of the machine's table that were taken.
    """

    objects: tuple[Manifest, ...]
    status: Status
    events: tuple[Event, ...]
    rows: tuple[str, ...]


def rehearsed(
    resource: Object,
    *,
    settings: OperatorSettings | None = None,
    facts: ClusterFacts | None = None,
    objects: Iterable[Object] | None = None,
) -> Rehearsal:
    """Return what passes over *resource* lead to, one after the other, if all of their actions succeed.

    With *objects* these are all that there is in namespaces, and what they hold of kinds without one; without, nothing
    is known of the cluster, and what the resource refers to counts as there. Statuses have no times. Raises as
    `advance`.
    """
    _refuse_without_name(resource)
    # As an API server numbers what it stores for the first time.
    resource = {**resource, "metadata": {"generation": 1, **resource["metadata"]}}
    known = None if objects is None else list(objects)
    made: list[Manifest] = []
    events: list[Event] = []
    rows: list[str] = []
    machine, inputs = machine_of(resource), _inputs(settings, facts)
    for _pass in range(MOST_PASSES):
        step = _rehearsed_pass(machine, resource, inputs, known, made)
        rows.append(step.row)
        events.extend(step.events)
        resource = _after(resource, step)
        if step.look_again != 0 or step.failure:
            break
    return Rehearsal(tuple(made), dict(live.status(resource)), tuple(events), tuple(rows))


def _refuse_without_name(resource: Object) -> None:
    """Raise InvalidResource for what no API server would have stored."""
    metadata = resource.get("metadata")
    if not isinstance(metadata, Mapping) or not isinstance(metadata.get("name"), str):
        raise InvalidResource([Problem("schema/required", ("metadata", "name"), "is required")])
    if not isinstance(resource.get("status") or {}, Mapping):
        raise InvalidResource([Problem("schema/type", ("status",), "must be object")])


def _rehearsed_pass(
    machine: Machine, resource: Object, inputs: Inputs, known: list[Object] | None, made: list[Manifest]
) -> Step:
    """Return the end of one pass; what it makes is added to *made*, and to what is *known*."""
    seen = Seen()
    while True:
        asked = [each for each in machine.lookups(resource, inputs, seen) if not seen.knows(each)]
        answered = [each for each in asked if known is not None and (each.namespace or _any_of(each.kind, known))]
        for lookup in answered:
            seen = seen.with_found(lookup, [each for each in known or () if lookup.takes(each)])
        if not answered:
            step = machine.advance(resource, inputs, seen)
            waiting = step.waiting(seen)
            if not waiting:
                return step
            for action in waiting:
                seen = seen.with_outcome(action.id, _rehearsed_action(action, known, made))


def _any_of(kind: str, objects: Iterable[Object]) -> bool:
    return any(each["kind"] == kind for each in objects)


def _rehearsed_action(action: Action, known: list[Object] | None, made: list[Manifest]) -> Outcome:
    if isinstance(action, HttpCall):
        return Outcome("refused", "nothing is called in a rehearsal")
    if isinstance(action, Delete) and known is not None and action.target in known:
        known.remove(action.target)
    if isinstance(action, Create):
        there = next(
            (each for each in known or () if manifest.identity(each) == manifest.identity(action.content)), None
        )
        if there is not None:
            return Outcome("exists", content=there)
        made.append(action.content)
        if known is not None:
            known.append(action.content)
        return Outcome("done", content=action.content)
    return Outcome("done")


def _after(resource: Object, step: Step) -> Object:
    """Return *resource* after a pass: with the annotations that it was given, and its status."""
    given = {
        key: value for each in step.actions if isinstance(each, Annotate) for key, value in each.annotations.items()
    }
    annotations = {**(resource["metadata"].get("annotations") or {}), **given}
    kept = {key: value for key, value in annotations.items() if value is not None}
    metadata = {**resource["metadata"], **({"annotations": kept} if kept else {})}
    status = live.status(resource) if step.status is None else step.status
    return {**resource, "metadata": metadata, "status": status}


def _inputs(settings: OperatorSettings | None, facts: ClusterFacts | None) -> Inputs:
    """Return what surrounds a resource, with a judge of the resources that it makes: schema and admission."""
    inputs = pipeline.inputs_of(settings, facts, None)

    def judge(made: Object) -> Iterable[Problem]:
        try:
            return pipeline.kind_of(made).read(made, inputs.profile).problems
        except InvalidResource as error:
            return error.problems

    return attrs.evolve(inputs, judge=judge)

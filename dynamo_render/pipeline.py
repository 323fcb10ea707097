"""The stages of a render, in order: read, plan, build, order. The only module that sees all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dynamo_render import kinds
from dynamo_render.errors import InvalidResource, InvalidSettings, MissingFacts, Problem
from dynamo_render.facts import ClusterFacts, FactQuery
from dynamo_render.kinds.contract import Inputs, Kind, Reading
from dynamo_render.kube import manifest, structural
from dynamo_render.observed import Observed
from dynamo_render.plans.graph import Owner, ResourcePlan, Step
from dynamo_render.profiles import PROFILES
from dynamo_render.satellites import COMPONENT_SATELLITES, GRAPH_SATELLITES, REQUEST_SATELLITES
from dynamo_render.settings import OperatorSettings
from dynamo_render.values import Value, frozen
from dynamo_render.workloads import WORKLOADS

_ROOM_OF: Mapping[str, Mapping[str, Any]] = {
    entry: room for room in (WORKLOADS, COMPONENT_SATELLITES, GRAPH_SATELLITES, REQUEST_SATELLITES) for entry in room
}


@frozen
class Rendered(Value):
    """What a resource leads to.

    *objects* are plain JSON mappings in apply order; *owners* says for each who owns it, None for shared ones;
    *warnings* are problems that do not stand in the way.
    """

    objects: tuple[manifest.Manifest, ...]
    owners: tuple[Owner | None, ...]
    warnings: tuple[Problem, ...]


def render(
    resource: Mapping[str, Any],
    *,
    settings: OperatorSettings | None = None,
    facts: ClusterFacts | None = None,
    observed: Observed | None = None,
    own_only: bool = False,
) -> Rendered:
    """Return every Kubernetes object that *resource* leads to, in apply order.

    With *own_only*, component deployments of a graph stand for themselves: what each leads to is left out, and so is
    what would be wrong with it, as a controller meets that when it comes to the component.
    Raises InvalidResource with all problems, MissingFacts where a fact is needed and not given, InvalidSettings for an
    unknown profile.
    """
    kind = kind_of(resource)
    inputs = inputs_of(settings, facts, observed, own_only=own_only)
    plan, warnings = _planned(kind, kind.read(resource, inputs.profile), inputs)
    objects, owners = built(plan)
    return Rendered(objects, owners, warnings)


def needs(resource: Mapping[str, Any], settings: OperatorSettings | None = None) -> FactQuery:
    """Return which facts a render of *resource* asks for. Raises InvalidResource as `render` does."""
    kind = kind_of(resource)
    inputs = inputs_of(settings, None, None)
    return kind.needs(_checked(kind.read(resource, inputs.profile)), inputs)


def kind_of(resource: Mapping[str, Any]) -> Kind:
    """Return what the kind of *resource* offers. Raises InvalidResource for an unknown one."""
    if not isinstance(resource, Mapping):
        raise InvalidResource([Problem("schema/type", (), f"must be object, got {structural.kind_of(resource)}")])
    api_version, name = resource.get("apiVersion"), resource.get("kind")
    kind = kinds.KINDS.get((api_version, name)) if isinstance(api_version, str) and isinstance(name, str) else None
    if kind is None:
        raise InvalidResource([_unknown_kind(api_version, name)])
    return kind


def _unknown_kind(api_version: object, name: object) -> Problem:
    known = ", ".join(sorted(kind for _version, kind in kinds.KINDS))
    if not isinstance(name, str) or name not in {kind for _version, kind in kinds.KINDS}:
        hint = structural.nearest(name, tuple(kind for _version, kind in kinds.KINDS))
        found = f"got {structural.shown(name)}" if name is not None else "which is missing"
        return Problem("schema/kind", ("kind",), f"must be one of {known}; {found}", hint)
    found = f"got {structural.shown(api_version)}" if api_version is not None else "which is missing"
    return Problem("schema/kind", ("apiVersion",), f"must be nvidia.com/v1alpha1 for a {name}; {found}")


def inputs_of(
    settings: OperatorSettings | None,
    facts: ClusterFacts | None,
    observed: Observed | None,
    *,
    own_only: bool = False,
) -> Inputs:
    """Return what surrounds a resource, with defaults for what is not given. Raises InvalidSettings."""
    settings = settings or OperatorSettings()
    profile = PROFILES.get(settings.profile)
    if profile is None:
        message = f'must be one of {", ".join(sorted(PROFILES))}, got "{settings.profile}"'
        raise InvalidSettings([Problem("settings/enum", ("profile",), message)])
    facts, observed = facts or ClusterFacts(), observed or Observed()
    return Inputs(settings=settings, facts=facts, profile=profile, observed=observed, own_only=own_only)


def _planned(kind: Kind, reading: Reading, inputs: Inputs) -> tuple[ResourcePlan, tuple[Problem, ...]]:
    """Return the plan of a resource and its warnings; raise InvalidResource with what reading and planning find wrong.

    What is left of a resource that its schema refuses is planned too, so that one run shows all problems. Nothing is
    planned where a count knows no end.
    """
    _refuse_errors(reading.problems, only="count/")
    found: list[Problem] = []
    try:
        plan = kind.plan(reading, inputs, found)
    except MissingFacts:
        _refuse_errors(stage_by_stage(reading.problems, reading.visible(found)))
        raise
    problems = tuple(stage_by_stage(reading.problems, reading.visible(found)))
    _refuse_errors(problems)
    return plan, problems


def stage_by_stage(*stages: Iterable[Problem]) -> Iterator[Problem]:
    """Yield the problems of all *stages*; a later one is silent about a place where an earlier one found an error."""
    refused: set[tuple[str | int, ...]] = set()
    for stage in stages:
        found = [problem for problem in stage if problem.path not in refused or not problem.path]
        yield from found
        refused.update(problem.path for problem in found if problem.severity == "error")


def _checked(reading: Reading) -> Reading:
    _refuse_errors(reading.problems)
    return reading


def _refuse_errors(problems: Iterable[Problem], *, only: str = "") -> None:
    """Raise InvalidResource with all *problems* if one of them is an error whose rule starts with *only*."""
    problems = tuple(problems)
    if any(problem.severity == "error" and problem.rule.startswith(only) for problem in problems):
        raise InvalidResource(problems)


def built(plan: ResourcePlan) -> tuple[tuple[manifest.Manifest, ...], tuple[Owner | None, ...]]:
    """Return the objects of every step with their owners; an object wanted twice stands once, where it came first."""
    first: dict[tuple[str, str, str, str], tuple[manifest.Manifest, Owner | None]] = {}
    for step in plan.steps:
        for made in objects_of(step):
            first.setdefault(manifest.identity(made), (made, step.owner))
    return tuple(made for made, _owner in first.values()), tuple(owner for _made, owner in first.values())


def objects_of(step: Step) -> tuple[manifest.Manifest, ...]:
    """Return the objects of one step, as the entry that it names builds them."""
    objects: tuple[manifest.Manifest, ...] = _ROOM_OF[step.entry][step.entry].build(step.plan)
    return objects

"""One key: observe, gather, render, apply, prune, write status. The steps are the same for every kind that renders.

What differs between kinds stands in a `Recipe`. Errors leave as `ClusterError` or `Refused` after the status has told
them; the caller decides when to try again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import attrs

import dynamo_render
from dynamo_controller import gather, ownership, rollouts, writing
from dynamo_controller.apply import Applier, Outcome, Refused
from dynamo_controller.ports import ClusterError, DiscoveryError, Kind, Object
from dynamo_controller.rollouts import Choice
from dynamo_controller.shell import Key, Shell
from dynamo_render import ClusterFacts, FactQuery, InvalidResource, MissingFacts, Observed, OperatorSettings, Rendered
from dynamo_render.kinds.shared import failures, finalizers
from dynamo_render.kinds.shared.conditions import Status
from dynamo_render.kinds.shared.failures import Failure
from dynamo_render.values import Value

FOREIGN_DELAY = 30.0
"""Seconds after which a pass looks again whether objects of others still stand in its way: they are not watched."""

Objects = Mapping[tuple[str, str, str], Object]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Sight(Value):
    """What one pass has seen: the resource, its own live objects, facts, and what the render may know of them."""

    resource: Object
    objects: Objects
    facts: ClusterFacts
    observed: Observed = attrs.field(factory=Observed)


@attrs.frozen(kw_only=True, eq=False)
class Recipe:
    """What is different between kinds that render.

    *more* are kinds of live objects that belong to a resource without being owned by it, by a test; *observe* completes
    what was seen; *status* tells the status of the objects after the pass; *afterwards* does what is no object. *left*
    names the keys that a resource leaves behind outside of the cluster, by their beginning, or None.
    """

    kind: Kind
    status: Callable[[Sight, Failure | None], Status]
    observe: Callable[[Sight], Sight] = lambda sight: sight
    more: Callable[[Object, Shell], list[Object]] = lambda _resource, _shell: []
    afterwards: Callable[[Sight, Shell], Awaitable[int]] | None = None
    left: Callable[[Object, OperatorSettings], str | None] = lambda _resource, _settings: None


class PassFailed(Exception):
    """A pass did not get to its end; *cause* is what the cluster said, if it was the cluster."""

    def __init__(self, message: str, cause: ClusterError | None = None) -> None:
        """Keep the cause."""
        super().__init__(message)
        self.cause = cause


@attrs.frozen(eq=False, repr=False)
class Done(Value):
    """A pass came to its end with a number of *writes*; *look_again* is seconds until the next, if one is needed."""

    writes: int = 0
    look_again: float | None = None


async def reconcile(recipe: Recipe, key: Key, shell: Shell) -> Done:
    """Bring the objects of one resource in line with what it asks for. Raises `PassFailed`."""
    resource = shell.stores.get(key.kind, key.namespace, key.name)
    if resource is None:
        return Done()
    try:
        return await _pass(recipe, resource, shell)
    except ClusterError as error:
        raise PassFailed(str(error), error) from error


async def _pass(recipe: Recipe, resource: Object, shell: Shell) -> Done:
    left = recipe.left(resource, shell.settings) if shell.discovery is not None else None
    match finalizers.finalizer_step(resource, needed=left is not None):
        case "stop":
            return Done()
        case "finalize":
            await _clean_up(recipe, resource, left, shell)
            await writing.remove_finalizer(resource, shell)
            return Done(1)
        case "add":
            return await _keep_in_place(recipe, await writing.add_finalizer(resource, shell), shell)
        case _:
            return await _keep_in_place(recipe, resource, shell)


async def _clean_up(recipe: Recipe, resource: Object, left: str | None, shell: Shell) -> None:
    """Delete what a resource leaves behind outside of the cluster; tell in its status where that fails."""
    if left is None or shell.discovery is None:
        return
    try:
        await shell.discovery.delete_all(left)
    except DiscoveryError as error:
        sight = Sight(resource=resource, objects=_own(recipe, resource, shell), facts=ClusterFacts(shell.groups.names))
        failure = Failure("finalizer", f"keys in etcd that begin with {left} could not be deleted: {error}")
        if await writing.write_status(resource, recipe.status(sight, failure), shell):
            await shell.events.tell(resource, "Warning", _REASONS[failure.sort], failure.text)
        raise PassFailed(failure.text) from error


async def _keep_in_place(recipe: Recipe, resource: Object, shell: Shell) -> Done:
    choice, outcome, failure, cause = await _carried_out(recipe, resource, shell)
    sight: Sight = choice.seen
    after = attrs.evolve(sight, objects={**sight.objects, **_by_name(outcome.live)})
    status = recipe.status(after, failure)
    if choice.rendered is not None and (told := rollouts.condition(resource, choice.held)) is not None:
        status["conditions"] = [*status["conditions"], told]
    wrote = await writing.write_status(resource, status, shell)
    if failure is not None and wrote:
        await shell.events.tell(resource, "Warning", _REASONS[failure.sort], failure.text)
    if choice.held is not None and wrote:
        await shell.events.tell(resource, "Warning", "ProfileRolloutHeld", choice.held.message)
    if failure is not None and failure.sort == "error":
        raise PassFailed(failure.text, cause)
    return Done(outcome.writes + wrote, FOREIGN_DELAY if outcome.foreign else None)


_REASONS = {
    "invalid": "ValidationFailed",
    "error": "ReconcileError",
    "foreign": "ForeignObject",
    "finalizer": "FinalizerFailed",
}


async def _carried_out(
    recipe: Recipe, resource: Object, shell: Shell
) -> tuple[Choice, Outcome, Failure | None, ClusterError | None]:
    """Do all that leads to the status, and return what was seen and done, and what went wrong."""
    applier = Applier(shell, resource)
    sight = Sight(resource=resource, objects=_own(recipe, resource, shell), facts=ClusterFacts(shell.groups.names))
    choice = Choice(sight)
    try:
        choice = await rollouts.chosen(resource, shell, partial(_looked, recipe, sight, shell))
        await _write(applier, choice, recipe)
    except InvalidResource as error:
        return choice, applier.outcome, failures.refused(error.problems), None
    except MissingFacts as error:
        return choice, applier.outcome, Failure("error", str(error)), None
    except Refused as error:
        return choice, applier.outcome, Failure("error", str(error)), error.cause
    except ClusterError as error:
        return choice, applier.outcome, Failure("error", str(error)), error
    failure = failures.in_the_way(applier.outcome.foreign) if applier.outcome.foreign else None
    return choice, applier.outcome, failure, None


async def _looked(recipe: Recipe, sight: Sight, shell: Shell, profile: str) -> tuple[Sight, Rendered]:
    """Return what can be seen and is rendered for a resource under *profile*."""
    if profile != shell.settings.profile:
        shell = attrs.evolve(shell, settings=attrs.evolve(shell.settings, profile=profile))
    sight = recipe.observe(await _with_facts(sight, shell))
    return sight, _rendered(sight, shell)


async def _with_facts(sight: Sight, shell: Shell) -> Sight:
    query: FactQuery = dynamo_render.needs(sight.resource, shell.settings)
    return attrs.evolve(sight, facts=await gather.facts(query, shell))


def _rendered(sight: Sight, shell: Shell) -> Rendered:
    """Return what a resource leads to; where something is wrong inside its components only, what it makes itself.

    The component says so when its own turn comes, and the others are not its business.
    """
    look = partial(
        dynamo_render.render, sight.resource, settings=shell.settings, facts=sight.facts, observed=sight.observed
    )
    try:
        return look()
    except InvalidResource:
        return look(own_only=True)


async def _write(applier: Applier, choice: Choice, recipe: Recipe) -> None:
    sight, rendered = choice.seen, choice.objects
    me = ownership.owner_of(sight.resource)
    # What a child of ours owns is that child's to make, when its turn comes.
    wanted = [
        (content, owner is None)
        for content, owner in zip(rendered.objects, rendered.owners, strict=True)
        if owner is None or owner == me
    ]
    await applier.apply_all(wanted, choice.left_alone)
    if recipe.afterwards is not None:
        applier.outcome.writes += await recipe.afterwards(sight, applier.shell)
    await applier.prune(content for content, _shared in wanted)


def _own(recipe: Recipe, resource: Object, shell: Shell) -> Objects:
    owned = shell.stores.owned_by(resource["metadata"]["uid"])
    return _by_name([*owned, *recipe.more(resource, shell)])


def _by_name(found: list[Object]) -> dict[tuple[str, str, str], Any]:
    return {(live["apiVersion"], live["kind"], live["metadata"]["name"]): live for live in found}

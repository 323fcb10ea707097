"""Under which profile a resource is rendered: the one that is set, or the one that its running pods were made under.

A profile that would replace pods of an unchanged resource waits until its user allows it; until then the resource stays
under the profile that it has, as a whole, so that Services and pods keep fitting. Keeps no memory beside the condition
that tells it. docs/decisions/0011-profile-rollouts.md, decisions.md section 3.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Literal, TypeVar

import attrs

from dynamo_controller import fields, ownership, settling
from dynamo_controller.ports import Kind, Object
from dynamo_controller.projection import is_applied_by_us
from dynamo_controller.shell import Shell, Stores
from dynamo_controller.store import controller
from dynamo_render import InvalidResource, MissingFacts, Rendered, restarts
from dynamo_render.kinds.shared import conditions
from dynamo_render.kube import live as live_parts
from dynamo_render.kube.diff import Identity
from dynamo_render.kube.manifest import identity
from dynamo_render.profiles import PROFILES
from dynamo_render.values import Value

ALLOWED_BY = "nvidia.com/allow-profile-rollout"
"""The annotation that lets a changed profile replace the pods of a resource; its value is the profile."""

CONDITION = "ProfileRollout"

Seen = TypeVar("Seen")
Look = Callable[[str], Awaitable[tuple[Seen, Rendered]]]
"""Renders a resource under a profile, and returns what was seen for it too."""


@attrs.frozen(eq=False, repr=False)
class Held(Value):
    """A change of pod templates that waits: from profile *kept* to profile *wanted*, in *workloads*.

    *kept* is empty where no profile explains the templates; then the workloads themselves are left alone.
    """

    kept: str
    wanted: str
    workloads: tuple[str, ...]

    @property
    def message(self) -> str:
        """The words of condition and event."""
        named = ", ".join(self.workloads)
        kept = f"profile {self.kept} is kept" if self.kept else "pod templates that no profile renders are kept"
        how = f'to allow it, set annotation {ALLOWED_BY}: "{self.wanted}"'
        return f"{kept}: profile {self.wanted} would replace the pods of {named}; {how}"


@attrs.frozen(eq=False, repr=False)
class Choice(Value):
    """What a pass goes by: what was *seen*, what was *rendered* if it came to that, and what is *held* back."""

    seen: Any
    rendered: Rendered | None = None
    held: Held | None = None

    @property
    def objects(self) -> Rendered:
        """What was rendered."""
        assert self.rendered is not None  # noqa: S101 - asked for after a render only
        return self.rendered

    @property
    def left_alone(self) -> frozenset[Identity]:
        """The identities of the workloads that must not be touched."""
        names = self.held.workloads if self.held is not None and not self.held.kept else ()
        return frozenset(identity(made) for made in self.objects.objects if _named(made) in names)


async def chosen(resource: Object, shell: Shell, look: Look[Seen]) -> Choice:
    """Return what a pass over *resource* goes by. Raises what *look* raises under the profile that is set."""
    profile = shell.settings.profile
    seen, rendered = await look(profile)
    touched = touched_by(rendered, resource, shell)
    if not touched or is_allowed(resource, shell):
        return Choice(seen, rendered)
    names = tuple(sorted({_named(live) for live in touched}))
    is_new_to_us = not all(is_applied_by_us(live) for live in touched)
    kept = kept_profile(resource, shell.stores)
    if kept is not None and kept in PROFILES and kept != profile:
        return Choice(*await look(kept), Held(kept, profile, names))
    if not is_new_to_us and not _is_observed(resource):
        return Choice(seen, rendered)
    for other in PROFILES:
        if other != profile and (found := await _explains(other, resource, look, shell)) is not None:
            return Choice(*found, Held(other, profile, names))
    unknown = [live for live in touched if not is_applied_by_us(live)]
    held = Held("", profile, tuple(sorted({_named(live) for live in unknown}))) if unknown else None
    return Choice(seen, rendered, held)


def touched_by(rendered: Rendered, resource: Object, shell: Shell) -> list[Object]:
    """Return the live workloads whose pods a render of *resource* would replace."""
    pairs = ((made, _live(made, shell.stores)) for made in rendered.objects)
    return [
        live
        for made, live in pairs
        if live is not None and _replaces(ownership.with_owner(made, resource), live, shell)
    ]


def is_allowed(resource: Object, shell: Shell) -> bool:
    """Whether the profile that is set may replace pods of a resource: its own annotation says so, or its graph's."""
    if shell.policy.allow_profile_rollouts:
        return True
    return any(_annotation(each) == shell.settings.profile for each in _with_graph(resource, shell.stores))


def kept_profile(resource: Object, stores: Stores) -> str | None:
    """Return the profile that a resource, or its graph, says it is kept under; None where none does."""
    for each in _with_graph(resource, stores):
        told = _condition(each)
        found = re.match(r"profile (\S+) is kept:", told.get("message", "")) if told.get("status") == "False" else None
        if found:
            return found[1]
    return None


def condition(resource: Object, held: Held | None) -> dict[str, Any] | None:
    """Return the condition that tells what is held back, or that nothing is any more; None where nothing ever was."""
    generation = live_parts.generation(resource)
    if held is not None:
        reason: Literal["Held", "UnknownTemplates"] = "Held" if held.kept else "UnknownTemplates"
        return conditions.condition(CONDITION, False, reason, held.message, generation)
    if _condition(resource):
        return conditions.condition(CONDITION, True, "RolledOut", "no change of pod templates waits", generation)
    return None


async def _explains(profile: str, resource: Object, look: Look[Seen], shell: Shell) -> tuple[Seen, Rendered] | None:
    """Return a look under *profile* if the live templates are what it renders."""
    try:
        seen, rendered = await look(profile)
    except (InvalidResource, MissingFacts):
        return None
    return None if touched_by(rendered, resource, shell) else (seen, rendered)


def _is_observed(resource: Object) -> bool:
    """Whether a pass over this generation has come to its end before; the released operator's graphs do not say."""
    told = live_parts.status(resource).get("observedGeneration")
    ready = [each for each in live_parts.status(resource).get("conditions") or () if each.get("type") == "Ready"]
    seen = told if told is not None else next((each.get("observedGeneration") for each in ready), None)
    return seen is None or int(seen) >= live_parts.generation(resource)


def _live(made: Object, stores: Stores) -> Object | None:
    if not restarts.replacing_paths(dict(made)):
        return None
    live = stores.get(Kind(made["apiVersion"], made["kind"]), made["metadata"]["namespace"], made["metadata"]["name"])
    return None if live is None or live_parts.is_being_deleted(live) else live


def _replaces(wanted: Object, live: Object, shell: Shell) -> bool:
    """Whether applying *wanted* would replace pods."""
    # The first comparison, of the whole, is one that the apply makes anyway.
    return not settling.is_settled(wanted, live, shell) and any(
        fields.differs_at(wanted, live, path) for path in restarts.replacing_paths(dict(wanted))
    )


def _with_graph(resource: Object, stores: Stores) -> Iterable[Object]:
    """Yield a resource and, of one that belongs to a graph, the graph."""
    yield resource
    owner = controller(resource)
    if owner is not None:
        kind = Kind(owner["apiVersion"], owner["kind"])
        graph = stores.get(kind, resource["metadata"]["namespace"], owner["name"])
        if graph is not None:
            yield graph


def _annotation(resource: Object) -> str | None:
    found: str | None = (resource["metadata"].get("annotations") or {}).get(ALLOWED_BY)
    return found


def _condition(resource: Object) -> Object:
    told = live_parts.status(resource).get("conditions") or ()
    return next((each for each in told if each.get("type") == CONDITION), {})


def _named(content: Object) -> str:
    return f'{content["kind"]} "{content["metadata"]["name"]}"'

"""Kinds that live through stages: what a pass over one of them must look at, and what it leads to.

The pure half of a controller, of which `dynamo_render.kinds.shared.machine` says how it talks to the other half. Kept
out of a plain import of the package, which most renders do without.
"""

from __future__ import annotations

from collections.abc import Mapping

from dynamo_render import pipeline
from dynamo_render.errors import InvalidResource, Problem
from dynamo_render.facts import ClusterFacts
from dynamo_render.kinds.dynamo_model import machine as model
from dynamo_render.kinds.shared.machine import Lookup, Machine, Seen, Step
from dynamo_render.kube.live import Object
from dynamo_render.settings import OperatorSettings

MACHINES: Mapping[tuple[str, str], Machine] = {
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
    return machine_of(resource).advance(resource, pipeline.inputs_of(settings, facts, None), seen or Seen())


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
    asked = machine_of(resource).lookups(resource, pipeline.inputs_of(settings, facts, None), seen)
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

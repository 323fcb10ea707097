"""What rendering may know of live objects of one resource. Without it, a render is what a first pass creates."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from dynamo_render.values import Value, frozen


@frozen
class RestartStatus(Value):
    """How far a restart has come: ``status.restart`` of a DynamoGraphDeployment."""

    observed_id: str = ""
    phase: str = ""
    in_progress: tuple[str, ...] = ()


@frozen
class Observed(Value):
    """Live state of one resource, by service name.

    *restart* is the status of an earlier pass, *restarted* the services that have come back since, *restart_stamps* the
    restart annotations that live objects carry, *replicas* the counts that a scaling adapter owns, *clique_order* the
    cliques of a live PodCliqueSet in their order.
    """

    restart: RestartStatus | None = None
    restarted: frozenset[str] = frozenset()
    restart_stamps: Mapping[str, str] = attrs.field(factory=dict)
    replicas: Mapping[str, int] = attrs.field(factory=dict)
    clique_order: tuple[str, ...] = ()

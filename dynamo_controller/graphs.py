"""How a DynamoGraphDeployment is kept in place: what it sees beside its own objects, its status, and its scaling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import attrs

from dynamo_controller.ports import ClusterError, Kind, Object
from dynamo_controller.reconcile import Recipe, Sight
from dynamo_controller.shell import Shell
from dynamo_render.kinds.dynamo_graph_deployment import live_services, observation, status
from dynamo_render.kinds.shared.conditions import Status
from dynamo_render.kinds.shared.failures import Failure

GRAPH = Kind("nvidia.com/v1alpha1", "DynamoGraphDeployment")
CLIQUE = Kind("grove.io/v1alpha1", "PodClique")
SCALING_GROUP = Kind("grove.io/v1alpha1", "PodCliqueScalingGroup")


def _cliques(resource: Object, shell: Shell) -> list[Object]:
    """Return what Grove has made for a graph: its own object has it."""
    place = resource["metadata"]["namespace"], resource["metadata"]["name"]
    return [live for kind in (CLIQUE, SCALING_GROUP) for live in shell.stores.belonging(kind, *place)]


def _observe(sight: Sight) -> Sight:
    pathway = live_services.pathway_of(sight.resource, sight.facts)
    return attrs.evolve(sight, observed=observation.observed_from(sight.resource, sight.objects, pathway))


def _status(sight: Sight, failure: Failure | None) -> Status:
    pathway = live_services.pathway_of(sight.resource, sight.facts)
    return status.graph_status(sight.resource, sight.objects, sight.observed, pathway, failure)


async def _scale(sight: Sight, shell: Shell) -> int:
    """Give live cliques the counts of their services, and return how many were changed."""
    pathway = live_services.pathway_of(sight.resource, sight.facts)
    kinds: Mapping[str, Kind] = {kind.kind: kind for kind in (CLIQUE, SCALING_GROUP)}
    changed = 0
    for wish in observation.scale_actions(sight.resource, sight.objects, pathway):
        namespace = cast("str", sight.resource["metadata"]["namespace"])
        try:
            await shell.cluster.scale(kinds[wish.kind], namespace, wish.name, wish.replicas)
        except ClusterError as error:
            if not error.is_missing:
                raise
        else:
            changed += 1
    return changed


RECIPE = Recipe(kind=GRAPH, status=_status, observe=_observe, more=_cliques, afterwards=_scale)

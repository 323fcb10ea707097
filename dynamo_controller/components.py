"""How a DynamoComponentDeployment is kept in place."""

from __future__ import annotations

from dynamo_controller.ports import Kind
from dynamo_controller.reconcile import Recipe, Sight
from dynamo_render.kinds.dynamo_component_deployment.status import component_status, discovery_prefix
from dynamo_render.kinds.shared.conditions import Status
from dynamo_render.kinds.shared.failures import Failure

COMPONENT = Kind("nvidia.com/v1alpha1", "DynamoComponentDeployment")


def _status(sight: Sight, failure: Failure | None) -> Status:
    return component_status(sight.resource, sight.objects, sight.facts, failure)


RECIPE = Recipe(kind=COMPONENT, status=_status, left=discovery_prefix)

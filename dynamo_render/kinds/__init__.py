"""Kinds of custom resources by (apiVersion, kind)."""

from __future__ import annotations

from collections.abc import Mapping

from dynamo_render.kinds import (
    dynamo_component_deployment,
    dynamo_graph_deployment,
    dynamo_graph_deployment_request,
    dynamo_model,
)
from dynamo_render.kinds.contract import Kind

GROUP = "nvidia.com"

KINDS: Mapping[tuple[str, str], Kind] = {
    ("nvidia.com/v1alpha1", "DynamoGraphDeployment"): dynamo_graph_deployment.KIND,
    ("nvidia.com/v1alpha1", "DynamoComponentDeployment"): dynamo_component_deployment.KIND,
    ("nvidia.com/v1alpha1", "DynamoGraphDeploymentRequest"): dynamo_graph_deployment_request.KIND,
    ("nvidia.com/v1alpha1", "DynamoModel"): dynamo_model.KIND,
}

"""Kinds of custom resources by (apiVersion, kind)."""

from __future__ import annotations

from collections.abc import Mapping

from dynamo_render.kinds.contract import Kind
from dynamo_render.room import Room

GROUP = "nvidia.com"

_VERSION = "nvidia.com/v1alpha1"

KINDS: Mapping[tuple[str, str], Kind] = Room(
    {
        (_VERSION, "DynamoGraphDeployment"): "dynamo_render.kinds.dynamo_graph_deployment:KIND",
        (_VERSION, "DynamoComponentDeployment"): "dynamo_render.kinds.dynamo_component_deployment:KIND",
        (_VERSION, "DynamoGraphDeploymentRequest"): "dynamo_render.kinds.dynamo_graph_deployment_request:KIND",
        (_VERSION, "DynamoModel"): "dynamo_render.kinds.dynamo_model:KIND",
    }
)

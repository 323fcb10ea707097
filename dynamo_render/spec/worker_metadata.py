"""Fields of a DynamoWorkerMetadata: what a running worker says about itself. Specification: api.md section 8."""

from __future__ import annotations

from typing import Any

from dynamo_render.kube.schema_nodes import ANY_OBJECT
from dynamo_render.spec.structure import key
from dynamo_render.values import Value, frozen


@frozen(kw_only=True)
class WorkerMetadataSpec(Value):
    """Whatever the worker wrote."""

    data: dict[str, Any] = key(ANY_OBJECT, required=True)

"""Fields of a DynamoWorkerMetadata: what a running worker says about itself. Specification: api.md section 8."""

from __future__ import annotations

from typing import Any

import attrs

from dynamo_render.kube.structural import ANY_OBJECT
from dynamo_render.spec.structure import key
from dynamo_render.values import Value


@attrs.frozen(kw_only=True, eq=False, repr=False)
class WorkerMetadataSpec(Value):
    """Whatever the worker wrote."""

    data: dict[str, Any] = key(ANY_OBJECT, required=True)

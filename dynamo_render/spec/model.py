"""Fields of a DynamoModel: a model or adapter that running components serve. Specification: api.md section 8."""

from __future__ import annotations

from typing import Any

from dynamo_render.kube.schema_nodes import BOOLEAN, INTEGER, STRING, ListOf, Scalar
from dynamo_render.spec.status import CONDITIONS
from dynamo_render.spec.structure import key, struct_of
from dynamo_render.values import Value, frozen


@frozen(kw_only=True)
class ModelSource(Value):
    """Where an adapter is loaded from."""

    uri: str = key(STRING, required=True, emit="always")


@frozen(kw_only=True)
class ModelSpec(Value):
    """A model by name, and the base model whose components serve it."""

    model_name: str = key(STRING, required=True, emit="always")
    base_model_name: str = key(STRING, required=True, emit="always")
    model_type: str = key(Scalar("string", enum=("base", "lora", "adapter")), emit="non-zero", default="base")
    source: ModelSource | None = key(ModelSource)


@frozen(kw_only=True)
class ModelEndpoint(Value):
    """One pod that can serve the model."""

    address: str = key(STRING, required=True, emit="always")
    pod_name: str | None = key(STRING, emit="non-zero")
    ready: bool = key(BOOLEAN, required=True, emit="always")


@frozen(kw_only=True)
class ModelStatus(Value):
    """Which pods can serve the model, and how many do."""

    conditions: list[dict[str, Any]] | None = key(CONDITIONS, emit="non-empty")
    endpoints: list[ModelEndpoint] | None = key(ListOf(struct_of(ModelEndpoint)), emit="non-empty")
    ready_endpoints: int = key(INTEGER, required=True, emit="always")
    total_endpoints: int = key(INTEGER, required=True, emit="always")

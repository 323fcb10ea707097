"""Fields of a DynamoGraphDeployment apart from its components. Specification: api.md section 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from dynamo_render.kube.schema_nodes import BOOLEAN, QUANTITY, STRING, Demand, ListOf, MapOf, Ref, Scalar
from dynamo_render.spec.component import ComponentSpec
from dynamo_render.spec.structure import key, struct_of
from dynamo_render.values import Value, frozen


@frozen(kw_only=True)
class Claim(Value):
    """A PersistentVolumeClaim to create or to expect."""

    DEMANDS: ClassVar = (
        Demand(
            "claim",
            when="create",
            needs=("size", "storageClass", "volumeAccessMode"),
            message="a claim to be created needs size, storageClass and volumeAccessMode",
        ),
    )

    create: bool | None = key(BOOLEAN)
    name: str = key(STRING, required=True)
    storage_class: str | None = key(STRING, emit="non-zero")
    size: str | None = key(QUANTITY, emit="always")
    volume_access_mode: str | None = key(STRING, emit="non-zero")


@frozen(kw_only=True)
class RestartStrategy(Value):
    """In which order services restart."""

    type: str = key(Scalar("string", enum=("Sequential", "Parallel")), emit="non-zero", default="Sequential")
    order: list[str] | None = key(ListOf(STRING), emit="non-empty")


@frozen(kw_only=True)
class Restart(Value):
    """A wish to restart all services once for each new id."""

    id: str = key(Scalar("string", min_length=1), required=True, emit="always")
    strategy: RestartStrategy | None = key(RestartStrategy)


@frozen(kw_only=True)
class GraphSpec(Value):
    """A graph of components with what they share."""

    pvcs: list[Claim] | None = key(ListOf(struct_of(Claim), max_items=100), emit="non-empty")
    services: Mapping[str, ComponentSpec] | None = key(
        MapOf(struct_of(ComponentSpec), max_properties=25), emit="non-empty"
    )
    envs: list[dict[str, Any]] | None = key(ListOf(Ref("core/v1.EnvVar")), emit="non-empty")
    backend_framework: str | None = key(Scalar("string", enum=("sglang", "vllm", "trtllm")), emit="non-zero")
    restart: Restart | None = key(Restart)

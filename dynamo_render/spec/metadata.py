"""Object metadata of a custom resource, as far as rendering depends on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dynamo_render.kube.schema_nodes import BOOLEAN, INT64, STRING, STRING_MAP, Field, ListOf, Struct
from dynamo_render.spec.structure import key, struct_of
from dynamo_render.values import Value, frozen

OWNER_REFERENCE = Struct(
    "OwnerReference",
    {
        "apiVersion": Field(STRING),
        "kind": Field(STRING),
        "name": Field(STRING),
        "uid": Field(STRING),
        "controller": Field(BOOLEAN),
        "blockOwnerDeletion": Field(BOOLEAN),
    },
)


@frozen(kw_only=True)
class Metadata(Value):
    """Name, namespace and what hangs on a resource."""

    name: str | None = key(STRING)
    namespace: str | None = key(STRING)
    labels: Mapping[str, str] | None = key(STRING_MAP)
    annotations: Mapping[str, str] | None = key(STRING_MAP)
    owner_references: list[dict[str, Any]] | None = key(ListOf(OWNER_REFERENCE))
    generation: int | None = key(INT64)
    uid: str | None = key(STRING)


METADATA = Struct("metadata", struct_of(Metadata).fields, Metadata, closed=False)

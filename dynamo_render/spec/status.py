"""What an operator reports about graphs and components. Specification: api.md sections 3, 5 and 15.

Nothing that renders reads these classes; they are declared for schemas and for whoever writes a status.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from dynamo_render.kube import schema_nodes
from dynamo_render.kube.schema_nodes import INT64, STRING, STRING_MAP, ListOf, MapOf, Scalar, Struct
from dynamo_render.spec.structure import key, struct_of
from dynamo_render.values import Value, frozen

Json = dict[str, Any]

_REASON = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"
_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_TYPE = rf"^({_LABEL}(\.{_LABEL})*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"


def _condition() -> Struct:
    """Return the Kubernetes condition with the limits that its schema has and the table of embedded types has not."""
    limits = {
        "type": Scalar("string", max_length=316, pattern=_TYPE),
        "status": Scalar("string", enum=("True", "False", "Unknown")),
        "observedGeneration": Scalar("int64", minimum=0),
        "reason": Scalar("string", min_length=1, max_length=1024, pattern=_REASON),
        "message": Scalar("string", max_length=32768),
    }
    plain = schema_nodes.embedded("meta/v1.Condition")
    fields = {name: attrs.evolve(field, node=limits.get(name, field.node)) for name, field in plain.fields.items()}
    return Struct(plain.name, fields)


CONDITION = _condition()
CONDITIONS = ListOf(CONDITION)
_COUNT = Scalar("int32", minimum=0)
_WORKLOADS = ("PodClique", "PodCliqueScalingGroup", "Deployment", "LeaderWorkerSet")


@frozen(kw_only=True)
class ReplicaStatus(Value):
    """How far the workload of one component has come; what its kind of workload does not count is absent."""

    component_kind: str = key(Scalar("string", enum=_WORKLOADS), required=True, emit="always")
    component_name: str = key(STRING, required=True, emit="always")
    replicas: int = key(_COUNT, required=True, emit="always")
    updated_replicas: int = key(_COUNT, required=True, emit="always")
    ready_replicas: int | None = key(_COUNT)
    available_replicas: int | None = key(_COUNT)


@frozen(kw_only=True)
class RestartProgress(Value):
    """How far a wanted restart has come."""

    observed_id: str | None = key(STRING, name="observedID", emit="non-zero")
    phase: str | None = key(STRING, emit="non-zero")
    in_progress: list[str] | None = key(ListOf(STRING), emit="non-empty")


@frozen(kw_only=True)
class GraphStatus(Value):
    """The state of a graph, in total and by service."""

    state: str | None = key(STRING, emit="non-zero")
    conditions: list[Json] | None = key(CONDITIONS, emit="non-empty")
    services: Mapping[str, ReplicaStatus] | None = key(MapOf(struct_of(ReplicaStatus)), emit="non-empty")
    restart: RestartProgress | None = key(RestartProgress)


@frozen(kw_only=True)
class ComponentDeploymentStatus(Value):
    """The state of one component."""

    conditions: list[Json] = key(CONDITIONS, required=True, emit="always")
    observed_generation: int | None = key(INT64, emit="non-zero")
    pod_selector: Mapping[str, str] | None = key(STRING_MAP, emit="non-empty")
    service: ReplicaStatus | None = key(ReplicaStatus)

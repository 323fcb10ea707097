"""Fields of a DynamoGraphDeploymentScalingAdapter: the replicas of one service. Specification: api.md section 7."""

from __future__ import annotations

from dynamo_render.kube.schema_nodes import INT32, STRING, Scalar
from dynamo_render.spec.structure import key
from dynamo_render.values import Value, frozen

_NAME = Scalar("string", min_length=1)


@frozen(kw_only=True)
class ServiceReference(Value):
    """A service of a graph in the same namespace, in the graph's own spelling."""

    name: str = key(_NAME, required=True, emit="always")
    service_name: str = key(_NAME, required=True, emit="always")


@frozen(kw_only=True)
class ScalingAdapterSpec(Value):
    """How many replicas a service should have."""

    replicas: int = key(Scalar("int32", minimum=0), required=True, emit="always")
    dgd_ref: ServiceReference = key(ServiceReference, required=True, emit="always")


@frozen(kw_only=True)
class ScalingAdapterStatus(Value):
    """What autoscalers read: the replicas, and a selector of their pods.

    *last_scale_time* is RFC 3339 text.
    """

    replicas: int | None = key(INT32, emit="non-zero")
    selector: str | None = key(STRING, emit="non-zero")
    last_scale_time: str | None = key(Scalar("time"))

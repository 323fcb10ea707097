"""Fields of a DynamoGraphDeploymentRequest: a model to be profiled and served. Specification: api.md section 6."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dynamo_render.kube.schema_nodes import ANY_OBJECT, BOOLEAN, INT64, STRING, STRING_MAP, ListOf, Ref, Scalar, Struct
from dynamo_render.spec.status import CONDITIONS
from dynamo_render.spec.structure import key
from dynamo_render.values import Value, frozen

Json = dict[str, Any]

EMBEDDED_RESOURCE = Struct("embedded resource", {}, closed=False, keeps_unknown=True, embedded_resource=True)


@frozen(kw_only=True)
class ConfigMapEntry(Value):
    """One key of a ConfigMap of the same namespace."""

    name: str = key(STRING, required=True, emit="always")
    key: str = key(STRING, emit="non-zero", default="disagg.yaml")


@frozen(kw_only=True)
class ProfilingConfig(Value):
    """What the profiling job runs and with which configuration."""

    config: Json | None = key(ANY_OBJECT)
    config_map_ref: ConfigMapEntry | None = key(ConfigMapEntry)
    profiler_image: str = key(STRING, required=True, emit="always")
    output_pvc: str | None = key(STRING, name="outputPVC", emit="non-zero")
    resources: Json | None = key(Ref("core/v1.ResourceRequirements"))
    tolerations: list[Json] | None = key(ListOf(Ref("core/v1.Toleration")), emit="non-empty")


@frozen(kw_only=True)
class DeploymentOverrides(Value):
    """What the created graph gets instead of what profiling chose."""

    name: str | None = key(STRING, emit="non-zero")
    namespace: str | None = key(STRING, emit="non-zero")
    labels: Mapping[str, str] | None = key(STRING_MAP, emit="non-empty")
    annotations: Mapping[str, str] | None = key(STRING_MAP, emit="non-empty")
    workers_image: str | None = key(STRING, emit="non-zero")


@frozen(kw_only=True)
class RequestSpec(Value):
    """A model, the engine that serves it, and how the best deployment is found."""

    model: str = key(STRING, required=True, emit="always")
    backend: str = key(Scalar("string", enum=("vllm", "sglang", "trtllm")), required=True, emit="always")
    use_mocker: bool = key(BOOLEAN, emit="non-zero", default=False)
    enable_gpu_discovery: bool = key(BOOLEAN, emit="non-zero", default=False)
    profiling_config: ProfilingConfig = key(ProfilingConfig, required=True, emit="always")
    auto_apply: bool = key(BOOLEAN, emit="non-zero", default=False)
    deployment_overrides: DeploymentOverrides | None = key(DeploymentOverrides)


@frozen(kw_only=True)
class RequestedDeployment(Value):
    """The graph that was created for a request."""

    name: str | None = key(STRING, emit="non-zero")
    namespace: str | None = key(STRING, emit="non-zero")
    state: str | None = key(STRING, emit="non-zero")
    created: bool | None = key(BOOLEAN, emit="non-zero")


@frozen(kw_only=True)
class RequestStatus(Value):
    """Where a request is between profiling and serving, and what came out."""

    state: str | None = key(STRING, emit="non-zero")
    backend: str | None = key(STRING, emit="non-zero")
    observed_generation: int | None = key(INT64, emit="non-zero")
    conditions: list[Json] | None = key(CONDITIONS, emit="non-empty")
    profiling_results: str | None = key(STRING, emit="non-zero")
    generated_deployment: Json | None = key(EMBEDDED_RESOURCE)
    deployment: RequestedDeployment | None = key(RequestedDeployment)

"""Fields of one component: a service of a DynamoGraphDeployment, or the spec of a DynamoComponentDeployment.

Specification: api.md section 4. Embedded Kubernetes content stays plain JSON in the form a typed client writes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dynamo_render.kube import schema_nodes, structural
from dynamo_render.kube.schema_nodes import (
    BOOLEAN,
    DURATION,
    INTEGER,
    QUANTITY,
    STRING,
    STRING_MAP,
    Field,
    ListOf,
    Ref,
    Scalar,
    Struct,
)
from dynamo_render.spec.structure import key, struct_of
from dynamo_render.values import Value, frozen

Json = dict[str, Any]


@frozen(kw_only=True)
class ResourceItem(Value):
    """Amounts of one side (requests or limits), as quantity texts."""

    cpu: str | None = key(STRING, emit="non-zero")
    memory: str | None = key(STRING, emit="non-zero")
    gpu: str | None = key(STRING, emit="non-zero")
    gpu_type: str | None = key(STRING, emit="non-zero")
    custom: Mapping[str, str] | None = key(STRING_MAP, emit="non-empty")


@frozen(kw_only=True)
class Resources(Value):
    """Requests, limits and resource claims of the main container."""

    requests: ResourceItem | None = key(ResourceItem)
    limits: ResourceItem | None = key(ResourceItem)
    claims: list[Json] | None = key(ListOf(Ref("core/v1.ResourceClaim")), emit="non-empty")


@frozen(kw_only=True)
class VolumeMount(Value):
    """A claim mounted into the main container, perhaps as the compilation cache of its engine."""

    name: str = key(STRING, required=True, emit="non-zero")
    mount_point: str | None = key(STRING, emit="non-zero")
    use_as_compilation_cache: bool = key(BOOLEAN, emit="non-zero", default=False)


@frozen(kw_only=True)
class IngressTls(Value):
    """The certificate of an ingress host."""

    secret_name: str | None = key(STRING, emit="non-zero")


@frozen(kw_only=True)
class Ingress(Value):
    """How a component is reached from outside."""

    enabled: bool | None = key(BOOLEAN, emit="non-zero")
    host: str | None = key(STRING, emit="non-zero")
    use_virtual_service: bool | None = key(BOOLEAN, emit="non-zero")
    virtual_service_gateway: str | None = key(STRING)
    host_prefix: str | None = key(STRING)
    annotations: Mapping[str, str] | None = key(STRING_MAP, emit="non-empty")
    labels: Mapping[str, str] | None = key(STRING_MAP, emit="non-empty")
    tls: IngressTls | None = key(IngressTls)
    host_suffix: str | None = key(STRING)
    ingress_controller_class_name: str | None = key(STRING)


@frozen(kw_only=True)
class ModelRef(Value):
    """The base model that a component serves."""

    name: str = key(STRING, required=True, emit="always")
    revision: str | None = key(STRING, emit="non-zero")


@frozen(kw_only=True)
class SharedMemory(Value):
    """Size of ``/dev/shm``, or that there is none."""

    disabled: bool | None = key(BOOLEAN, emit="non-zero")
    size: str | None = key(QUANTITY, emit="always")


@frozen(kw_only=True)
class ExtraPodMetadata(Value):
    """Labels and annotations for created pods."""

    annotations: Mapping[str, str] | None = key(STRING_MAP, emit="non-empty")
    labels: Mapping[str, str] | None = key(STRING_MAP, emit="non-empty")


class ExtraPodSpec:
    """Pod overrides: *main_container* (or None) and the other keys of a pod spec.

    Explicit zero values at the top of both stay in place, because a merge tells them from absent ones.
    """

    __slots__ = ("main_container", "pod")

    def __init__(self, mainContainer: Json | None = None, **pod: Any) -> None:  # noqa: N803 - the API's spelling
        """Split *mainContainer* from the pod's own keys."""
        self.main_container = mainContainer
        self.pod: Json = pod

    def __eq__(self, other: object) -> bool:
        """Compare by content."""
        if not isinstance(other, ExtraPodSpec):
            return NotImplemented
        return (self.main_container, self.pod) == (other.main_container, other.pod)

    __hash__ = None  # type: ignore[assignment]

    def __json__(self) -> Json:
        """Return the JSON form; top-level zero values that a typed client omits are left out."""
        result = without_zeros(POD_SPEC, self.pod)
        if self.main_container is not None:
            result["mainContainer"] = without_zeros(CONTAINER, self.main_container)
        return structural.copied(result)  # type: ignore[no-any-return]


def without_zeros(struct: Struct, content: Mapping[str, Any]) -> Json:
    """Return *content* without the zero values at its top that a typed client does not write."""
    return {name: entry for name, entry in content.items() if entry or struct.fields[name].emit in {"if-set", "always"}}


@frozen(kw_only=True)
class Multinode(Value):
    """Number of nodes that one replica spans."""

    node_count: int = key(Scalar("int32", minimum=2), required=True, default=2, emit="always")


@frozen(kw_only=True)
class ScalingAdapter(Value):
    """Whether a scaling adapter owns the replicas."""

    enabled: bool = key(BOOLEAN, emit="non-zero", default=False)


PLUGIN_PARAMETERS = Scalar("any")
EPP_PLUGIN = Struct(
    "EPPPlugin",
    {
        "name": Field(STRING, "always"),
        "type": Field(STRING, "always", required=True),
        "parameters": Field(PLUGIN_PARAMETERS, "always"),
    },
)
EPP_PROFILE_PLUGIN = Struct(
    "EPPProfilePlugin",
    {"pluginRef": Field(STRING, "always", required=True), "weight": Field(INTEGER, "always")},
)
EPP_PROFILE = Struct(
    "EPPSchedulingProfile",
    {
        "name": Field(STRING, "always", required=True),
        "plugins": Field(ListOf(EPP_PROFILE_PLUGIN), "always", required=True),
    },
)
EPP_SATURATION = Struct(
    "EPPSaturationDetector",
    {
        "queueDepthThreshold": Field(INTEGER, "non-zero"),
        "kvCacheUtilThreshold": Field(Scalar("number"), "non-zero"),
        "metricsStalenessThreshold": Field(DURATION, "always"),
    },
)
EPP_CONFIG = Struct(
    "EndpointPickerConfig",
    {
        "apiVersion": Field(STRING, "non-zero"),
        "kind": Field(STRING, "non-zero"),
        "featureGates": Field(ListOf(STRING), "non-empty"),
        "plugins": Field(ListOf(EPP_PLUGIN), "always", required=True),
        "schedulingProfiles": Field(ListOf(EPP_PROFILE), "always", required=True),
        "saturationDetector": Field(EPP_SATURATION, "if-set"),
    },
    closed=False,
)


@frozen(kw_only=True)
class EppConfig(Value):
    """Where the endpoint picker finds its configuration."""

    config_map_ref: Json | None = key(Ref("core/v1.ConfigMapKeySelector"))
    config: Json | None = key(EPP_CONFIG)


@frozen(kw_only=True)
class Autoscaling(Value):
    """The deprecated autoscaling block; accepted, never rendered in this generation."""

    enabled: bool | None = key(BOOLEAN, emit="non-zero")
    min_replicas: int | None = key(INTEGER, emit="non-zero")
    max_replicas: int | None = key(INTEGER, emit="non-zero")
    behavior: Json | None = key(Ref("autoscaling/v2.HorizontalPodAutoscalerBehavior"))
    metrics: list[Json] | None = key(ListOf(Ref("autoscaling/v2.MetricSpec")), emit="non-empty")


def _container() -> Struct:
    """Return the container schema of ``mainContainer``: a name is not required, top-level zeros stay."""
    plain = schema_nodes.embedded("core/v1.Container", keeps_zeros=True)
    relaxed = {**plain.fields, "name": Field(STRING, "non-zero"), "resources": Field(plain.fields["resources"].node)}
    return Struct("mainContainer", relaxed, keeps_zeros=True)


def _pod_spec(container: Struct) -> Struct:
    """Return the schema of ``extraPodSpec``: a pod spec with optional containers, and the main container beside."""
    plain = schema_nodes.embedded("core/v1.PodSpec")
    no_context = "write `securityContext: {}` to run without the default fsGroup"
    fields = {
        **plain.fields,
        "containers": Field(plain.fields["containers"].node, "non-empty"),
        "securityContext": Field(plain.fields["securityContext"].node, "if-set", null_hint=no_context),
        "mainContainer": Field(container),
    }
    return Struct("extraPodSpec", fields, ExtraPodSpec)


CONTAINER = _container()
POD_SPEC = _pod_spec(CONTAINER)


@frozen(kw_only=True)
class ComponentSpec(Value):
    """Everything that can be said about one component."""

    annotations: Mapping[str, str] | None = key(STRING_MAP, emit="non-empty")
    labels: Mapping[str, str] | None = key(STRING_MAP, emit="non-empty")
    service_name: str | None = key(STRING, emit="non-zero")
    component_type: str | None = key(STRING, emit="non-zero")
    sub_component_type: str | None = key(STRING, emit="non-zero")
    dynamo_namespace: str | None = key(STRING)
    global_dynamo_namespace: bool | None = key(BOOLEAN, emit="non-zero")
    resources: Resources | None = key(Resources)
    autoscaling: Autoscaling | None = key(Autoscaling)
    envs: list[Json] | None = key(ListOf(Ref("core/v1.EnvVar")), emit="non-empty")
    env_from_secret: str | None = key(STRING)
    volume_mounts: list[VolumeMount] | None = key(ListOf(struct_of(VolumeMount)), emit="non-empty")
    ingress: Ingress | None = key(Ingress)
    model_ref: ModelRef | None = key(ModelRef)
    shared_memory: SharedMemory | None = key(SharedMemory)
    extra_pod_metadata: ExtraPodMetadata | None = key(ExtraPodMetadata)
    extra_pod_spec: ExtraPodSpec | None = key(POD_SPEC)
    liveness_probe: Json | None = key(Ref("core/v1.Probe"))
    readiness_probe: Json | None = key(Ref("core/v1.Probe"))
    replicas: int | None = key(Scalar("int32", minimum=0))
    multinode: Multinode | None = key(Multinode)
    scaling_adapter: ScalingAdapter | None = key(ScalingAdapter)
    epp_config: EppConfig | None = key(EppConfig)

    @property
    def nodes(self) -> int:
        """Number of nodes that one replica spans, at least 1."""
        return self.multinode.node_count if self.multinode else 1

    @property
    def main_container(self) -> Json:
        """What the user says about the main container; empty when nothing."""
        return (self.extra_pod_spec and self.extra_pod_spec.main_container) or {}

    @property
    def pod(self) -> Json:
        """What the user says about the pod apart from its main container; empty when nothing."""
        return self.extra_pod_spec.pod if self.extra_pod_spec else {}


@frozen(kw_only=True)
class ComponentDeploymentSpec(ComponentSpec):
    """The spec of a DynamoComponentDeployment: one component and its engine."""

    backend_framework: str | None = key(Scalar("string", enum=("sglang", "vllm", "trtllm")), emit="non-zero")

"""Components of every type: the services of a graph, or the spec of a component deployment without its engine."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from tests.strategies import containers, env, names, pods, probes, quantities, volumes

Json = dict[str, Any]

WORKERS = ("worker", "prefill", "decode")
TYPES = ("frontend", *WORKERS, "planner", "epp", "router", "main")
OWNED_LABELS = ("nvidia.com/selector", "nvidia.com/dynamo-component-type", "role", "nvidia.com/metrics-enabled")

STEERING: dict[str, tuple[str, ...]] = {
    "nvidia.com/disable-image-pull-secret-discovery": ("true", "True"),
    "nvidia.com/enable-metrics": ("true", "false"),
    "nvidia.com/deployment-strategy": ("Recreate", "RollingUpdate", "other"),
    "nvidia.com/deployment-rolling-update-max-surge": ("1", "50%", ""),
    "nvidia.com/deployment-rolling-update-max-unavailable": ("0", "10%"),
    "nvidia.com/enable-debug-mode": ("true", "false"),
    "nvidia.com/enable-stealing-traffic-debug-mode": ("true",),
    "nvidia.com/dynamo-discovery-backend": ("kubernetes", "etcd"),
}
"""Annotations of a component that change what is rendered for it, with values to choose from."""


@cache
def component_annotations() -> st.SearchStrategy[dict[str, str]]:
    """Return annotations of a component, some of which steer the operator."""
    steering = st.fixed_dictionaries({}, optional={key: st.sampled_from(values) for key, values in STEERING.items()})
    few = st.lists(st.sampled_from(sorted(STEERING)), max_size=2)
    return st.builds(
        lambda own, steer, kept: own | {key: value for key, value in steer.items() if key in kept},
        names.user_annotations(),
        steering,
        few,
    )


@cache
def component_labels(*, wide: bool) -> st.SearchStrategy[dict[str, str]]:
    """Return labels of a component; with *wide* some belong to the operator."""
    if not wide:
        return names.user_labels()
    owned = st.dictionaries(st.sampled_from(OWNED_LABELS), names.label_values(), max_size=1)
    return st.builds(lambda own, taken: own | taken, names.user_labels(), owned)


@cache
@st.composite
def ingresses(draw: st.DrawFn) -> Json:
    """Return how a component is reached from outside, by an ingress controller, a mesh, both or not at all."""
    content: Json = draw(
        st.fixed_dictionaries(
            {"host": names.dns_labels()},
            optional={
                "enabled": st.booleans(),
                "useVirtualService": st.booleans(),
                "virtualServiceGateway": st.just("istio-system/gateway"),
                "ingressControllerClassName": st.just("nginx"),
                "hostPrefix": st.just("p-"),
                "hostSuffix": st.just("example.test"),
                "tls": st.fixed_dictionaries({"secretName": st.just("tls-cert")}),
                "labels": names.user_labels(),
                "annotations": names.user_annotations(),
            },
        )
    )
    return content


@cache
def picker_configs() -> st.SearchStrategy[Json]:
    """Return where an endpoint picker finds its configuration: a ConfigMap of the user's, or written out."""
    plugin = st.fixed_dictionaries(
        {"type": st.sampled_from(("queue-scorer", "kv-aware-scorer"))},
        optional={"name": names.dns_labels(), "parameters": st.just("eyJhIjogMX0=")},
    )
    used = st.fixed_dictionaries({"pluginRef": names.dns_labels()}, optional={"weight": st.integers(0, 9)})
    profile = st.fixed_dictionaries({"name": names.dns_labels(), "plugins": st.lists(used, max_size=2)})
    detector = st.fixed_dictionaries(
        {}, optional={"queueDepthThreshold": st.integers(0, 9), "metricsStalenessThreshold": st.just("2s")}
    )
    written = st.fixed_dictionaries(
        {"plugins": st.lists(plugin, max_size=2), "schedulingProfiles": st.lists(profile, max_size=2)},
        optional={"saturationDetector": detector, "featureGates": st.just(["flowControl"])},
    )
    reference = st.fixed_dictionaries({"name": st.just("my-picker-config"), "key": st.sampled_from(("k", "a.yaml"))})
    return st.fixed_dictionaries({"config": written}) | st.fixed_dictionaries({"configMapRef": reference})


@cache
def model_refs() -> st.SearchStrategy[Json]:
    """Return base models; two components often serve the same."""
    return st.fixed_dictionaries(
        {"name": st.sampled_from(("Qwen/Qwen3-0.6B", "Qwen/Qwen3", "m"))}, optional={"revision": st.just("main")}
    )


@cache
def _plain_fields(started: str | None, *, wide: bool) -> dict[str, st.SearchStrategy[Any]]:
    return {
        "annotations": component_annotations(),
        "labels": component_labels(wide=wide),
        "subComponentType": st.sampled_from(("prefill", "decode")),
        "globalDynamoNamespace": st.booleans(),
        "autoscaling": st.fixed_dictionaries({}, optional={"enabled": st.booleans(), "maxReplicas": st.integers(1, 9)}),
        "envs": env.env_lists(distinct=not wide),
        "envFromSecret": st.sampled_from(env.SECRETS),
        "volumeMounts": volumes.component_mounts(has_default_cache=started == "vllm"),
        "ingress": ingresses(),
        "modelRef": model_refs(),
        "sharedMemory": volumes.shared_memory(),
        "extraPodMetadata": pods.extra_pod_metadata(),
        "livenessProbe": probes.probes(),
        "readinessProbe": probes.probes(),
        "scalingAdapter": st.fixed_dictionaries({}, optional={"enabled": st.booleans()}),
    }


@cache
@st.composite
def components(
    draw: st.DrawFn, *, kind: str | None = None, engine: str | None = None, multinode: bool = True, wide: bool = False
) -> Json:
    """Return a component of type *kind* (any, none included, by default) whose workers start *engine*.

    Without *multinode* it stays on one node. With *wide* it may be what only the shipped profile accepts.
    """
    chosen = draw(st.sampled_from((*TYPES, ""))) if kind is None else kind
    started = engine if chosen in WORKERS and draw(st.integers(0, 5)) else None
    content: Json = draw(st.fixed_dictionaries({}, optional=_plain_fields(started, wide=wide)))
    if chosen:
        content["componentType"] = chosen
    is_picker = chosen == "epp"
    spans_nodes = multinode and not is_picker and draw(st.booleans())
    content["extraPodSpec"] = draw(
        pods.extra_pod_specs(
            engine=started, is_picker=is_picker, must_start=spans_nodes or started is not None, wide=wide
        )
    )
    if draw(st.booleans()) or spans_nodes:
        content["resources"] = draw(quantities.component_resources())
    if spans_nodes:
        content["multinode"] = draw(st.just({}) | st.fixed_dictionaries({"nodeCount": st.integers(2, 4)}))
        content["resources"].setdefault("limits", {})["gpu"] = draw(quantities.gpu_counts())
    if is_picker:
        content["eppConfig"] = draw(picker_configs())
    elif draw(st.booleans()):
        content["replicas"] = draw(st.integers(0, 3))
    return content


@cache
def engines() -> st.SearchStrategy[str | None]:
    """Return the engine of a graph, or None."""
    return st.sampled_from((*containers.ENGINES, None))

"""Contradictions within one component, as the admission rules name them. Specification: api.md section 9.3."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_render.errors import Problem
from dynamo_render.kube import quantity
from dynamo_render.profiles import Profile
from dynamo_render.spec.component import ComponentSpec

Path = tuple["str | int", ...]

MOST_NODES = 1000


def component_problems(spec: ComponentSpec, path: Path, profile: Profile) -> Iterator[Problem]:
    """Yield every refusal and warning about *spec*, in the order of the specification's table."""
    yield from _namespace_warnings(spec, path)
    yield from _ingress_rules(spec, path)
    yield from _volume_rules(spec, path)
    yield from _shared_memory_rules(spec, path, profile)
    yield from _autoscaling_warnings(spec, path)
    if spec.component_type == "epp":
        yield from _picker_rules(spec, path)
    yield from _picker_parameter_rules(spec, path, profile)
    yield from _count_rules(spec, path)
    yield from _image_rules(spec, path, profile)


def _namespace_warnings(spec: ComponentSpec, path: Path) -> Iterator[Problem]:
    if spec.dynamo_namespace and path != ("spec",):
        message = f'is deprecated and ignored, got "{spec.dynamo_namespace}"; the namespace is computed from the graph'
        yield Problem("SVC-W01", (*path, "dynamoNamespace"), message, "remove the field", "warning")


def _ingress_rules(spec: ComponentSpec, path: Path) -> Iterator[Problem]:
    if spec.ingress and spec.ingress.enabled and not spec.ingress.host:
        yield Problem("SVC-V02", (*path, "ingress", "host"), "is required when ingress is enabled")


def _volume_rules(spec: ComponentSpec, path: Path) -> Iterator[Problem]:
    for index, mount in enumerate(spec.volume_mounts or ()):
        if not mount.mount_point and not mount.use_as_compilation_cache:
            message = "is required when useAsCompilationCache is false"
            yield Problem("SVC-V03", (*path, "volumeMounts", index, "mountPoint"), message)


def _shared_memory_rules(spec: ComponentSpec, path: Path, profile: Profile) -> Iterator[Problem]:
    shared = spec.shared_memory
    if shared is None or shared.disabled:
        return
    if shared.size is None and profile.empty_shared_memory_has_default_size:
        return
    if shared.size is None or quantity.is_zero(shared.size):
        hint = "set disabled: true to run without shared memory"
        yield Problem("SVC-V04", (*path, "sharedMemory", "size"), "is required unless disabled is true", hint)


def _autoscaling_warnings(spec: ComponentSpec, path: Path) -> Iterator[Problem]:
    if spec.autoscaling is not None:
        hint = "set scalingAdapter.enabled and let an HPA, KEDA or the planner scale the adapter"
        yield Problem("SVC-W02", (*path, "autoscaling"), "is deprecated and ignored", hint, "warning")


def _picker_rules(spec: ComponentSpec, path: Path) -> Iterator[Problem]:
    if spec.nodes > 1:
        message = f"must be absent or on one node for an EPP component, got {spec.nodes} nodes"
        yield Problem("SVC-V06", (*path, "multinode", "nodeCount"), message)
    if spec.replicas is not None and spec.replicas != 1:
        yield Problem("SVC-V07", (*path, "replicas"), f"must be 1 for an EPP component, got {spec.replicas}")
    config = spec.epp_config
    if config is None:
        yield Problem("SVC-V08", (*path, "eppConfig"), "is required for an EPP component")
    elif config.config_map_ref is None and config.config is None:
        yield Problem("SVC-V09", (*path, "eppConfig"), "must hold configMapRef or config; there is no default")
    elif config.config_map_ref is not None and config.config is not None:
        yield Problem("SVC-V10", (*path, "eppConfig"), "must hold configMapRef or config, not both")
    elif config.config_map_ref is not None and not config.config_map_ref.get("name"):
        yield Problem("SVC-V11", (*path, "eppConfig", "configMapRef", "name"), "is required")


def _picker_parameter_rules(spec: ComponentSpec, path: Path, profile: Profile) -> Iterator[Problem]:
    config = spec.epp_config and spec.epp_config.config
    if not config or profile.epp_parameters_may_be_objects:
        return
    for index, plugin in enumerate(config.get("plugins", ())):
        if not isinstance(plugin.get("parameters", ""), str):
            at = (*path, "eppConfig", "config", "plugins", index, "parameters")
            message = "must be string: the released resource definition accepts base64 text only"
            yield Problem("schema/type", at, message, "give plugins with parameters through configMapRef")


def _count_rules(spec: ComponentSpec, path: Path) -> Iterator[Problem]:
    if spec.nodes > MOST_NODES:
        message = f"must be at most {MOST_NODES}, got {spec.nodes}"
        yield Problem("count/nodes", (*path, "multinode", "nodeCount"), message)


def _image_rules(spec: ComponentSpec, path: Path, profile: Profile) -> Iterator[Problem]:
    if not spec.main_container.get("image"):
        at = (*path, "extraPodSpec", "mainContainer", "image")
        severity = "error" if profile.image_is_required else "warning"
        message = "is required: no component type has a default image"
        yield Problem("component/image", at, message, "name the runtime image of the component", severity)  # type: ignore[arg-type]

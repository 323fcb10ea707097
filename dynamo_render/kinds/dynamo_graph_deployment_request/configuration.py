"""What the profiler is told: the user's configuration, completed. controllers-other.md sections 1.3, 1.7 and 1.8.

Keys that the operator does not know stay as they are; the profiler reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dynamo_render.kube import structural, yaml_marshalled
from dynamo_render.plans.profiling import ModelCache
from dynamo_render.profiles import Profile
from dynamo_render.spec.request import RequestSpec
from dynamo_render.workloads.profiling_job import BASE_FILE, OUTPUT_DIR

_GPU_COUNTS = ("minNumGpusPerEngine", "maxNumGpusPerEngine", "numGpusPerNode")
_GPU_COUNTS_TOO = ("min_num_gpus_per_engine", "max_num_gpus_per_engine", "num_gpus_per_node")
_GO_TYPES = ((str, "string"), (bool, "bool"), (int, "int64"), (float, "float64"), (list, "[]interface {}"))


class UnusableConfiguration(Exception):
    """The configuration cannot be completed; the message names the place as released operators do."""


def is_online(spec: RequestSpec) -> bool:
    """Whether profiling runs the model, and does not only ask the AI Configurator. What is no boolean says nothing."""
    sweep = (spec.profiling_config.config or {}).get("sweep")
    if isinstance(sweep, Mapping):
        for key in ("useAiConfigurator", "use_ai_configurator"):
            if isinstance(sweep.get(key), bool):
                return not sweep[key]
    return True


def model_cache(spec: RequestSpec) -> ModelCache | None:
    """Return the claim with models that the configuration names; None without a usable name."""
    deployment = (spec.profiling_config.config or {}).get("deployment")
    cache = deployment.get("modelCache") if isinstance(deployment, Mapping) else None
    claim = cache.get("pvcName") if isinstance(cache, Mapping) else None
    if not isinstance(claim, str) or not claim or not isinstance(cache, Mapping):
        return None
    path = cache.get("mountPath")
    return ModelCache(claim, path if isinstance(path, str) and path else "/opt/model-cache")


def workers_image(spec: RequestSpec, profile: Profile) -> str:
    """Return the image that deploymentOverrides give to workers; empty without one, or where it does not count."""
    overrides = spec.deployment_overrides
    counts = spec.auto_apply or not profile.overrides_need_auto_apply
    return (overrides.workers_image or "") if overrides and counts else ""


def completed(spec: RequestSpec, namespace: str, profile: Profile) -> dict[str, Any]:
    """Return the configuration with what the spec says in its place. Raises UnusableConfiguration."""
    config = structural.copied(spec.profiling_config.config or {})
    deployment = _section(config, "deployment")
    deployment.setdefault("namespace", namespace)
    deployment["model"] = spec.model
    if image := workers_image(spec, profile):
        deployment["dgd_image"] = image
        if profile.workers_image_wins and "dgdImage" in deployment:
            deployment["dgdImage"] = image
    config.setdefault("output_dir", OUTPUT_DIR)
    engine = _section(config, "engine")
    engine["backend"] = spec.backend
    if spec.profiling_config.config_map_ref is not None:
        engine["config"] = BASE_FILE
    hardware = config.get("hardware")
    if spec.enable_gpu_discovery and profile.discovery_beats_hardware and isinstance(hardware, dict):
        for key in (*_GPU_COUNTS, *_GPU_COUNTS_TOO):
            hardware.pop(key, None)
    return config  # type: ignore[no-any-return]


def text(spec: RequestSpec, namespace: str, profile: Profile) -> str:
    """Return the completed configuration as the profiler gets it. Raises UnusableConfiguration."""
    return yaml_marshalled.marshalled(completed(spec, namespace, profile))


def _section(config: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a section of *config*, made where it is missing."""
    if config.get(name) is None:
        config[name] = {}
    section = config[name]
    if not isinstance(section, dict):
        found = next(word for kind, word in _GO_TYPES if isinstance(section, kind))
        raise UnusableConfiguration(f"profilingConfig.config.{name} must be an object, got {found}")
    return section

"""What is refused in a DynamoGraphDeploymentRequest by itself. Specification: api.md sections 9.6 and 12."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dynamo_render.errors import Problem
from dynamo_render.kinds.contract import Reading
from dynamo_render.kinds.shared import envelope
from dynamo_render.kube.schema_nodes import Findings
from dynamo_render.profiles import Profile
from dynamo_render.settings import OperatorSettings
from dynamo_render.spec import structure
from dynamo_render.spec.request import RequestSpec

LONGEST_NAME = 55

STARTED = ("Pending", "Profiling", "Deploying", "Ready", "DeploymentDeleted")
"""States in which profiling has started, so that another spec would come too late."""

STARTED_FROM = "dgdr.nvidia.com/started-from"
"""Annotation with the spec that profiling started from, as JSON: edits after that are refused, and can be reverted."""

_CONFIG = ("spec", "profilingConfig", "config")


def read(resource: Mapping[str, Any], profile: Profile) -> Reading:
    """Return a request with everything that structure and admission find wrong with it."""
    return envelope.read(resource, profile, RequestSpec, _problems)


def settings_problems(reading: Reading, settings: OperatorSettings) -> Iterator[Problem]:
    """Yield what an operator with these settings refuses."""
    if reading.spec.enable_gpu_discovery and settings.restricted_namespace:
        hint = (
            "set it to false and give hardware.min_num_gpus_per_engine, hardware.max_num_gpus_per_engine and "
            "hardware.num_gpus_per_node in profilingConfig.config"
        )
        message = "is for cluster-wide operators only"
        yield Problem("DGDR-V03", ("spec", "enableGpuDiscovery"), message, hint)


def name_problems(reading: Reading) -> Iterator[Problem]:
    """Yield a name that leaves no room for that of the profiling Job."""
    name = reading.metadata.name or ""
    if len(name) > LONGEST_NAME:
        message = f'the Job "profile-{name}" would have {len(name) + 8} characters, the limit is 63'
        hint = f"shorten the name by {len(name) - LONGEST_NAME}"
        yield Problem("names/request", ("metadata", "name"), message, hint)


def updates(old: Reading, new: Reading, _user: str) -> Iterator[tuple[Problem, ...]]:
    """Yield the refusal of a change to the spec that profiling has started from; taking one back is fine."""
    state = old.status.get("state")
    if state not in STARTED or old.spec == new.spec or _is_reverted(old, new):
        return
    message = f'cannot be changed in state "{state}": profiling has started from it'
    yield (Problem("DGDR-U01", ("spec",), message, "create another request, under another name"),)


def _is_reverted(old: Reading, new: Reading) -> bool:
    """Whether *new* is what profiling started from, and *old*, which slipped through, is not."""
    text = (old.metadata.annotations or {}).get(STARTED_FROM)
    try:
        started = json.loads(text) if text else None
    except ValueError:
        return False
    decoded = structure.decoder_of(RequestSpec)(started, (None, "spec"), Findings()) if started else None
    return bool(decoded == new.spec)


def _problems(spec: RequestSpec, _profile: Profile) -> Iterator[Problem]:
    profiling = spec.profiling_config
    if profiling is None:
        return  # the schema asks for it, and says so
    if profiling.profiler_image == "":
        yield Problem("DGDR-V01", ("spec", "profilingConfig", "profilerImage"), "is required")
    config = profiling.config
    if config is None:
        yield Problem("DGDR-V02", _CONFIG, "is required", "an empty config is written {}")
        return
    for section in ("deployment", "engine"):
        if config.get(section) is not None and not isinstance(config[section], Mapping):
            yield Problem("CTL-33", (*_CONFIG, section), "must be an object")
    yield from _contradictions(config, spec)


def _contradictions(config: Mapping[str, Any], spec: RequestSpec) -> Iterator[Problem]:
    for rule, section, field, wins, value in (
        ("DGDR-W01", "engine", "backend", "spec.backend", spec.backend),
        ("DGDR-W02", "deployment", "model", "spec.model", spec.model),
    ):
        holder = config.get(section)
        given = holder.get(field) if isinstance(holder, Mapping) else None
        if given and isinstance(given, str) and given != value:
            message = f'"{given}" is not used: {wins} is "{value}" and wins'
            yield Problem(rule, (*_CONFIG, section, field), message, "leave it out", "warning")

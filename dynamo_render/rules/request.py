"""Rules for requests."""

from __future__ import annotations

from dynamo_render.rules.contract import Json, Rule, rule, warning

_SECTION = "api.md 9.6"


def _profiling(**fields: object) -> Json:
    return {"spec": {"profilingConfig": fields}}


RULES: tuple[Rule, ...] = (
    rule("DGDR-V01", "A request names the profiler image.", _SECTION, base="request", bad=_profiling(profilerImage="")),
    rule(
        "DGDR-V02",
        "A request has a profiling configuration, which may be empty.",
        _SECTION,
        base="request",
        bad=_profiling(config=None),
    ),
    rule(
        "DGDR-V03",
        "Only a cluster-wide operator discovers GPUs.",
        _SECTION,
        base="request",
        settings={"restricted_namespace": "team"},
        bad={"spec": {"enableGpuDiscovery": True}},
    ),
    warning(
        "DGDR-W01",
        "spec.backend wins over the backend in the configuration.",
        _SECTION,
        base="request",
        bad=_profiling(config={"engine": {"backend": "sglang"}}),
        good=_profiling(config={"engine": {"backend": "vllm"}}),
    ),
    warning(
        "DGDR-W02",
        "spec.model wins over the model in the configuration.",
        _SECTION,
        base="request",
        bad=_profiling(config={"deployment": {"model": "acme/other"}}),
        good=_profiling(config={"deployment": {"model": "acme/chat"}}),
    ),
    rule(
        "DGDR-U01",
        "The spec of a request cannot be changed once profiling has started from it.",
        "decisions.md 3",
        base="request",
        old={"status": {"state": "Profiling"}},
        bad={"spec": {"model": "acme/other"}},
    ),
    rule(
        "CTL-33",
        "deployment and engine of the configuration are objects.",
        "api.md 9.7",
        base="request",
        bad=_profiling(config={"engine": "vllm"}),
        good=_profiling(config={"engine": {}}),
    ),
    rule(
        "names/request",
        "The name of a request leaves room for that of its profiling Job.",
        "api.md 12",
        base="request",
        bad={"metadata": {"name": "a" * 56}},
        good={"metadata": {"name": "a" * 55}},
    ),
)

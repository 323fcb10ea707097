"""The first stage: whether a request is valid, and what it refers to is there. controllers-other.md section 1.4."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_render.errors import field_path
from dynamo_render.kinds.dynamo_graph_deployment_request import configuration
from dynamo_render.kinds.dynamo_graph_deployment_request.plan import base_of
from dynamo_render.kinds.dynamo_graph_deployment_request.request import STARTED_FROM, Request, started_from
from dynamo_render.kinds.dynamo_graph_deployment_request.telling import told, with_conditions
from dynamo_render.kinds.dynamo_graph_deployment_request.transitions import Told
from dynamo_render.kinds.shared.machine import Annotate, Lookup, Seen, Step

_NO_DISCOVERY = (
    "spec.enableGpuDiscovery can only be set to true for cluster-wide operators. Namespace-restricted operators cannot "
    "access cluster nodes for GPU discovery. Please set enableGpuDiscovery to false and provide hardware configuration "
    "(hardware.min_num_gpus_per_engine, hardware.max_num_gpus_per_engine, hardware.num_gpus_per_node) in "
    "spec.profilingConfig.config"
)
_VALID = Told("Validation", True, "ValidationPassed", "The request is valid, and what it refers to is there")
_OWN_WORDS = ("DGDR-", "CTL-")


def lookups(request: Request) -> Iterator[Lookup]:
    """Yield what the request refers to."""
    if base := _base(request):
        yield base
    yield from (lookup for lookup, _text in _claims(request))


def advance(request: Request, seen: Seen) -> Step:
    """Return the way out of the first stage; a transient error of a lookup never comes here."""
    text = "\n".join(_of_spec(request)) or next(_of_surroundings(request, seen), "")
    if text:
        return told(request, "T3", text=text)
    start = Annotate("start", {STARTED_FROM: started_from(request.resource)})
    fields = {"observedGeneration": request.generation or None, "backend": request.spec.backend}
    if request.profile.validation_success_is_told:
        fields |= with_conditions({}, [_VALID], request.generation, {})
    return told(request, "T2", actions=(start,), fields=fields)


def _of_spec(request: Request) -> Iterator[str]:
    """Yield what is wrong with the spec alone; what the API server refuses is told in its words."""
    for problem in request.reading.problems:
        if problem.severity == "error" and not problem.rule.startswith(_OWN_WORDS):
            yield f"{field_path(problem.path)} {problem.message}"
    profiling = request.spec.profiling_config
    if not profiling.profiler_image:
        yield "spec.profilingConfig.profilerImage is required"
    if profiling.config is None:
        yield "spec.profilingConfig.config is required and must not be empty"
    if request.spec.enable_gpu_discovery and request.settings.restricted_namespace:
        yield _NO_DISCOVERY


def _of_surroundings(request: Request, seen: Seen) -> Iterator[str]:
    """Yield what the request refers to and is known not to be there."""
    lookup, base = _base(request), base_of(request.spec.profiling_config)
    if lookup is not None and base is not None and seen.knows(lookup):
        name, key = base
        found = seen.one(lookup)
        if found is None:
            yield f"ConfigMap {name} not found in namespace {request.namespace}"
        elif key not in (found.get("data") or {}):
            yield f"key {key} not found in ConfigMap {name}"
    for claim, text in _claims(request):
        if seen.knows(claim) and seen.one(claim) is None:
            yield text


def _base(request: Request) -> Lookup | None:
    base = base_of(request.spec.profiling_config)
    return None if base is None else Lookup("v1", "ConfigMap", request.namespace, base[0])


def _claims(request: Request) -> Iterator[tuple[Lookup, str]]:
    """Yield the claims that must be there, each with what to say when it is not."""
    profiling = request.spec.profiling_config
    where = f"not found in namespace {request.namespace}"
    if cache := configuration.model_cache(request.spec):
        yield _claim(request, cache.claim), f"model cache PVC {cache.claim} {where}"
    if request.profile.output_claim_must_exist and profiling.output_pvc:
        yield _claim(request, profiling.output_pvc), f"output PVC {profiling.output_pvc} {where}"


def _claim(request: Request, name: str) -> Lookup:
    return Lookup("v1", "PersistentVolumeClaim", request.namespace, name)

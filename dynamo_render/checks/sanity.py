"""What is accepted and still hardly meant: workers without GPUs, too little time to start, values that lose."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from dynamo_render.backends import detect
from dynamo_render.checks.parts import Part, PartPod, main_container
from dynamo_render.components import component_type
from dynamo_render.errors import Problem
from dynamo_render.kube.patterns import pattern
from dynamo_render.spec.graph import GraphSpec

Json = Mapping[str, Any]

BYTES_PER_SECOND = 250_000_000
BYTES_PER_PARAMETER = 2

_PARAMETERS = pattern(r"(?i)(?<![A-Za-z0-9.])(\d{1,4}(?:\.\d+)?)B(?![A-Za-z0-9])")
_SMALL_WEIGHTS = pattern(r"(?i)fp8|w8a8|int8|fp4|mxfp4|nvfp4|awq|gptq|int4|w4a16")
_MODEL_OPTIONS = ("--model", "--model-path", "--model-name", "--served-model-name")
_MINUTE = 60


def graph_problems(spec: GraphSpec) -> Iterator[Problem]:
    """Yield claims that a graph lists twice: the second says nothing."""
    seen: set[str] = set()
    for index, claim in enumerate(spec.pvcs or ()):
        if claim.name and claim.name in seen:
            message = f'"{claim.name}" is listed twice; the second entry has no effect'
            yield Problem("sanity/duplicate-claim", ("spec", "pvcs", index, "name"), message, None, "warning")
        seen.add(claim.name)


def gpu_problems(part: Part) -> Iterator[Problem]:
    """Yield the numbers of GPUs that a component requests and may use, if they differ."""
    resources = part.spec.resources
    requested = resources.requests.gpu if resources and resources.requests else None
    limit = resources.limits.gpu if resources and resources.limits else None
    if requested and requested != limit:
        message = f"requests {requested} GPUs with a limit of {limit or 'none'}: GPUs are never shared"
        path = (*part.path, "resources", "requests", "gpu")
        yield Problem("sanity/gpu-mismatch", path, message, "set limits.gpu and leave the request out", "warning")


def pod_problems(pod: PartPod) -> Iterator[Problem]:
    """Yield what is doubtful about the pod of a component in one role."""
    container = main_container(pod)
    yield from _replaced_values(pod, container)
    if component_type(pod.part.spec.component_type or "").runs_engine and _starts_engine(pod.part):
        yield from _without_gpu(pod, container)
        yield from _start_budget(pod, container)


def _starts_engine(part: Part) -> bool:
    own = part.spec.main_container
    return bool(detect.detected(own.get("command", ()), own.get("args", ())))


def _without_gpu(pod: PartPod, container: Json) -> Iterator[Problem]:
    resources = container.get("resources") or {}
    names = {*(resources.get("limits") or ()), *(resources.get("requests") or ())}
    has_device = any("/" in name for name in names)
    if not has_device and not resources.get("claims"):
        path = (*pod.part.path, "resources", "limits", "gpu")
        message = "is missing: the worker runs an engine and gets no GPU"
        yield Problem("sanity/no-gpu", path, message, 'set resources.limits.gpu: "1" or more', "warning")


def _start_budget(pod: PartPod, container: Json) -> Iterator[Problem]:
    """Yield a problem if the kubelet would end the container before a model of its size can be loaded."""
    name, probe = next(
        ((name, container[name]) for name in ("startupProbe", "livenessProbe") if container.get(name)), (None, None)
    )
    size = _model_bytes(container)
    if name is None or probe is None or size is None:
        return
    budget = probe.get("initialDelaySeconds", 0) + (probe.get("periodSeconds") or 10) * (
        probe.get("failureThreshold") or 3
    )
    needed = size // BYTES_PER_SECOND
    if budget < needed:
        at: tuple[str, ...] = ("extraPodSpec", "mainContainer", name)
        if name == "livenessProbe" and pod.part.spec.liveness_probe is not None:
            at = (name,)
        message = (
            f"ends the container after {budget} s, and loading about {size // 10**9} GB takes about {needed} s at "
            f"{BYTES_PER_SECOND // 10**6} MB/s"
        )
        hint = f"give a startupProbe with failureThreshold x periodSeconds of at least {needed + _MINUTE} s"
        yield Problem("sanity/start-budget", (*pod.part.path, *at), message, hint, "warning")


def _model_bytes(container: Json) -> int | None:
    """Return how large the weights of the model on the command line are by its name, or None where it does not say."""
    words = " ".join((*container.get("command", ()), *container.get("args", ()))).replace("=", " ").split()
    for option, value in itertools.pairwise(words):
        if option in _MODEL_OPTIONS:
            found = _PARAMETERS.search(value)
            if found:
                per_parameter = 1 if _SMALL_WEIGHTS.search(value) else BYTES_PER_PARAMETER
                return int(float(found[1]) * 10**9 * per_parameter)
    return None


def _replaced_values(pod: PartPod, container: Json) -> Iterator[Problem]:
    """Yield single values that a user wrote and that another one takes the place of; commands and lists are merged."""
    main, own = pod.part.spec.main_container, pod.part.spec.pod
    for holder, given, made in (((), own, pod.spec), (("mainContainer",), main, container)):
        for field, value in given.items():
            result = made.get(field)
            if isinstance(value, str | int) and value and result is not None and result != value:
                path = (*pod.part.path, "extraPodSpec", *holder, field)
                message = f'"{value}" is not used: the operator sets "{result}"'
                yield Problem("sanity/replaced", path, message, "leave it out", "warning")

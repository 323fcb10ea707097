"""The third stage: what became of the Job, and what is made of its output. controllers-other.md 1.11 to 1.13."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dynamo_render.kinds.dynamo_graph_deployment_request import output, starting
from dynamo_render.kinds.dynamo_graph_deployment_request.output import Output, UnusableOutput
from dynamo_render.kinds.dynamo_graph_deployment_request.request import ADDITIONAL, Request
from dynamo_render.kinds.dynamo_graph_deployment_request.telling import LONGEST_EVENT, told
from dynamo_render.kinds.shared.machine import Action, Annotate, Create, Event, Lookup, Seen, Step
from dynamo_render.kube import live
from dynamo_render.kube.live import Object
from dynamo_render.kube.manifest import Manifest
from dynamo_render.workloads.profiling_job import MANAGER, MANAGER_LABEL, NAME_LABEL, job_name, output_name

NAMESPACE_LABEL = "dgdr.nvidia.com/namespace"


def lookups(request: Request, seen: Seen) -> Iterator[Lookup]:
    """Yield the Job; the pods of one that failed; the output of one that completed."""
    yield starting.job_lookup(request)
    match _end_of(seen.one(starting.job_lookup(request))):
        case "Failed", _message:
            yield _pods(request)
        case "Complete", _message:
            yield starting.output_lookup(request)


def advance(request: Request, seen: Seen) -> Step:
    """Return what the Job leads to. A Job that nobody has looked for counts as running."""
    lookup = starting.job_lookup(request)
    job = seen.one(lookup)
    if job is None and seen.knows(lookup):
        return told(request, "T7", text=f'Job.batch "{job_name(request.name)}" not found')
    match _end_of(job):
        case "Failed", message:
            details = _details(seen.all(_pods(request)))
            told_details = f". Details: {details}" if details else ""
            return told(request, "T7", text=f"profiling job failed: {message}{told_details}")
        case "Complete", _message:
            return _completed(request, seen)
    return told(request, "T6")


def tracking_labels(request: Request) -> dict[str, str]:
    """Return the labels by which what a request has made is told, and finds it."""
    return {NAME_LABEL: request.name, NAMESPACE_LABEL: request.namespace, MANAGER_LABEL: MANAGER}


def target_namespace(request: Request) -> str:
    """Return where the graph and what belongs to it are made."""
    return request.overrides.namespace or request.namespace


def _end_of(job: Object | None) -> tuple[str, str]:
    """Return the first condition of a Job that says how it ended, and its message; both empty before that."""
    for condition in live.status(job).get("conditions") or () if job is not None else ():
        if condition.get("type") in {"Complete", "Failed"} and condition.get("status") == "True":
            return condition["type"], condition.get("message") or ""
    return "", ""


def _pods(request: Request) -> Lookup:
    return Lookup("v1", "Pod", request.namespace, labels=(("job-name", job_name(request.name)),))


def _details(pods: tuple[Object, ...]) -> str:
    """Return what the first failed pod says of its profiler; empty when none says anything."""
    for pod in pods:
        status = live.status(pod)
        if status.get("phase") != "Failed":
            continue
        states = [
            each.get("state") or {} for each in status.get("containerStatuses") or () if each.get("name") == "profiler"
        ]
        head = f"Pod: {pod['metadata']['name']}, Container: profiler, "
        for state in states:
            if ended := state.get("terminated"):
                return head + _terminated(ended)
        for state in states:
            if waiting := state.get("waiting"):
                return f"{head}Waiting - Reason: {waiting.get('reason', '')}, Message: {waiting.get('message', '')}"
    return ""


def _terminated(ended: Mapping[str, Any]) -> str:
    message = f", Message: {ended['message']}" if ended.get("message") else ""
    return f"ExitCode: {ended.get('exitCode', 0)}, Reason: {ended.get('reason', '')}{message}"


def _completed(request: Request, seen: Seen) -> Step:
    lookup = starting.output_lookup(request)
    if not seen.knows(lookup):
        return told(request, "T6")
    try:
        result = output.read(request, seen.one(lookup), request.inputs.judge)
    except UnusableOutput as error:
        return told(request, "T8", text=str(error))
    return _generated(request, result, seen)


def _generated(request: Request, result: Output, seen: Seen) -> Step:
    """Return the actions that keep what was generated and, when they have outcomes, the end of profiling."""
    actions: list[Action] = []
    if result.beside:
        actions.append(Annotate("additional resources", {ADDITIONAL: result.beside}))
    trouble: tuple[Event, ...] = ()
    for index, made in enumerate(_config_maps(request, result.beside or request.annotation(ADDITIONAL))):
        create = Create(f"ConfigMap {index}", made, owned=False)
        actions.append(create)
        outcome = seen.outcomes.get(create.id)
        if outcome is None:
            break
        if outcome.sort == "refused":
            text = f"failed to create ConfigMap {made['metadata']['name']}: {outcome.text}"
            message = f"Failed to create ConfigMaps from profiling output: {text}"
            trouble = (Event("Warning", "ConfigMapCreationFailed", message[:LONGEST_EVENT]),)
            break
    step = Step(actions=tuple(actions))
    if step.waiting(seen):
        return step
    fields = {
        "generatedDeployment": result.graph,
        "profilingResults": f"configmap/{output_name(request.name)}",
    }
    row = "T9" if request.spec.auto_apply else "T10"
    return told(request, row, actions=step.actions, fields=fields, more=trouble)


def _config_maps(request: Request, beside: str) -> Iterator[Manifest]:
    """Yield the ConfigMaps among the objects beside the graph as they are made for the request."""
    for found in output.objects(beside):
        metadata = found.get("metadata")
        if found["kind"] != "ConfigMap" or not isinstance(metadata, dict) or not _is_config_map(found):
            continue
        labels = {**(metadata.get("labels") or {}), **tracking_labels(request)}
        placed = {**metadata, "namespace": target_namespace(request), "labels": labels}
        yield {"apiVersion": "v1", **found, "metadata": placed}


def _is_config_map(found: Manifest) -> bool:
    """Whether an object has the types of a ConfigMap, as far as they decide whether it can be made."""
    metadata = found["metadata"]
    texts = (found.get("data"), found.get("binaryData"), metadata.get("labels"), metadata.get("annotations"))
    return isinstance(metadata.get("name"), str) and all(
        each is None or (isinstance(each, dict) and all(isinstance(value, str) for value in each.values()))
        for each in texts
    )

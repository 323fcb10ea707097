"""The pods that rendered objects lead to: what each container runs, and in which environment.

Takes rendered objects and nothing else; beside `dynamo_render.pipeline`, which it does not know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dynamo_render.kube import expansion, structural
from dynamo_render.kube.manifest import Manifest
from dynamo_render.workloads import WORKLOADS
from dynamo_render.workloads.contract import EffectivePod

_PODS_OF = {workload.kind: workload.pods for workload in WORKLOADS.values() if workload.pods}


def pods(objects: Iterable[Manifest]) -> Iterator[dict[str, Any]]:
    """Yield one plain mapping for every role and rank that *objects* run, in their order.

    Commands and variables are expanded as the kubelet expands them, as far as values are known without a cluster; the
    rest stays ``$(NAME)``. Of several equal replicas only the first is shown.
    """
    for workload in objects:
        if pods_of := _PODS_OF.get(workload["kind"]):
            for pod in pods_of(workload):
                yield _shown_pod(workload, pod)


def _shown_pod(workload: Manifest, pod: EffectivePod) -> dict[str, Any]:
    metadata = workload["metadata"]
    shown: dict[str, Any] = {
        "component": pod.component,
        "role": pod.role,
        "rank": pod.rank,
        "pod": pod.name,
        "namespace": metadata["namespace"],
        "workload": f"{workload['kind']}/{metadata['name']}",
    }
    for part in ("initContainers", "containers"):
        if containers := pod.spec.get(part):
            shown[part] = [_shown_container(container, workload, pod) for container in containers]
    return shown


def _shown_container(container: Mapping[str, Any], workload: Manifest, pod: EffectivePod) -> dict[str, Any]:
    import shlex  # noqa: PLC0415 - only needed when pods are shown

    own = container.get("env") or ()
    added = _added_variables(own, pod)
    entries = (*own, *added) if pod.runtime_env_is_appended else (*added, *own)
    environment = expansion.variables(entries, _known_fields(workload, pod))
    known = expansion.known_values(environment)
    argv = [expansion.expanded(word, known) for part in ("command", "args") for word in container.get(part) or ()]
    shown = {"name": container["name"], "image": container.get("image", "")}
    if not container.get("command"):
        shown["entrypoint"] = "of the image"
    if container.get("workingDir"):
        shown["workingDir"] = container["workingDir"]
    set_by = {entry["name"]: workload["kind"] for entry in added}
    shown["commandLine"] = shlex.join(argv)
    shown["argv"] = argv
    shown["env"] = [_shown_variable(variable, set_by.get(variable.name)) for variable in environment]
    if container.get("envFrom"):
        shown["envFrom"] = structural.copied(container["envFrom"])
    return shown


def _added_variables(own: Iterable[Mapping[str, Any]], pod: EffectivePod) -> list[dict[str, str]]:
    """Return the entries that the orchestrator adds to those that a container has."""
    named = () if pod.runtime_env_is_appended else {entry["name"] for entry in own}
    return [{"name": name, "value": value} for name, value in pod.runtime_env.items() if name not in named]


def _known_fields(workload: Manifest, pod: EffectivePod) -> dict[str, str]:
    """Return the values of field references that do not wait for a pod; the name of a pod gets its last part later."""
    return {
        "metadata.namespace": workload["metadata"]["namespace"],
        "spec.serviceAccountName": pod.spec.get("serviceAccountName") or "default",
    }


def _shown_variable(variable: expansion.Variable, set_by: str | None) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": variable.name}
    if variable.value is not None:
        shown["value"] = variable.value
    if variable.source is not None:
        shown["valueFrom"] = structural.copied(variable.source)
    if set_by is not None:
        shown["setBy"] = set_by
    return shown

"""What Grove and LeaderWorkerSet refuse in the objects that are made for them. Specification: api.md 9.7 and 12."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dynamo_render.checks.parts import Part, PartPod
from dynamo_render.errors import Problem
from dynamo_render.kube import names
from dynamo_render.kube.manifest import Manifest

REVISION_HASH = 10
_NOT_IN_CLIQUES = ("topologySpreadConstraints", "nodeName")


def grove_problems(pods: Iterable[PartPod], objects: Iterable[Manifest]) -> Iterator[Problem]:
    """Yield what Grove refuses: groups without replicas, several schedulers, pod fields that it sets itself."""
    cliques = [pod for pod in pods if pod.kind == "PodCliqueSet"]
    yield from _scheduler_problems(cliques)
    for pod in cliques:
        for field in _NOT_IN_CLIQUES:
            if pod.spec.get(field):
                path = (*pod.part.path, "extraPodSpec", field)
                hint = "take it out, or leave Grove with the annotation nvidia.com/enable-grove: 'false'"
                yield Problem("provider/grove-pod", path, "is refused by Grove, which places pods itself", hint)
    by_group = {pod.part.service.lower(): pod.part for pod in cliques}
    for made in objects:
        if made["kind"] == "PodCliqueSet":
            for group in made["spec"]["template"].get("podCliqueScalingGroups", ()):
                if group.get("replicas") == 0:
                    path = (*by_group[group["name"]].path, "replicas")
                    message = "must be 1 or more: Grove refuses a scaling group of several nodes with 0 replicas"
                    yield Problem("provider/grove-replicas", path, message, "delete the service to stop it")


def _scheduler_problems(cliques: Iterable[PartPod]) -> Iterator[Problem]:
    first: PartPod | None = None
    for pod in cliques:
        first = first or pod
        mine, others = _scheduler(pod), _scheduler(first)
        if mine != others:
            message = f'"{mine}" differs from "{others}" of service "{first.part.service}": Grove wants one for all'
            yield Problem("provider/grove-scheduler", (*pod.part.path, "extraPodSpec", "schedulerName"), message)


def _scheduler(pod: PartPod) -> str:
    return pod.spec.get("schedulerName") or "default-scheduler"


def leader_worker_set_problems(parts: Iterable[Part], objects: Iterable[Manifest]) -> Iterator[Problem]:
    """Yield names that leave no room for what a LeaderWorkerSet appends to them.

    Its groups are StatefulSets called ``NAME-GROUP``, whose pods have a label with that name and a revision hash.
    """
    by_name = {part.name: part for part in parts}
    for made in objects:
        if made["kind"] == "LeaderWorkerSet":
            name = made["metadata"]["name"]
            part = by_name[name.rpartition("-")[0]]
            revision = len(f"{name}-0") + 1 + REVISION_HASH
            if revision > names.MAX_LABEL_VALUE:
                excess = revision - names.MAX_LABEL_VALUE
                message = f'the revision of the StatefulSet "{name}-0" has {revision} characters, the limit is 63'
                yield Problem("provider/lws-name", part.path, message, f"shorten graph and service by {excess} in all")

"""What an API server refuses in a rendered pod. Paths lead from the pod down; nothing here knows Dynamo."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dynamo_render.checks.containers import choice_problems, container_problems
from dynamo_render.checks.handlers import PROBES
from dynamo_render.errors import Problem
from dynamo_render.kube import names

Path = tuple["str | int", ...]
Json = Mapping[str, Any]

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "restartPolicy": ("Always", "OnFailure", "Never"),
    "dnsPolicy": ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
    "preemptionPolicy": ("Never", "PreemptLowerPriority"),
}
_TOLERATION_CHOICES = {
    "operator": ("Exists", "Equal", "Lt", "Gt"),
    "effect": ("NoSchedule", "PreferNoSchedule", "NoExecute"),
}
_SPREAD_CHOICES = {
    "whenUnsatisfiable": ("DoNotSchedule", "ScheduleAnyway"),
    "nodeAffinityPolicy": ("Honor", "Ignore"),
    "nodeTaintsPolicy": ("Honor", "Ignore"),
}
_NAMES: Mapping[str, Callable[[str], str | None]] = {
    "serviceAccountName": names.why_not_dns_subdomain,
    "priorityClassName": names.why_not_dns_subdomain,
    "nodeName": names.why_not_dns_subdomain,
    "runtimeClassName": names.why_not_dns_subdomain,
    "hostname": names.why_not_dns_label,
    "subdomain": names.why_not_dns_label,
}
# Of other texts, an empty one counts as not given.
_NOT_EMPTY = ("preemptionPolicy", "runtimeClassName")
_RESTARTING = frozenset({"Deployment", "LeaderWorkerSet"})


def pod_problems(pod: Json, kind: str) -> Iterator[Problem]:
    """Yield what is wrong with the pod template *pod* of a workload of *kind*."""
    yield from _field_problems(pod, kind)
    yield from _text_problems(pod)
    yield from _placement_problems(pod)
    yield from _volume_problems(pod)
    yield from _label_problems(pod)
    volumes = frozenset(volume.get("name", "") for volume in pod.get("volumes", ()))
    seen: Counter[str] = Counter()
    for holder in ("initContainers", "containers"):
        for index, container in enumerate(pod.get(holder, ())):
            path = (holder, index)
            seen[container.get("name", "")] += 1
            if seen[container.get("name", "")] > 1:
                message = f'two containers of the pod are called "{container.get("name", "")}"'
                yield Problem("pod/duplicate", (*path, "name"), message)
            yield from container_problems(container, path, volumes)
            if holder == "initContainers":
                yield from _init_problems(container, path)


def _field_problems(pod: Json, kind: str) -> Iterator[Problem]:
    yield from choice_problems(pod, (), _CHOICES)
    policy = pod.get("restartPolicy")
    if kind in _RESTARTING and policy in {"OnFailure", "Never"}:
        yield Problem("pod/value", ("restartPolicy",), f'must be Always in a {kind}, got "{policy}"')
    grace = pod.get("terminationGracePeriodSeconds")
    if grace is not None and grace < 0:
        message = f"must be 0 or more, got {grace}; a cluster reads it as 1"
        yield Problem("pod/grace-period", ("terminationGracePeriodSeconds",), message, None, "warning")
    deadline = pod.get("activeDeadlineSeconds")
    if deadline is not None:
        message = f"must be 1 or more, got {deadline}" if deadline < 1 else f"must not be set in a {kind}"
        if deadline < 1 or kind in _RESTARTING:
            yield Problem("pod/value", ("activeDeadlineSeconds",), message)
    if pod.get("ephemeralContainers"):
        yield Problem("pod/value", ("ephemeralContainers",), "must not be given: they are added to running pods only")


def _text_problems(pod: Json) -> Iterator[Problem]:
    for field, why_not in _NAMES.items():
        reason = why_not(pod[field]) if pod.get(field) else None
        if reason:
            yield Problem("pod/name", (field,), f'"{pod[field]}" is no legal name: {reason}')
    for field in _NOT_EMPTY:
        if pod.get(field) == "":
            yield Problem("pod/value", (field,), "must not be empty", "leave it out")


def _placement_problems(pod: Json) -> Iterator[Problem]:
    for index, toleration in enumerate(pod.get("tolerations", ())):
        yield from _toleration_problems(toleration, ("tolerations", index))
    for index, spread in enumerate(pod.get("topologySpreadConstraints", ())):
        yield from _spread_problems(spread, ("topologySpreadConstraints", index))


def _toleration_problems(toleration: Json, path: Path) -> Iterator[Problem]:
    yield from choice_problems(toleration, path, _TOLERATION_CHOICES)
    if not toleration.get("key") and toleration.get("operator") != "Exists":
        hint = "name the taint's key, or set operator: Exists to tolerate all taints"
        yield Problem("pod/value", (*path, "operator"), "must be Exists where no key is given", hint)
    if toleration.get("tolerationSeconds") is not None and toleration.get("effect") != "NoExecute":
        yield Problem("pod/value", (*path, "effect"), "must be NoExecute where tolerationSeconds is given")


def _spread_problems(spread: Json, path: Path) -> Iterator[Problem]:
    yield from choice_problems(spread, path, _SPREAD_CHOICES)
    if not spread.get("whenUnsatisfiable"):
        yield Problem("pod/value", (*path, "whenUnsatisfiable"), "is required")
    if spread.get("maxSkew", 0) < 1:
        yield Problem("pod/value", (*path, "maxSkew"), f"must be 1 or more, got {spread.get('maxSkew', 0)}")
    reason = names.why_not_qualified_name(spread.get("topologyKey", ""))
    if reason:
        yield Problem("pod/label", (*path, "topologyKey"), f"is no legal label key: {reason}")


def _volume_problems(pod: Json) -> Iterator[Problem]:
    taken: set[str] = set()
    for index, volume in enumerate(pod.get("volumes", ())):
        at, name = ("volumes", index), volume.get("name", "")
        reason = names.why_not_dns_label(name)
        if reason:
            yield Problem("pod/name", (*at, "name"), f'"{name}" is no legal volume name: {reason}')
        if name in taken:
            yield Problem("pod/duplicate", (*at, "name"), f'two volumes of the pod are called "{name}"')
        taken.add(name)
        sources = sorted(key for key in volume if key != "name")
        if len(sources) > 1:
            yield Problem("pod/volume", at, f"must have one source only, got {' and '.join(sources)}")


def _label_problems(pod: Json) -> Iterator[Problem]:
    for key, value in (pod.get("nodeSelector") or {}).items():
        reason = names.why_not_qualified_name(key) or names.why_not_label_value(value)
        if reason:
            yield Problem("pod/label", ("nodeSelector", key), f'no node can have the label {key}="{value}": {reason}')


def _init_problems(container: Json, path: Path) -> Iterator[Problem]:
    if container.get("restartPolicy") == "Always":
        return
    for name in (*PROBES, "lifecycle"):
        if container.get(name) is not None:
            hint = "set restartPolicy: Always to make it a sidecar"
            yield Problem(
                "pod/value", (*path, name), "must not be set for a container that ends before the others", hint
            )

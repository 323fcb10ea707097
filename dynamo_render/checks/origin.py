"""Where a user wrote what stands at a path of a rendered pod, so that problems point there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dynamo_render.checks.parts import Part, PartPod, Path
from dynamo_render.pods.resources import GPU

_MAIN = ("extraPodSpec", "mainContainer")
_COMPONENT_PROBES = ("livenessProbe", "readinessProbe")


def origin(pod: PartPod, path: Path) -> Path:
    """Return the path in the resource for *path* in its rendered pod.

    For what no user wrote it is where a user would write it.
    """
    part, head = pod.part, path[:1]
    if head == ("containers",) and len(path) > 1 and isinstance(path[1], int):
        own = len(part.spec.pod.get("containers", ()))
        if path[1] == own:
            return _of_main_container(pod, path)
    elif head == ("volumes",) and len(path) > 1 and isinstance(path[1], int):
        return _of_volume(pod, path)
    return (*part.path, "extraPodSpec", *path)


def _of_main_container(pod: PartPod, path: Path) -> Path:
    """Return where a field of the main container comes from: the component's own fields, or its mainContainer."""
    part, inner = pod.part, path[2:]
    field = inner[0] if inner else None
    container = pod.spec["containers"][path[1]]
    if field in _COMPONENT_PROBES and inner[0] in _probes(part):
        return (*part.path, *inner)
    if field == "resources" and inner[2:]:
        return _of_amount(part, inner)
    if field in {"env", "volumeMounts"} and len(inner) > 1 and isinstance(inner[1], int):
        entry = container[field][inner[1]]
        return (_of_variable if field == "env" else _of_mount)(part, entry, inner)
    return (*part.path, *_MAIN, *inner)


def _probes(part: Part) -> set[str]:
    given = {"livenessProbe": part.spec.liveness_probe, "readinessProbe": part.spec.readiness_probe}
    return {name for name, probe in given.items() if probe is not None}


def _of_amount(part: Part, inner: Path) -> Path:
    """Return where an amount comes from: a named field of ``resources``, one of its custom ones, or mainContainer."""
    side, name = inner[1], inner[2]
    resources = part.spec.resources
    item = resources and (resources.limits if side == "limits" else resources.requests)
    if item:
        if name in (item.custom or {}):
            return (*part.path, "resources", side, "custom", name)
        field = {"cpu": "cpu", "memory": "memory", item.gpu_type or GPU: "gpu"}.get(str(name))
        if field and getattr(item, field):
            return (*part.path, "resources", side, field)
    return (*part.path, *_MAIN, *inner)


def _of_variable(part: Part, entry: Mapping[str, Any], inner: Path) -> Path:
    """Return where a variable comes from; the last of equal ones counts, and the component's before its graph's."""
    rest = inner[2:]
    for holder, entries in (
        ((*part.path, "envs"), part.spec.envs),
        (("spec", "envs"), part.graph_envs),
        ((*part.path, *_MAIN, "env"), part.spec.main_container.get("env")),
    ):
        index = _last(entries or (), "name", entry.get("name"))
        if index is not None:
            return (*holder, index, *rest)
    return (*part.path, *_MAIN, "env")


def _of_mount(part: Part, entry: Mapping[str, Any], inner: Path) -> Path:
    rest = inner[2:]
    for index, mount in enumerate(part.spec.main_container.get("volumeMounts", ())):
        if mount == entry:
            return (*part.path, *_MAIN, "volumeMounts", index, *rest)
    for index, own in enumerate(part.spec.volume_mounts or ()):
        if own.name == entry.get("name"):
            renamed = ("mountPoint", *rest[1:]) if rest[:1] == ("mountPath",) else rest
            return (*part.path, "volumeMounts", index, *renamed)
    return (*part.path, "sharedMemory") if entry.get("name") == "shared-memory" else (*part.path, "volumeMounts")


def _of_volume(pod: PartPod, path: Path) -> Path:
    """Return where a volume comes from: the user's list stands first, claims of ``volumeMounts`` follow."""
    part, index = pod.part, path[1]
    assert isinstance(index, int)  # noqa: S101 - narrows the type
    written = part.spec.pod.get("volumes", ())
    entry = pod.spec["volumes"][index]
    if index < len(written) and written[index] == entry:
        return (*part.path, "extraPodSpec", *path)
    mine = [place for place, mount in enumerate(part.spec.volume_mounts or ()) if mount.name == entry.get("name")]
    if mine:
        return (*part.path, "volumeMounts", mine[-1], "name")
    return (*part.path, "extraPodSpec", "volumes")


def _last(entries: Iterable[Mapping[str, Any]], key: str, value: object) -> int | None:
    return max((index for index, entry in enumerate(entries) if entry.get(key) == value), default=None)

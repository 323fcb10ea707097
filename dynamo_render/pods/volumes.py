"""Claims, compilation caches and shared memory of the main container. rendering.md section 11."""

from __future__ import annotations

from dynamo_render.backends.contract import Backend
from dynamo_render.kube import quantity
from dynamo_render.plans.pod import VolumePlan
from dynamo_render.scope import ComponentScope
from dynamo_render.spec.component import VolumeMount

SHARED_MEMORY = "shared-memory"
DEFAULT_SHARED_MEMORY_SIZE = "8Gi"


def planned(scope: ComponentScope, backend: Backend) -> VolumePlan:
    """Return the mounts and volumes of a component: its claims in the user's order, then shared memory."""
    mounts = []
    for index, mount in enumerate(scope.spec.volume_mounts or ()):
        path = _mount_path(scope, index, mount, backend)
        mounts.append((mount.name, path))
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name, _path in mounts]
    size = _shared_memory_size(scope)
    if size is not None:
        mounts.append((SHARED_MEMORY, "/dev/shm"))  # noqa: S108 - the path inside the container
        volumes.append({"name": SHARED_MEMORY, "emptyDir": {"medium": "Memory", "sizeLimit": size}})
    return VolumePlan(mounts=tuple(mounts), volumes=tuple(volumes), cache_root=_cache_root(scope, backend))


def _mount_path(scope: ComponentScope, index: int, mount: VolumeMount, backend: Backend) -> str:
    """Return where *mount* goes; report a mount without a name or without a path that could be known."""
    field = ("volumeMounts", index)
    if not mount.name:
        scope.refuse("CTL-07", (*field, "name"), "is required for a volume mount")
    if mount.mount_point:
        return mount.mount_point
    if mount.use_as_compilation_cache and backend.default_cache_mount:
        return backend.default_cache_mount
    if mount.use_as_compilation_cache:
        message = f"is required: {_named(backend)} has no default mount point for a compilation cache"
        scope.refuse("CTL-08", (*field, "mountPoint"), message, "set mountPoint to the cache folder of the engine")
    return ""


def _named(backend: Backend) -> str:
    return "a component without an engine" if backend.name == "none" else backend.name


def _cache_root(scope: ComponentScope, backend: Backend) -> str | None:
    """Return the compilation cache that the engine is told about: that of the first cache mount."""
    cache = next((mount for mount in scope.spec.volume_mounts or () if mount.use_as_compilation_cache), None)
    if cache is None:
        return None
    if scope.profile.cache_root_from_effective_mount:
        return cache.mount_point or backend.default_cache_mount
    return cache.mount_point or None


def _shared_memory_size(scope: ComponentScope) -> str | None:
    """Return the size of ``/dev/shm`` as a quantity text, or None when the user turned it off."""
    shared = scope.spec.shared_memory
    if shared is None:
        return DEFAULT_SHARED_MEMORY_SIZE
    if shared.disabled:
        return None
    if shared.size is None or quantity.is_zero(shared.size):
        return DEFAULT_SHARED_MEMORY_SIZE
    return shared.size

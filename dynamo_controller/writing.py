"""Writing the status and the finalizers of a resource: once in a pass, and only what has changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dynamo_controller.ports import Object
from dynamo_controller.shell import Shell
from dynamo_render.kinds.shared.conditions import Status, with_transition_times
from dynamo_render.kinds.shared.finalizers import FINALIZER
from dynamo_render.kube import live

OWN_FIELDS = ("state", "conditions", "services", "restart", "service", "observedGeneration", "replicas", "selector")


async def write_status(resource: Object, wanted: Status, shell: Shell, *, whole: bool = False) -> bool:
    """Make the status of *resource* what is *wanted* and return whether that was a write.

    Fields of a status that the controller does not know stay as they are, unless the *whole* status is wanted.
    """
    before = live.status(resource)
    told = with_transition_times(wanted, before, shell.clock.timestamp()) if "conditions" in wanted else wanted
    if whole:
        if told == before:
            return False
        shell.stores.remember(await shell.cluster.replace_status(resource, told))
        return True
    patch = merge_patch({key: value for key, value in before.items() if key in {*OWN_FIELDS, *told}}, told)
    if not patch:
        return False
    shell.stores.remember(await shell.cluster.merge_status(resource, patch))
    return True


async def add_finalizer(resource: Object, shell: Shell) -> Object:
    """Return *resource* with our finalizer, as it is stored then."""
    finalizers = [*(resource["metadata"].get("finalizers") or ()), FINALIZER]
    return await _write_finalizers(resource, finalizers, shell)


async def remove_finalizer(resource: Object, shell: Shell) -> Object:
    """Return *resource* without our finalizer, as it was stored last: without others, it is gone."""
    finalizers = [name for name in resource["metadata"].get("finalizers") or () if name != FINALIZER]
    return await _write_finalizers(resource, finalizers, shell)


async def _write_finalizers(resource: Object, finalizers: list[str], shell: Shell) -> Object:
    stored = await shell.cluster.merge(resource, {"metadata": {"finalizers": finalizers}})
    if live.is_being_deleted(stored) and not finalizers:
        shell.stores.forget(stored)  # the last finalizer held it: the server answers with what is no longer there
    else:
        shell.stores.remember(stored)
    return stored


def merge_patch(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON merge patch that leads from *old* to *new*; empty when they are equal."""
    patch: dict[str, Any] = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            inner = merge_patch(before, value)
            if inner:
                patch[key] = inner
        elif key not in old or before != value:
            patch[key] = value
    return patch

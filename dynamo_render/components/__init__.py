"""Component types by the name that users write in ``componentType``; every other name is a generic component."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from dynamo_render.components.contract import ComponentType
from dynamo_render.components.generic import GENERIC
from dynamo_render.room import Room

COMPONENTS: Mapping[str, ComponentType] = Room(
    {
        "frontend": "dynamo_render.components.frontend:FRONTEND",
        "worker": "dynamo_render.components.worker:WORKER",
        "prefill": "dynamo_render.components.worker:WORKER",
        "decode": "dynamo_render.components.worker:WORKER",
        "planner": "dynamo_render.components.planner:PLANNER",
        "epp": "dynamo_render.components.epp:EPP",
    }
)


@functools.lru_cache(maxsize=256)
def component_type(name: str) -> ComponentType:
    """Return the component type that users call *name*, matched exactly."""
    return COMPONENTS.get(name, GENERIC)

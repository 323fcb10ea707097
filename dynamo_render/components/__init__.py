"""Component types by the name that users write in ``componentType``; every other name is a generic component."""

from __future__ import annotations

from collections.abc import Mapping

from dynamo_render.components.contract import ComponentType
from dynamo_render.components.epp import EPP
from dynamo_render.components.frontend import FRONTEND
from dynamo_render.components.generic import GENERIC
from dynamo_render.components.planner import PLANNER
from dynamo_render.components.worker import WORKER

COMPONENTS: Mapping[str, ComponentType] = {
    "frontend": FRONTEND,
    "worker": WORKER,
    "prefill": WORKER,
    "decode": WORKER,
    "planner": PLANNER,
    "epp": EPP,
}


def component_type(name: str) -> ComponentType:
    """Return the component type that users call *name*, matched exactly."""
    return COMPONENTS.get(name, GENERIC)

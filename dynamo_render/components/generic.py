"""Components of any other type: a shell line without ports and probes. Specification: rendering.md section 6."""

from __future__ import annotations

from dynamo_render.components.contract import Base, ComponentType, base_pod, shell_container
from dynamo_render.scope import ComponentScope


def _base(scope: ComponentScope) -> Base:  # noqa: ARG001 - the contract of a component type
    return Base(container=shell_container(), env={}, pod=base_pod(), probes={})


GENERIC = ComponentType(base=_base)

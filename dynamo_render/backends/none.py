"""No framework: the container starts as the user wrote it, in every role."""

from __future__ import annotations

from typing import Any

from dynamo_render.backends.contract import Backend, Container
from dynamo_render.plans.launch import LaunchPlan, Role


def launched(_plan: LaunchPlan, _role: Role, container: Container) -> Container:
    """Return *container* itself."""
    return container


def volumes(_plan: LaunchPlan) -> tuple[dict[str, Any], ...]:
    """Return nothing: no launch needs a volume."""
    return ()


def drops_probes(_plan: LaunchPlan, _role: Role, _container: Container) -> tuple[str, ...]:
    """Return nothing: every probe stays."""
    return ()


BACKEND = Backend(name="none", launched=launched, volumes=volumes, drops_probes=drops_probes)

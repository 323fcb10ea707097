"""What a backend framework offers: where its cache lives, and how its container starts in each role.

A backend sees a `LaunchPlan` and the container as the layers before it left it, never the resource, settings or facts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dynamo_render.plans.launch import LaunchPlan, Role
from dynamo_render.values import Value, frozen

Container = dict[str, Any]


@frozen
class Backend(Value):
    """One framework.

    *launched* returns a changed copy of a container for a role, or the container itself where nothing has to change; it
    never changes what it is given. *volumes* returns the pod volumes that the launch needs, after all others.
    *drops_probes* tells which of the probes that a container has its role loses or replaces, for warnings: names of
    container keys. *default_cache_mount* is the path of the compilation cache, if one is known. *workers_start_first*
    tells that the leader can only start once its workers serve.
    """

    name: str
    launched: Callable[[LaunchPlan, Role, Container], Container]
    volumes: Callable[[LaunchPlan], tuple[dict[str, Any], ...]]
    drops_probes: Callable[[LaunchPlan, Role, Container], tuple[str, ...]]
    default_cache_mount: str | None = None
    workers_start_first: bool = False

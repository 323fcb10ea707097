"""What a backend framework offers: where its cache lives, and how its container starts in each role.

A backend sees a `LaunchPlan` and the container as the layers before it left it, never the resource, settings or facts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from dynamo_render.plans.launch import LaunchPlan, Role

Container = dict[str, Any]


@attrs.frozen
class Backend:
    """One framework.

    *launched* returns a changed copy of a container for a role; it keeps the container as it is where nothing has to change.
    *volumes* returns the pod volumes that the launch needs, after all others. *drops_probes* tells which user probes a role
    loses, for warnings: names of container keys. *default_cache_mount* is the path of the compilation cache, if one is known.
    """

    name: str
    launched: Callable[[LaunchPlan, Role, Container], Container]
    volumes: Callable[[LaunchPlan], tuple[dict[str, Any], ...]]
    drops_probes: Callable[[LaunchPlan, Role, Container], tuple[str, ...]]
    default_cache_mount: str | None = None
    workers_start_first: bool = False

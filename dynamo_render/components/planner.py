"""The planner, which scales the other components. Specification: rendering.md sections 6 and 8.1."""

from __future__ import annotations

from dynamo_render.components.contract import Base, ComponentType, base_pod, container_port, shell_container
from dynamo_render.scope import ComponentScope

ACCOUNT = "planner-serviceaccount"


def _base(scope: ComponentScope) -> Base:
    return Base(
        container=shell_container(container_port(9085, "metrics")),
        env={"PLANNER_PROMETHEUS_PORT": "9085"},
        pod=base_pod(ACCOUNT),
        probes=scope.profile.planner_probes,
    )


PLANNER = ComponentType(base=_base, account=ACCOUNT)

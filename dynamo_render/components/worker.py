"""Engine workers: aggregated, prefill and decode. Specification: rendering.md sections 6, 7 and 8.1."""

from __future__ import annotations

from dynamo_render.components.contract import Base, ComponentType, base_pod, container_port, shell_container
from dynamo_render.scope import ComponentScope


def _base(scope: ComponentScope) -> Base:
    return Base(
        container=shell_container(container_port(9090, "system")),
        env={
            "DYN_SYSTEM_ENABLED": "true",
            "DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS": '["generate"]',
            "DYN_SYSTEM_PORT": "9090",
            "DYN_HEALTH_CHECK_ENABLED": "false",
        },
        pod=base_pod(),
        probes=scope.profile.worker_probes,
    )


WORKER = ComponentType(base=_base, runs_engine=True)

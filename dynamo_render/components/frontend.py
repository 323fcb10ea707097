"""The OpenAI-compatible HTTP entry of a graph. Specification: rendering.md sections 6, 7 and 8.1."""

from __future__ import annotations

from dynamo_render.components.contract import Base, ComponentType, ServicePort, base_pod, container_port
from dynamo_render.scope import ComponentScope


def _base(scope: ComponentScope) -> Base:
    return Base(
        container={
            "name": "main",
            "command": ["python3"],
            "args": ["-m", "dynamo.frontend"],
            "ports": [container_port(8000, "http")],
        },
        env={"DYNAMO_PORT": "8000", "DYN_HTTP_PORT": "8000"},
        pod=base_pod(),
        probes=scope.profile.frontend_probes,
    )


FRONTEND = ComponentType(base=_base, port=ServicePort("http", 8000, "http"))

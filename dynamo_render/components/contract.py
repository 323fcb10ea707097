"""What a component type offers: the container and pod that its components start from, its env and its Service port."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dynamo_render.scope import ComponentScope
from dynamo_render.values import Value, frozen

Json = dict[str, Any]


@frozen
class ServicePort(Value):
    """The port that a component's Service offers; *app_protocol* is set on the Grove pathway only."""

    name: str
    port: int
    target: str | int
    app_protocol: str | None = None

    def manifest(self, *, with_app_protocol: bool = False) -> Json:
        """Return the port as it stands in a Service."""
        port: Json = {"name": self.name, "port": self.port, "targetPort": self.target, "protocol": "TCP"}
        if with_app_protocol and self.app_protocol:
            port["appProtocol"] = self.app_protocol
        return port


SYSTEM_PORT = ServicePort("system", 9090, "system")


@frozen(kw_only=True)
class Base(Value):
    """What the components of one type start from; fresh values, so that later layers may build on them.

    *container* has no env and no probes, *pod* no containers.
    """

    container: Json
    env: Mapping[str, str]
    pod: Json
    probes: Mapping[str, Mapping[str, Any]]


@frozen(kw_only=True)
class ComponentType(Value):
    """One component type. *runs_engine* says whether a backend framework starts its main container."""

    base: Callable[[ComponentScope], Base]
    port: ServicePort = SYSTEM_PORT
    runs_engine: bool = False
    account: str | None = None


def container_port(number: int, name: str) -> Json:
    """Return a named TCP port of a container."""
    return {"containerPort": number, "name": name, "protocol": "TCP"}


def shell_container(*ports: Json) -> Json:
    """Return the container of components that run a shell line."""
    container: Json = {"name": "main", "command": ["/bin/sh", "-c"]}
    if ports:
        container["ports"] = list(ports)
    return container


def base_pod(account: str | None = None) -> Json:
    """Return the pod that every component starts from (D-13: the same grace period for all but the endpoint picker)."""
    pod: Json = {"terminationGracePeriodSeconds": 60, "restartPolicy": "Always"}
    if account:
        pod["serviceAccountName"] = account
    return pod

"""What an API server refuses in probes and lifecycle hooks. Paths lead from the pod down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dynamo_render.checks import ports
from dynamo_render.errors import Problem

Path = tuple["str | int", ...]
Json = Mapping[str, Any]

PROBES = ("livenessProbe", "readinessProbe", "startupProbe")

_PROBE_HANDLERS = ("exec", "grpc", "httpGet", "tcpSocket")
_HOOK_HANDLERS = ("exec", "httpGet", "sleep", "tcpSocket")
_COUNTS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_SCHEMES = ("HTTP", "HTTPS")


def handler_problems(container: Json, path: Path) -> Iterator[Problem]:
    """Yield what is wrong with the probes and hooks of *container*."""
    for name in PROBES:
        probe = container.get(name)
        if probe is not None:
            yield from _probe_problems(name, probe, (*path, name))
            yield from _port_of_probe_problems(container, probe, (*path, name))
    for name, hook in (container.get("lifecycle") or {}).items():
        if isinstance(hook, Mapping):
            at = (*path, "lifecycle", name)
            yield from _one_handler("pod/lifecycle", hook, _HOOK_HANDLERS, at)


def _probe_problems(name: str, probe: Json, path: Path) -> Iterator[Problem]:
    yield from _one_handler("pod/probe", probe, _PROBE_HANDLERS, path)
    for field in _COUNTS:
        if probe.get(field, 0) < 0:
            yield Problem("pod/probe", (*path, field), f"must be 0 or more, got {probe[field]}")
    if name != "readinessProbe" and probe.get("successThreshold", 1) > 1:
        message = f"must be 1 for a {name}, got {probe['successThreshold']}"
        yield Problem("pod/probe", (*path, "successThreshold"), message)
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and (name == "readinessProbe" or grace < 1):
        message = "must not be set for a readinessProbe" if grace > 0 else f"must be 1 or more, got {grace}"
        yield Problem("pod/probe", (*path, "terminationGracePeriodSeconds"), message)


def _one_handler(rule: str, holder: Json, known: tuple[str, ...], path: Path) -> Iterator[Problem]:
    given = [kind for kind in known if holder.get(kind) is not None]
    if len(given) != 1:
        found = " and ".join(given) or "none"
        message = f"must have exactly one of {', '.join(known)}; got {found}"
        yield Problem(rule, path, message, "say how the container is asked" if not given else None)
    if given == ["exec"] and not holder["exec"].get("command"):
        yield Problem(rule, (*path, "exec", "command"), "is required")
    for kind in given:
        port = holder[kind].get("port") if kind != "exec" else None
        reason = None if port is None else ports.why_no_port(port)
        if reason:
            yield Problem(rule, (*path, kind, "port"), reason)
    scheme = (holder.get("httpGet") or {}).get("scheme")
    if scheme and scheme not in _SCHEMES:
        yield Problem(rule, (*path, "httpGet", "scheme"), f'must be one of {", ".join(_SCHEMES)}, got "{scheme}"')


def _port_of_probe_problems(container: Json, probe: Json, path: Path) -> Iterator[Problem]:
    """Yield a problem if a probe names a port that the container does not have: the kubelet finds out, too late."""
    names = {port.get("name") for port in container.get("ports", ())}
    for kind in ("httpGet", "tcpSocket"):
        port = (probe.get(kind) or {}).get("port")
        if isinstance(port, str) and port not in names:
            known = ", ".join(sorted(filter(None, names))) or "none"
            hint = f"named ports: {known}; or write a number"
            yield Problem(
                "sanity/probe-port", (*path, kind, "port"), f'the container has no port "{port}"', hint, "warning"
            )

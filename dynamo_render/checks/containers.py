"""What an API server refuses in one container: names, images, ports, variables, mounts, amounts.

Paths lead from the pod down. Nothing here knows Dynamo.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from dynamo_render.checks import amounts, handlers, ports
from dynamo_render.errors import Problem
from dynamo_render.kube import names, registries
from dynamo_render.kube.patterns import pattern

Path = tuple["str | int", ...]
Json = Mapping[str, Any]

_VARIABLE_NAME = pattern(r"[ -<>-~]+")
_PLACEHOLDER = pattern(r"\$\{[^}]*\}|<[^>]*>")
_FIELDS = pattern(
    r"metadata\.(?:name|namespace|uid|(?:labels|annotations)\['[^']+'\])"
    r"|spec\.(?:nodeName|serviceAccountName)|status\.(?:hostIPs?|podIPs?)"
)
_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "imagePullPolicy": ("Always", "IfNotPresent", "Never"),
    "terminationMessagePolicy": ("File", "FallbackToLogsOnError"),
}
_PROTOCOLS = ("TCP", "UDP", "SCTP")


def container_problems(container: Json, path: Path, volumes: frozenset[str]) -> Iterator[Problem]:
    """Yield what is wrong with *container*, which may mount *volumes*."""
    for check in _CHECKS:
        yield from check(container, path)
    yield from _mount_problems(container, path, volumes)


def choice_problems(holder: Json, path: Path, choices: Mapping[str, tuple[str, ...]]) -> Iterator[Problem]:
    """Yield each field of *holder* with a value that is not among its *choices*."""
    for field, allowed in choices.items():
        value = holder.get(field)
        if value and value not in allowed:
            yield Problem("pod/value", (*path, field), f'must be one of {", ".join(allowed)}, got "{value}"')


def _name_problems(container: Json, path: Path) -> Iterator[Problem]:
    reason = names.why_not_dns_label(container.get("name", ""))
    if reason:
        message = f'"{container.get("name", "")}" is no legal container name: {reason}'
        yield Problem("pod/name", (*path, "name"), message)


def _image_problems(container: Json, path: Path) -> Iterator[Problem]:
    image = container.get("image", "")
    at = (*path, "image")
    if not image:
        if container.get("name") != "main":
            yield Problem("pod/image", at, "is required")
    elif _PLACEHOLDER.search(image):
        message = f'"{image}" still holds a placeholder'
        yield Problem("sanity/placeholder", at, message, "put the name of a real image in its place", "warning")
    else:
        try:
            registries.image_registry(image)
        except registries.InvalidHost as error:
            yield Problem(
                "pod/image", at, str(error), "write [registry/]name[:tag][@digest], the name in small letters"
            )


def _choice_problems(container: Json, path: Path) -> Iterator[Problem]:
    return choice_problems(container, path, _CHOICES)


def _port_problems(container: Json, path: Path) -> Iterator[Problem]:
    taken: set[str] = set()
    for index, port in enumerate(container.get("ports", ())):
        at = (*path, "ports", index)
        name = port.get("name", "")
        if name in taken:
            yield Problem("pod/duplicate", (*at, "name"), f'two ports of the container are called "{name}"')
        if name:
            taken.add(name)
        for field, reason in (
            ("name", ports.why_no_name(name) if name else None),
            ("containerPort", ports.why_no_number(port.get("containerPort", 0))),
            ("hostPort", ports.why_no_number(port["hostPort"]) if port.get("hostPort") else None),
        ):
            if reason:
                yield Problem("pod/port", (*at, field), reason)
        yield from choice_problems(port, at, {"protocol": _PROTOCOLS})


def _variable_problems(container: Json, path: Path) -> Iterator[Problem]:
    for index, entry in enumerate(container.get("env", ())):
        at = (*path, "env", index)
        name = entry.get("name", "")
        if not _VARIABLE_NAME.fullmatch(name):
            message = f'"{name}" is no legal variable name: printable ASCII characters other than "="'
            yield Problem("pod/env", (*at, "name"), message)
        source = entry.get("valueFrom")
        if source is None:
            continue
        if entry.get("value"):
            yield Problem("pod/env", (*at, "valueFrom"), f'must not be given beside the value of "{name}"')
        given = [kind for kind in _SOURCES if source.get(kind) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            yield Problem("pod/env", (*at, "valueFrom"), f"must hold exactly one source, got {found}")
        field = (source.get("fieldRef") or {}).get("fieldPath")
        if field is not None and not _FIELDS.fullmatch(field):
            where = (*at, "valueFrom", "fieldRef", "fieldPath")
            yield Problem("pod/env", where, f'"{field}" is no field of a pod that a variable can have')


def _imported_problems(container: Json, path: Path) -> Iterator[Problem]:
    """Yield what is wrong with the objects whose entries all become variables."""
    for index, entry in enumerate(container.get("envFrom", ())):
        at = (*path, "envFrom", index)
        given = [kind for kind in ("configMapRef", "secretRef") if entry.get(kind) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            yield Problem("pod/env", at, f"must hold exactly one of configMapRef, secretRef; got {found}")
        for kind in given:
            reason = names.why_not_dns_subdomain(entry[kind].get("name", ""))
            if reason:
                yield Problem("pod/env", (*at, kind, "name"), f"is no legal name: {reason}")


def _mount_problems(container: Json, path: Path, volumes: frozenset[str]) -> Iterator[Problem]:
    taken: set[str] = set()
    for index, mount in enumerate(container.get("volumeMounts", ())):
        at = (*path, "volumeMounts", index)
        name, where = mount.get("name", ""), mount.get("mountPath", "")
        if name not in volumes:
            hint = "declare it in extraPodSpec.volumes, or mount a claim with volumeMounts of the component"
            yield Problem("pod/mount", (*at, "name"), f'"{name}" is no volume of the pod', hint)
        if not where:
            yield Problem("pod/mount", (*at, "mountPath"), "is required")
        elif where in taken:
            yield Problem("pod/mount", (*at, "mountPath"), f'"{where}" is taken by another mount of the container')
        taken.add(where)
        if mount.get("subPath") and mount.get("subPathExpr"):
            yield Problem("pod/mount", (*at, "subPathExpr"), "must not be given beside subPath")


_CHECKS: Iterable[Callable[[Json, Path], Iterator[Problem]]] = (
    _name_problems,
    _image_problems,
    _choice_problems,
    _port_problems,
    _variable_problems,
    _imported_problems,
    handlers.handler_problems,
    amounts.amount_problems,
)

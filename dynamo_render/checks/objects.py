"""What an API server refuses in rendered objects apart from their pods: their names, and the hosts of an Ingress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from dynamo_render.checks.parts import Part, Path
from dynamo_render.errors import Problem
from dynamo_render.kube import names
from dynamo_render.kube.manifest import Manifest

# Every other kind takes a DNS subdomain. Services have a rule of their own, which names the component.
_NAME_RULES: dict[str, Callable[[str], str | None]] = {
    "Service": lambda _name: None,
    "PodCliqueSet": names.why_not_dns_label,
    "LeaderWorkerSet": names.why_not_dns_label_starting_with_letter,
}
_WILDCARD = "*."


def object_problems(objects: Iterable[Manifest], parts: Sequence[Part]) -> Iterator[Problem]:
    """Yield what is wrong with *objects*, reported where their user can mend it."""
    by_name = {part.name: part for part in parts}
    for made in objects:
        kind, name = made["kind"], made["metadata"]["name"]
        reason = _NAME_RULES.get(kind, names.why_not_dns_subdomain)(name)
        if reason:
            path = _path_of(kind, name, parts)
            yield Problem("names/object", path, f'the {kind} would be called "{name}", which is illegal: {reason}')
        part = by_name.get(name)
        if kind == "Ingress" and part is not None:
            yield from _ingress_problems(made, part)


def _path_of(kind: str, name: str, parts: Sequence[Part]) -> Path:
    if kind == "PersistentVolumeClaim":
        return ("spec", "pvcs")
    return next((part.path for part in parts if name.startswith(part.name)), ("metadata", "name"))


def _ingress_problems(made: dict[str, Any], part: Part) -> Iterator[Problem]:
    for rule in made["spec"]["rules"]:
        host = rule["host"]
        reason = names.why_not_dns_subdomain(host.removeprefix(_WILDCARD))
        if reason:
            path = (*part.path, "ingress", "host")
            hint = "the host is hostPrefix, host, a dot and hostSuffix (local where none is set)"
            yield Problem("object/ingress-host", path, f'"{host}" is no legal host: {reason}', hint)

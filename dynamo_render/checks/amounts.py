"""What an API server refuses in the resource amounts of a container. Paths lead from the pod down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dynamo_render.errors import Problem
from dynamo_render.kube import names, quantity

Path = tuple["str | int", ...]
Json = Mapping[str, Any]

_NATIVE = frozenset({"cpu", "memory", "ephemeral-storage"})


def amount_problems(container: Json, path: Path) -> Iterator[Problem]:
    """Yield what is wrong with the requests and limits of *container*."""
    resources = container.get("resources") or {}
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for side, amounts in (("limits", limits), ("requests", requests)):
        for name, text in amounts.items():
            yield from _amount_problems(name, str(text), (*path, "resources", side, name))
    for name, text in requests.items():
        yield from _pair_problems(name, str(text), limits.get(name), (*path, "resources", "requests", name))


def _amount_problems(name: str, text: str, path: Path) -> Iterator[Problem]:
    reason = names.why_not_qualified_name(name)
    if reason is None and "/" not in name and name not in _NATIVE and not name.startswith("hugepages-"):
        reason = "without a domain it must be cpu, memory, ephemeral-storage or hugepages-SIZE"
    if reason:
        yield Problem("pod/resources", path, f'"{name}" is no resource: {reason}')
    if not quantity.is_quantity(text):
        return
    number = quantity.as_number(text)
    if number < 0:
        yield Problem("pod/resources", path, f"must be 0 or more, got {text}")
    elif _is_extended(name) and number != number.to_integral_value():
        yield Problem("pod/resources", path, f"must be a whole number, got {text}", "devices cannot be divided")


def _pair_problems(name: str, request: str, limit: object, path: Path) -> Iterator[Problem]:
    if not quantity.is_quantity(request) or (limit is not None and not quantity.is_quantity(str(limit))):
        return
    if limit is None:
        if _is_extended(name) or name.startswith("hugepages-"):
            yield Problem("pod/resources", path, f"needs a limit of {name}, which cannot be given to two pods at once")
        return
    wanted, most = quantity.as_number(request), quantity.as_number(str(limit))
    if _is_extended(name) and wanted != most:
        yield Problem("pod/resources", path, f"must be equal to the limit of {name}: {request} is not {limit}")
    elif wanted > most:
        yield Problem("pod/resources", path, f"must not be more than the limit: {request} is more than {limit}")


def _is_extended(name: str) -> bool:
    """Whether *name* is a device or something like it: a resource of another domain than Kubernetes' own."""
    domain, slash, _rest = name.partition("/")
    return bool(slash) and not domain.endswith("kubernetes.io")

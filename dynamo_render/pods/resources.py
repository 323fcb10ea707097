"""CPU, memory, GPUs and custom resources of the main container. rendering.md section 10."""

from __future__ import annotations

from typing import Any

from dynamo_render.kube import quantity
from dynamo_render.plans.pod import ResourcePlan
from dynamo_render.scope import ComponentScope
from dynamo_render.spec.component import ResourceItem

Json = dict[str, Any]

GPU = "nvidia.com/gpu"
MOST_DIGITS = 100


def planned(scope: ComponentScope) -> ResourcePlan | None:
    """Return the amounts that the component's ``resources`` lay over the main container's, or None without any."""
    resources = scope.spec.resources
    if resources is None:
        return None
    return ResourcePlan(
        limits=_amounts(scope, "limits", resources.limits, with_gpu=True),
        requests=_amounts(scope, "requests", resources.requests, with_gpu=scope.profile.renders_requested_gpus),
        claims=tuple(resources.claims or ()),
    )


def _amounts(scope: ComponentScope, side: str, item: ResourceItem | None, *, with_gpu: bool) -> dict[str, str]:
    """Return canonical quantities by resource name; custom names come last and so win over the fixed ones."""
    if item is None:
        return {}
    written = {"cpu": ("cpu", item.cpu), "memory": ("memory", item.memory)}
    if with_gpu:
        written[item.gpu_type or GPU] = ("gpu", item.gpu)
    amounts: dict[str, str] = {}
    for name, (field, text) in written.items():
        if text:
            amounts[name] = _parsed(scope, text, side, field)
    for name, text in (item.custom or {}).items():
        amounts[name] = _parsed(scope, text, side, "custom", name)
    return amounts


def _parsed(scope: ComponentScope, text: str, side: str, *field: str) -> str:
    try:
        return quantity.normalise(text)
    except quantity.InvalidQuantity as error:
        hint = "write a number with a unit: 500m, 4Gi"
        scope.refuse("CTL-04", ("resources", side, *field), f"is no quantity: {error}", hint)
        return text


def overlaid(present: Json, plan: ResourcePlan) -> Json:
    """Return the resources *present* on the container with the component's amounts over them, name by name."""
    result = dict(present)
    for side, amounts in (("limits", plan.limits), ("requests", plan.requests)):
        if amounts:
            result[side] = {**result.get(side, {}), **amounts}
    if plan.claims:
        result["claims"] = [*result.get("claims", ()), *map(dict, plan.claims)]
    return result


def whole_gpus(text: str | None, bits: int = 64) -> int | None:
    """Return *text* as a base-10 integer of so many bits, as launch arithmetic reads it, or None where it is none."""
    digits = (text or "").removeprefix("-") if (text or "").startswith("-") else (text or "").removeprefix("+")
    if not digits or len(digits) > MOST_DIGITS or not digits.isascii() or not digits.isdigit():
        return None
    number = int(text or "")
    return number if -(2 ** (bits - 1)) <= number < 2 ** (bits - 1) else None

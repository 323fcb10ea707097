"""The plan of one resource: which builder makes which objects, in apply order, and who owns them."""

from __future__ import annotations

from typing import Any

from dynamo_render.values import Value, frozen


@frozen
class Owner(Value):
    """The resource that owns an object; its UID is known to a cluster only."""

    api_version: str
    kind: str
    name: str


@frozen
class Step(Value):
    """One call of a builder: *entry* names it in its room's table, *plan* is all it sees."""

    entry: str
    plan: Any
    owner: Owner | None


@frozen
class ResourcePlan(Value):
    """Everything that is decided about one resource, in apply order."""

    steps: tuple[Step, ...]

"""The plan of one resource: which builder makes which objects, in apply order, and who owns them."""

from __future__ import annotations

from typing import Any

import attrs


@attrs.frozen
class Owner:
    """The resource that owns an object; its UID is known to a cluster only."""

    api_version: str
    kind: str
    name: str


@attrs.frozen
class Step:
    """One call of a builder: *entry* names it in its room's table, *plan* is all it sees."""

    entry: str
    plan: Any
    owner: Owner | None


@attrs.frozen
class ResourcePlan:
    """Everything that is decided about one resource, in apply order."""

    steps: tuple[Step, ...]

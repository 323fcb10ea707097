"""Parts of live objects that every Kubernetes controller reports in the same way. Knows no kind and decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Object = Mapping[str, Any]
Objects = Mapping[tuple[str, str, str], Object]
"""Live objects of one namespace by apiVersion, kind and name."""


def generation(live: Object) -> int:
    """Return how often the spec of *live* has changed; 0 where the kind does not count."""
    return int(live["metadata"].get("generation") or 0)


def status(live: Object) -> Object:
    """Return the status of *live*, empty before its controller has written one."""
    return live.get("status") or {}


def count(live: Object, name: str) -> int:
    """Return one count of the status; a count that was never written is 0."""
    return int(status(live).get(name) or 0)


def observed_generation(live: Object) -> int | None:
    """Return the generation that the status of *live* speaks of, or None where it does not say."""
    seen = status(live).get("observedGeneration")
    return None if seen is None else int(seen)


def why_unprocessed(live: Object) -> str:
    """Return why the status of *live* may speak of an older spec; empty when it speaks of this one."""
    seen = observed_generation(live)
    if seen is None:
        return "observedGeneration is nil"
    if seen < generation(live):
        return f"spec not yet processed: generation={generation(live)}, observedGeneration={seen}"
    return ""


def condition_status(live: Object, kind: str) -> str | None:
    """Return ``True``, ``False`` or ``Unknown`` of the first condition of type *kind*, or None without one."""
    conditions = status(live).get("conditions") or ()
    return next((condition.get("status") for condition in conditions if condition.get("type") == kind), None)


def is_being_deleted(live: Object) -> bool:
    """Whether somebody has asked for the deletion of *live*, which finalizers may hold up."""
    return live["metadata"].get("deletionTimestamp") is not None


def desired_replicas(live: Object) -> int:
    """Return the replicas that the spec of *live* asks for; without a number, 1."""
    replicas = (live.get("spec") or {}).get("replicas")
    return 1 if replicas is None else int(replicas)

"""How many resources there are, by namespace and status. Pure.

Specification: operator-config.md section 13.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from dynamo_controller.ports import Object
from dynamo_controller.telemetry import Count
from dynamo_render.kube import live


def _state(resource: Object) -> str:
    return str(live.status(resource).get("state") or "unknown")


def _ready(is_ready: bool) -> str:  # noqa: FBT001 - the one thing there is to say
    return "ready" if is_ready else "not_ready"


def _component(resource: Object) -> str:
    conditions = live.status(resource).get("conditions") or ()
    return _ready(any(each.get("type") == "Available" and each.get("status") == "True" for each in conditions))


def _model(resource: Object) -> str:
    status = live.status(resource)
    total, ready = status.get("totalEndpoints") or 0, status.get("readyEndpoints") or 0
    return _ready(0 < total <= ready)


def _adapter(resource: Object) -> str:
    status = live.status(resource)
    return _ready(bool(status.get("selector")) and bool(status.get("replicas")))


STATUS: Mapping[str, Callable[[Object], str]] = {
    "DynamoGraphDeployment": _state,
    "DynamoComponentDeployment": _component,
    "DynamoGraphDeploymentRequest": _state,
    "DynamoModel": _model,
    "DynamoGraphDeploymentScalingAdapter": _adapter,
}
"""The one word for the status of a resource, by its kind."""


class Tally:
    """Counts resources as stores tell of them, so that whoever asks for numbers need not go through all."""

    def __init__(self) -> None:
        """Start with none."""
        self._numbers: Counter[tuple[str, str, str]] = Counter()

    def heard(self, before: Object | None, now: Object | None) -> None:
        """Hear what was kept of an object before, and what is now."""
        for resource, step in ((before, -1), (now, 1)):
            if resource is not None and resource["kind"] in STATUS:
                kind, namespace = resource["kind"], str(resource["metadata"].get("namespace", ""))
                entry = kind, namespace, STATUS[kind](resource)
                self._numbers[entry] += step
                if not self._numbers[entry]:
                    del self._numbers[entry]  # namespaces come and go

    def counts(self, is_left_out: Callable[[str], bool]) -> Iterator[Count]:
        """Yield how many resources of each kind, namespace and status there are now, by name."""
        for (kind, namespace, status), number in sorted(self._numbers.items()):
            if not is_left_out(namespace):
                yield Count(kind, namespace, status, number)

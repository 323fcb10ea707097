"""Which DynamoGraphDeploymentRequests a graph concerns. Everything else about requests is their state machine's."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_controller.ports import Kind, Object
from dynamo_controller.shell import Stores
from dynamo_render.kube import live

REQUEST = Kind("nvidia.com/v1alpha1", "DynamoGraphDeploymentRequest")


def waiting_for(before: Object | None, now: Object | None, stores: Stores) -> Iterator[Object]:
    """Yield the requests whose status names a graph that came, went, or is in another state than before.

    They are told by the name in their status: a graph that was there already carries no label of its request.
    """
    changed = now or before
    if changed is None or _told(before) == _told(now):
        return
    place = changed["metadata"].get("namespace", ""), changed["metadata"]["name"]
    for request in stores.all(REQUEST):
        deployment = live.status(request).get("deployment") or {}
        if (deployment.get("namespace"), deployment.get("name")) == place:
            yield request


def _told(graph: Object | None) -> tuple[object, object]:
    """Return what a request tells of its graph."""
    return (graph["metadata"]["uid"], live.status(graph).get("state")) if graph is not None else (None, None)

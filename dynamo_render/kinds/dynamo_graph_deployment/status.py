"""The status of a graph, from the graph and its live objects. controllers-graph.md sections 11 and 12, decisions.md 3.

Gives what is wanted, without times; knows neither a clock nor what has been written before, apart from the status that
the graph itself carries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dynamo_render.kinds.dynamo_graph_deployment import live_services, observation, restart
from dynamo_render.kinds.dynamo_graph_deployment.live_services import LiveService
from dynamo_render.kinds.shared.conditions import Status, condition
from dynamo_render.kinds.shared.failures import Failure
from dynamo_render.kube import live
from dynamo_render.kube.live import Object, Objects
from dynamo_render.observed import Observed, RestartStatus
from dynamo_render.scope import Pathway

_FAILED = {
    "invalid": ("ValidationFailed", "Validation failed: "),
    "error": ("failed_to_reconcile_the_resources", ""),
    "foreign": ("failed_to_reconcile_the_resources", ""),
    "finalizer": ("failed_to_handle_the_finalizer", ""),
}


def graph_status(
    resource: Object, objects: Objects, observed: Observed, pathway: Pathway, failure: Failure | None = None
) -> Status:
    """Return the status that a pass over *resource* ends with.

    *objects* are the graph's own live objects after the writes of the pass, *observed* is what its render was given:
    a restart moves on by what was there before, not by what the pass has just written. After a *failure* services and
    restart are told as before. The generation that the status speaks of stands in its condition, for the resource
    definition of the release has no other place for it.
    """
    services = live_services.services(resource, objects, pathway)
    status: Status = {"state": _state(services, failure)}
    status["conditions"] = [_ready(resource, services, pathway, failure)]
    if failure is None or failure.is_at_the_end:
        status |= _progress(resource, services, observed)
    else:
        status |= {key: value for key, value in live.status(resource).items() if key in {"services", "restart"}}
    return status


def _state(services: Sequence[LiveService], failure: Failure | None) -> str:
    if failure is not None:
        return "failed"
    return "successful" if all(service.readiness.ready for service in services) else "pending"


def _ready(
    resource: Object, services: Sequence[LiveService], pathway: Pathway, failure: Failure | None
) -> dict[str, Any]:
    generation = live.generation(resource)
    if failure is not None:
        reason, prefix = _FAILED[failure.sort]
        return condition("Ready", False, reason, prefix + failure.text, generation)
    missing = [service for service in services if not service.readiness.ready]
    if not missing:
        return condition("Ready", True, "all_resources_are_ready", "All resources are ready", generation)
    why = "; ".join(_reasons(resource, missing, pathway))
    return condition("Ready", False, "some_resources_are_not_ready", f"Resources not ready: {why}", generation)


def _reasons(resource: Object, missing: Sequence[LiveService], pathway: Pathway) -> Iterator[str]:
    """Yield what is not ready by the names of the graph's objects; on Grove all of it is one object."""
    if pathway == "grove":
        cliques = "; ".join(f"{service.short}/{service.name}: {service.readiness.reason}" for service in missing)
        yield f"{resource['metadata']['name']}: {cliques}"
        return
    for service in sorted(missing, key=lambda service: service.name):
        yield f"{service.name}: {service.readiness.reason}"


def _progress(resource: Object, services: Sequence[LiveService], observed: Observed) -> Status:
    """Return the fields about services and restart; a service whose workload counts nothing yet has no entry."""
    progress: Status = {}
    counts = {entry.service: dict(entry.readiness.service) for entry in services if entry.readiness.service}
    if counts:
        progress["services"] = counts
    now = restart.next_status(observation.restart_spec(resource), observed.restart, observed.restarted)
    if now is not None:
        progress["restart"] = _restart(now)
    return progress


def _restart(status: RestartStatus) -> dict[str, Any]:
    fields = {"observedID": status.observed_id, "phase": status.phase, "inProgress": list(status.in_progress)}
    return {name: value for name, value in fields.items() if value}

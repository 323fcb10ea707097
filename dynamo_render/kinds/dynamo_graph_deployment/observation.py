"""What a render of a graph may know of its live objects: restarts, replicas, cliques. controllers-graph.md 9 and 10."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dynamo_render.kinds.dynamo_graph_deployment import live_services, restart
from dynamo_render.kinds.dynamo_graph_deployment.live_services import LiveService
from dynamo_render.kube import live
from dynamo_render.kube.live import Object, Objects
from dynamo_render.observed import Observed
from dynamo_render.scope import RESTART_ANNOTATION, Pathway
from dynamo_render.spec.component import ComponentSpec
from dynamo_render.spec.graph import GraphSpec, Restart, RestartStrategy
from dynamo_render.values import Value, frozen
from dynamo_render.workloads import pod_clique_set

_COMPONENT_LABEL = "nvidia.com/dynamo-component"


@frozen
class Scale(Value):
    """A wish to set the scale subresource of one object of group ``grove.io``; not finding it is no error."""

    kind: str
    name: str
    replicas: int


def observed_from(resource: Object, objects: Objects, pathway: Pathway) -> Observed:
    """Return what the next render of *resource* takes from its live objects, as they are before that pass writes."""
    stamps = dict(_stamps(resource, objects, pathway))
    return Observed(
        restart=restart.status_of(live.status(resource)),
        restarted=frozenset(_restarted(resource, objects, pathway, stamps)),
        restart_stamps=stamps,
        replicas=live_services.held_replicas(resource, objects),
        clique_order=tuple(clique["name"] for clique in _cliques(resource, objects)),
    )


def scale_actions(resource: Object, objects: Objects, pathway: Pathway) -> tuple[Scale, ...]:
    """Return the scale writes by which live cliques and scaling groups get the count that their service asks for.

    Grove takes replicas from a PodCliqueSet only while it creates them. Services without a count are left alone.
    """
    if pathway != "grove":
        return ()
    return tuple(
        Scale(service.kind, service.name, service.replicas)
        for service in live_services.services(resource, objects, pathway)
        if service.replicas is not None
        and service.workload is not None
        and not live.is_being_deleted(service.workload)
        and live.desired_replicas(service.workload) != service.replicas
    )


def restart_spec(resource: Object) -> GraphSpec:
    """Return as much of a graph's spec as a restart depends on."""
    spec = resource.get("spec") or {}
    services = dict.fromkeys(spec.get("services") or (), ComponentSpec())
    wanted = spec.get("restart")
    return GraphSpec(services=services, restart=None if wanted is None else _restart(wanted))


def _restart(wanted: dict[str, Any]) -> Restart:
    strategy = wanted.get("strategy")
    if strategy is None:
        return Restart(id=wanted.get("id") or "")
    return Restart(
        id=wanted.get("id") or "",
        strategy=RestartStrategy(type=strategy.get("type") or "Sequential", order=strategy.get("order")),
    )


def _restarted(resource: Object, objects: Objects, pathway: Pathway, stamps: dict[str, str]) -> Iterator[str]:
    """Yield the services that carry the stamp of the wanted restart and have come back since.

    Without the look at the stamp, a service that has not been told yet would look as if it were back already. A service
    that has left the graph while it was restarting counts as back, so that nobody waits for it.
    """
    wanted = restart_spec(resource).restart
    if wanted is None or not wanted.id:
        return
    services = live_services.services(resource, objects, pathway)
    known = {service.service for service in services}
    before = restart.status_of(live.status(resource))
    yield from (name for name in (before.in_progress if before else ()) if name not in known)
    if pathway == "grove" and not _set_is_processed(resource, objects):
        return
    yield from (
        service.service for service in services if stamps.get(service.service) == wanted.id and _is_back(service)
    )


def _is_back(service: LiveService) -> bool:
    return service.workload is not None and service.readiness.ready


def _set_is_processed(resource: Object, objects: Objects) -> bool:
    found = objects.get((pod_clique_set.API_VERSION, "PodCliqueSet", resource["metadata"]["name"]))
    return found is not None and not live.why_unprocessed(found)


def _stamps(resource: Object, objects: Objects, pathway: Pathway) -> Iterator[tuple[str, str]]:
    """Yield the services whose live object carries a restart annotation, with its value."""
    if pathway == "grove":
        for clique in _cliques(resource, objects):
            service = (clique.get("labels") or {}).get(_COMPONENT_LABEL)
            stamp = (clique.get("annotations") or {}).get(RESTART_ANNOTATION)
            if service is not None and stamp is not None:
                yield service, stamp
        return
    for service in live_services.services(resource, objects, pathway):
        spec = (service.workload or {}).get("spec") or {}
        stamp = (spec.get("annotations") or {}).get(RESTART_ANNOTATION)
        if stamp:
            yield service.service, stamp


def _cliques(resource: Object, objects: Objects) -> list[dict[str, Any]]:
    """Return the cliques of the live PodCliqueSet in their order."""
    found = objects.get((pod_clique_set.API_VERSION, "PodCliqueSet", resource["metadata"]["name"]))
    template = ((found or {}).get("spec") or {}).get("template") or {}
    return template.get("cliques") or []

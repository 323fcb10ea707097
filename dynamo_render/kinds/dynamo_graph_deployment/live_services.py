"""The services of a graph as they are in the cluster: what serves each of them, and how ready that is.

Reads the resource as the API server holds it, with its defaults, and live objects that are the graph's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dynamo_render.facts import ClusterFacts
from dynamo_render.kinds.dynamo_graph_deployment.plan import runs_on_grove
from dynamo_render.kube import live
from dynamo_render.kube.live import Object, Objects
from dynamo_render.scope import Pathway
from dynamo_render.values import Value, frozen
from dynamo_render.workloads import component_resource, pod_clique_set
from dynamo_render.workloads.contract import Readiness

API_VERSION = "nvidia.com/v1alpha1"
ADAPTER = "DynamoGraphDeploymentScalingAdapter"


@frozen(kw_only=True)
class LiveService(Value):
    """One service with the workload that runs it.

    *short* is the kind as messages name it, empty where its name is enough; *workload* is the live object, if there is
    one; *replicas* is the wanted count, or None where neither the graph nor its adapter gives one.
    """

    service: str
    kind: str
    short: str
    name: str
    workload: Object | None
    readiness: Readiness
    replicas: int | None


def pathway_of(resource: Object, facts: ClusterFacts) -> Pathway:
    """Return how a graph becomes workloads."""
    return "grove" if runs_on_grove(facts, resource["metadata"].get("annotations") or {}) else "component"


def services(resource: Object, objects: Objects, pathway: Pathway) -> tuple[LiveService, ...]:
    """Return the services of a graph by name, each with its workload among *objects*."""
    return tuple(_services(resource, objects, pathway))


def held_replicas(resource: Object, objects: Objects) -> dict[str, int]:
    """Return the counts that belong to scaling adapters: of services that ask for one and have a live one."""
    return {
        service: int(adapter["spec"]["replicas"])
        for service, spec in _specs(resource).items()
        if (spec.get("scalingAdapter") or {}).get("enabled")
        and (adapter := objects.get((API_VERSION, ADAPTER, component_name(resource, service)))) is not None
        and not live.is_being_deleted(adapter)
    }


def component_name(resource: Object, service: str) -> str:
    """Return the name of the objects of one service outside a PodCliqueSet."""
    return f"{resource['metadata']['name']}-{service.lower()}"


def _services(resource: Object, objects: Objects, pathway: Pathway) -> Iterator[LiveService]:
    held = held_replicas(resource, objects)
    for service, spec in sorted(_specs(resource).items()):
        api_version, kind, short, judge = _workload(spec, pathway)
        name = component_name(resource, service)
        if pathway == "grove":
            name = f"{resource['metadata']['name']}-0-{service.lower()}"
        workload = objects.get((api_version, kind, name))
        yield LiveService(
            service=service,
            kind=kind,
            short=short,
            name=name,
            workload=workload,
            readiness=judge(name, workload),
            replicas=held.get(service, spec.get("replicas")),
        )


def _workload(spec: Mapping[str, Any], pathway: Pathway) -> tuple[str, str, str, Any]:
    if pathway == "component":
        return API_VERSION, "DynamoComponentDeployment", "", component_resource.readiness
    if (spec.get("multinode") or {}).get("nodeCount", 1) > 1:
        return pod_clique_set.API_VERSION, "PodCliqueScalingGroup", "pcsg", pod_clique_set.scaling_group_readiness
    return pod_clique_set.API_VERSION, "PodClique", "podclique", pod_clique_set.clique_readiness


def _specs(resource: Object) -> Mapping[str, Mapping[str, Any]]:
    return (resource.get("spec") or {}).get("services") or {}

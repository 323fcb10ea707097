"""DynamoGraphDeploymentScalingAdapters: the scale subresource of a service. controllers-graph.md section 7.3."""

from __future__ import annotations

from collections.abc import Iterable

from dynamo_render.kube.manifest import Manifest, framed
from dynamo_render.satellites.contract import Graph, GraphSatellite
from dynamo_render.values import Value, frozen


@frozen(kw_only=True)
class AdapterPlan(Value):
    """The adapter of one service."""

    name: str
    namespace: str
    graph: str
    service: str
    replicas: int


def _planned(graph: Graph) -> Iterable[AdapterPlan]:
    for component in graph.components:
        adapter = component.spec.scaling_adapter
        if adapter is not None and adapter.enabled:
            replicas = component.spec.replicas
            yield AdapterPlan(
                name=component.name,
                namespace=graph.scope.namespace,
                graph=graph.scope.name,
                service=component.service,
                replicas=1 if replicas is None else replicas,
            )


def _build(plan: AdapterPlan) -> tuple[Manifest, ...]:
    manifest = framed(
        "nvidia.com/v1alpha1",
        "DynamoGraphDeploymentScalingAdapter",
        plan.name,
        plan.namespace,
        labels={
            "nvidia.com/dynamo-graph-deployment-name": plan.graph,
            "nvidia.com/dynamo-component": plan.service,
        },
        spec={"replicas": plan.replicas, "dgdRef": {"name": plan.graph, "serviceName": plan.service}},
    )
    return (manifest,)


SCALING_ADAPTERS = GraphSatellite(planned=_planned, build=_build)

"""The service account of a component's pods where the user set none. rendering.md sections 12.4 and 13."""

from __future__ import annotations

from dynamo_render.scope import ComponentScope, GraphScope


def discovery_account(graph: GraphScope) -> str:
    """Return the account through which the pods of a graph may watch each other."""
    return f"{graph.name}-k8s-service-discovery"


def planned(scope: ComponentScope) -> str | None:
    """Return the account that fills an empty one: the discovery account, or on the component pathway a labelled one."""
    if scope.discovery == "kubernetes":
        return discovery_account(scope.graph)
    if scope.pathway == "grove":
        return None
    return scope.graph.namespace_facts.component_service_account or "default"

"""Plans a DynamoComponentDeployment: the objects of one component, whether a graph owns it or not."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_render.errors import Problem
from dynamo_render.facts import FactQuery
from dynamo_render.kinds.contract import Inputs, Reading
from dynamo_render.kinds.shared import component_path
from dynamo_render.kinds.shared.name_rules import name_problems
from dynamo_render.plans.graph import Owner, ResourcePlan, Step
from dynamo_render.satellites import GRAPH_SATELLITES
from dynamo_render.satellites.contract import Graph
from dynamo_render.scope import ComponentScope, GraphScope
from dynamo_render.spec.graph import GraphSpec

GRAPH_KIND = "DynamoGraphDeployment"


def planned(reading: Reading, inputs: Inputs, problems: list[Problem]) -> ResourcePlan:
    """Return every object of a component deployment, decided, in apply order; what is wrong is added to *problems*."""
    metadata, spec = reading.metadata, reading.spec
    name = metadata.name or ""
    graph_name = _graph_name(reading)
    stands_alone = graph_name is None and inputs.profile.standalone_components_have_a_namespace
    graph = GraphScope(
        name=name if stands_alone else graph_name or "",
        namespace=metadata.namespace or "default",
        annotations=spec.annotations or {},
        settings=inputs.settings,
        facts=inputs.facts,
        profile=inputs.profile,
        observed=inputs.observed,
        problems=problems,
    )
    dynamo_namespace = graph.dynamo_namespace(spec)
    if stands_alone and spec.dynamo_namespace:
        dynamo_namespace = spec.dynamo_namespace
    if not spec.dynamo_namespace and not stands_alone:
        message = "is required: the Services of a component deployment select by it"
        problems.append(Problem("CTL-17", ("spec", "dynamoNamespace"), message))
    scope = component_path.component_scope(graph, name, spec, metadata.labels or {}, dynamo_namespace, ("spec",))
    if inputs.profile.names_are_checked:
        problems.extend(name_problems((scope,)))
    owner = Owner("nvidia.com/v1alpha1", "DynamoComponentDeployment", name)
    access = _own_access(scope, owner) if stands_alone else ()
    return ResourcePlan((*access, *component_path.component_steps(scope, owner)))


def _own_access(scope: ComponentScope, owner: Owner) -> Iterator[Step]:
    """Yield the discovery account that a graph would provide, for a component that is its own graph."""
    for plan in GRAPH_SATELLITES["discovery_access"].planned(Graph(scope.graph, GraphSpec(), (scope,))):
        yield Step("discovery_access", plan, owner)


def needed(reading: Reading, inputs: Inputs) -> FactQuery:  # noqa: ARG001 - the contract of a kind
    """Return the facts that planning this component deployment asks for."""
    namespaces = frozenset({reading.metadata.namespace or "default"})
    return FactQuery(
        api_groups=frozenset({"leaderworkerset.x-k8s.io", "scheduling.volcano.sh"}),
        pull_secret_namespaces=namespaces,
        service_account_namespaces=namespaces,
    )


def _graph_name(reading: Reading) -> str | None:
    """Return the graph that owns the component deployment: its first owner of that kind."""
    owners = reading.metadata.owner_references or ()
    return next((owner.get("name", "") for owner in owners if owner.get("kind") == GRAPH_KIND), None)

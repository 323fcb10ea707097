"""Plans a DynamoGraphDeployment: which pathway it takes, what it has once, and what each of its services becomes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from dynamo_render.errors import Problem
from dynamo_render.facts import ClusterFacts, FactQuery
from dynamo_render.kinds.contract import Inputs, Reading
from dynamo_render.kinds.dynamo_graph_deployment import component_deployments, grove_path, restart
from dynamo_render.kinds.shared.name_rules import name_problems
from dynamo_render.plans.graph import Owner, ResourcePlan, Step
from dynamo_render.satellites import GRAPH_SATELLITES
from dynamo_render.satellites.contract import Graph
from dynamo_render.scope import ComponentScope, GraphScope
from dynamo_render.spec.graph import GraphSpec

GROVE_ANNOTATION = "nvidia.com/enable-grove"


def planned(reading: Reading, inputs: Inputs, problems: list[Problem]) -> ResourcePlan:
    """Return every object of a graph, decided, in apply order; what is wrong is added to *problems*."""
    graph = _graph(reading, inputs, problems)
    if graph.scope.profile.names_are_checked:
        problems.extend(name_problems(graph.components))
    owner = Owner("nvidia.com/v1alpha1", "DynamoGraphDeployment", graph.scope.name)
    return ResourcePlan(tuple(_steps(graph, owner, own_only=inputs.own_only)))


def needed(reading: Reading, inputs: Inputs) -> FactQuery:
    """Return the facts that planning this graph asks for."""
    graph = _graph(reading, inputs, [])
    namespaces = frozenset({graph.scope.namespace})
    query = FactQuery(
        api_groups=frozenset({"grove.io", "leaderworkerset.x-k8s.io", "scheduling.volcano.sh", "scheduling.run.ai"}),
        kai_queues=True,
        pull_secret_namespaces=namespaces,
        service_account_namespaces=namespaces,
        restart_stamps=frozenset({(graph.scope.namespace, graph.scope.name)}),
        service_progress=frozenset({(graph.scope.namespace, graph.scope.name)} if graph.spec.restart else ()),
    )
    for satellite in GRAPH_SATELLITES.values():
        query = query.joined(satellite.needs(graph))
    return query


def _graph(reading: Reading, inputs: Inputs, problems: list[Problem]) -> Graph:
    metadata, spec = reading.metadata, reading.spec
    scope = GraphScope(
        name=metadata.name or "",
        namespace=metadata.namespace or "default",
        annotations=metadata.annotations or {},
        settings=inputs.settings,
        facts=inputs.facts,
        profile=inputs.profile,
        observed=inputs.observed,
        problems=problems,
    )
    stamps = _restart_stamps(reading, scope)
    components = tuple(_components(scope, spec, stamps))
    return Graph(scope, spec, components)


def _components(scope: GraphScope, spec: GraphSpec, stamps: dict[str, str]) -> Iterator[ComponentScope]:
    on_grove = uses_grove(scope)
    for service, component in sorted((spec.services or {}).items()):
        held = scope.observed.replicas.get(service)
        if held is not None and held != (1 if component.replicas is None else component.replicas):
            component = attrs.evolve(component, replicas=held)  # noqa: PLW2901 - the component as it is held
        stamp = stamps.get(service)
        if on_grove:
            yield grove_path.component_scope(scope, spec, service, component, stamp)
        else:
            yield component_deployments.component_scope(scope, spec, service, component, stamp)


def uses_grove(scope: GraphScope) -> bool:
    """Whether the graph runs on Grove: it is installed, and the graph does not turn it off."""
    return runs_on_grove(scope.facts, scope.annotations)


def runs_on_grove(facts: ClusterFacts, annotations: Mapping[str, str]) -> bool:
    """Whether a graph with *annotations* runs on Grove in the cluster that *facts* describe."""
    return facts.has_grove and annotations.get(GROVE_ANNOTATION, "").lower() != "false"


def _restart_stamps(reading: Reading, scope: GraphScope) -> dict[str, str]:
    observed = scope.observed
    known = scope.namespace_facts
    live = {**known.restart_stamps.get(scope.name, {}), **observed.restart_stamps}
    ready = {name for name, is_ready in known.service_progress.get(scope.name, {}).items() if is_ready}
    before = observed.restart or restart.status_of(reading.status)
    status = restart.next_status(reading.spec, before, observed.restarted | ready)
    return restart.stamps(reading.spec, status, live)


def _steps(graph: Graph, owner: Owner, *, own_only: bool) -> Iterator[Step]:
    for entry, satellite in GRAPH_SATELLITES.items():
        for plan in satellite.planned(graph):
            yield Step(entry, plan, owner if satellite.owned else None)
    if uses_grove(graph.scope):
        yield from grove_path.steps(graph.scope, graph.components, owner)
        return
    yield from component_deployments.steps(graph.scope, graph.components, owner)
    if not own_only:
        yield from component_deployments.nested_steps(graph.components)

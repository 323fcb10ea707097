"""A graph on Grove: one PodCliqueSet with the Services and Ingress beside it. rendering.md section 16."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from dynamo_render import backends, workloads
from dynamo_render.components import component_type
from dynamo_render.errors import MissingFacts, Problem
from dynamo_render.facts import FactQuery
from dynamo_render.kinds.shared import metadata
from dynamo_render.kinds.shared.metadata import UserMetadata
from dynamo_render.kube import durations
from dynamo_render.plans.graph import Owner, Step
from dynamo_render.plans.launch import Role
from dynamo_render.plans.pod import PodPlan
from dynamo_render.plans.workload import CliquePlan, PodCliqueSetPlan, ScalingGroupPlan
from dynamo_render.pods import plan as pod_plan
from dynamo_render.satellites import COMPONENT_SATELLITES
from dynamo_render.scope import DISCOVERY_ANNOTATION, RESTART_ANNOTATION, ComponentScope, GraphScope
from dynamo_render.spec.component import ComponentSpec
from dynamo_render.spec.graph import GraphSpec
from dynamo_render.workloads.pod_clique_set import leader_clique, worker_clique

QUEUE_ANNOTATION = "nvidia.com/kai-scheduler-queue"
QUEUE_LABEL = "kai.scheduler/queue"
DEFAULT_QUEUE = "dynamo"
KAI = "kai-scheduler"


def component_scope(
    graph: GraphScope, graph_spec: GraphSpec, service: str, spec: ComponentSpec, stamp: str | None
) -> ComponentScope:
    """Return the scope of one service of a graph on Grove; *stamp* is its restart annotation."""
    path = ("spec", "services", service)
    user = UserMetadata(spec, graph.profile, path, graph.problems)
    name = f"{graph.name}-{service.lower()}"
    dynamo_namespace = graph.dynamo_namespace(spec)
    inherited = {DISCOVERY_ANNOTATION: graph.discovery} if graph.discovery else {}
    own_labels = {
        metadata.SELECTOR: name,
        **metadata.identity_labels(service, dynamo_namespace, graph.name),
        **metadata.type_labels(spec),
        **metadata.model_labels(spec),
        **metadata.metrics_labels(graph.annotations),
    }
    user_first = graph.profile.operator_metadata_is_protected
    _warn_of_overruled_discovery(graph, user, path)
    return ComponentScope(
        graph=graph,
        pathway="grove",
        service=service,
        name=name,
        spec=spec,
        engine=graph_spec.backend_framework,
        envs=(*(graph_spec.envs or ()), *(spec.envs or ())),
        dynamo_namespace=dynamo_namespace,
        selected_namespace=dynamo_namespace,
        annotations={**(spec.annotations or {}), **inherited},
        labels=user.labels,
        object_annotations=_object_annotations(graph, user, inherited),
        pod_labels={**user.labels, **own_labels} if user_first else {**own_labels, **user.labels},
        extra_pod_labels=user.pod_labels,
        pod_annotations={
            **user.annotations,
            **inherited,
            **user.pod_annotations,
            **({} if stamp is None else {RESTART_ANNOTATION: stamp}),
        },
        path=path,
    )


def _warn_of_overruled_discovery(graph: GraphScope, user: UserMetadata, path: tuple[str, ...]) -> None:
    wanted = user.annotations.get(DISCOVERY_ANNOTATION)
    if wanted is not None and graph.discovery and wanted != graph.discovery:
        message = f'"{wanted}" is not used: on Grove the graph decides, and it says "{graph.discovery}"'
        at = (*path, "annotations", DISCOVERY_ANNOTATION)
        hint = "set the annotation on the graph"
        graph.problems.append(Problem("discovery/overruled", at, message, hint, "warning"))


def _object_annotations(graph: GraphScope, user: UserMetadata, inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the annotations of a service's objects: the user's, with what the graph decides in place of theirs."""
    if not graph.profile.metadata_reaches_every_object:
        return {}
    return {key: inherited.get(key, value) for key, value in user.annotations.items()}


def steps(graph: GraphScope, components: Sequence[ComponentScope], owner: Owner) -> Iterator[Step]:
    """Yield the steps of a graph on Grove: its PodCliqueSet, model Services, then each component's own objects."""
    yield Step("pod_clique_set", _pod_clique_set(graph, components), owner)
    for entries in (("model_services",), tuple(entry for entry in COMPONENT_SATELLITES if entry != "model_services")):
        for component in components:
            for entry in entries:
                for plan in COMPONENT_SATELLITES[entry].planned(component):
                    yield Step(entry, plan, owner)


def _pod_clique_set(graph: GraphScope, components: Sequence[ComponentScope]) -> PodCliqueSetPlan:
    delay = graph.settings.grove_termination_delay
    queue = _queue(graph)
    cliques = [clique for component in components for clique in _cliques(component, queue)]
    return PodCliqueSetPlan(
        name=graph.name,
        namespace=graph.namespace,
        termination_delay=durations.format(delay) if delay > 0 else None,
        cliques=_in_live_order(cliques, graph.observed.clique_order),
        groups=tuple(_scaling_group(component) for component in components if component.is_multinode),
    )


def _in_live_order(cliques: list[CliquePlan], live: Sequence[str]) -> tuple[CliquePlan, ...]:
    """Return the cliques with those of a live set first, in its order: Grove takes another order for a change."""
    position = {name: index for index, name in enumerate(live)}
    return tuple(sorted(cliques, key=lambda clique: position.get(clique.name, len(position))))


def _queue(graph: GraphScope) -> str | None:
    """Return the kai-scheduler queue of the graph, or None without that scheduler."""
    if not graph.facts.has_kai:
        return None
    queue = graph.annotations.get(QUEUE_ANNOTATION, "").strip() or DEFAULT_QUEUE
    if graph.facts.kai_queues is None:
        raise MissingFacts(FactQuery(kai_queues=True))
    if queue not in graph.facts.kai_queues:
        path = ("metadata", "annotations", QUEUE_ANNOTATION) if QUEUE_ANNOTATION in graph.annotations else ()
        known = ", ".join(sorted(graph.facts.kai_queues)) or "none"
        message = f'the kai-scheduler queue "{queue}" does not exist in the cluster'
        graph.problems.append(Problem("CTL-12", path, message, f"queues: {known}"))
    return queue


def _scaling_group(scope: ComponentScope) -> ScalingGroupPlan:
    return ScalingGroupPlan(
        name=scope.service.lower(),
        cliques=(leader_clique(scope.service), worker_clique(scope.service)),
        replicas=scope.spec.replicas,
    )


def _cliques(scope: ComponentScope, queue: str | None) -> Iterator[CliquePlan]:
    """Yield the clique of a component on one node, or those of its leader and its workers."""
    foreign = scope.spec.pod.get("schedulerName") not in {None, "", KAI}
    scheduler = None if queue is None or foreign else KAI
    orchestrator = workloads.WORKLOADS["pod_clique_set"]
    addressing = orchestrator.addressing(scope) if scope.is_multinode and orchestrator.addressing else None
    pod = pod_plan.planned(scope, component_type(scope.component_type), addressing, scheduler)
    labels = {**scope.pod_labels, **scope.extra_pod_labels, **({QUEUE_LABEL: queue} if scheduler and queue else {})}
    if not scope.is_multinode:
        replicas = 1 if scope.spec.replicas is None else scope.spec.replicas
        yield _clique(scope, scope.service.lower(), "main", replicas, labels, pod)
        return
    leader, worker = leader_clique(scope.service), worker_clique(scope.service)
    # Only one pod may hold what the plan holds: the leader's does, the workers' get copies.
    first = _clique(scope, leader, "leader", 1, labels, attrs.evolve(pod, is_shared=False))
    if backends.BACKENDS[pod.launch.backend].workers_start_first:
        first = attrs.evolve(first, starts_after=(worker,))
    yield first
    yield _clique(scope, worker, "worker", scope.spec.nodes - 1, labels, pod)


def _clique(
    scope: ComponentScope, name: str, role: Role, replicas: int, labels: dict[str, str], pod: PodPlan
) -> CliquePlan:
    return CliquePlan(
        name=name,
        role=role,
        replicas=replicas,
        labels=labels,
        annotations=scope.pod_annotations,
        starts_after=(),
        pod=pod,
    )

"""A component deployment's scope and objects: Deployment or LeaderWorkerSets, Services, Ingress. rendering.md 19 to 22.

Used for DynamoComponentDeployments that a user wrote and for those that a graph makes of its services.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from dynamo_render import workloads
from dynamo_render.components import component_type
from dynamo_render.kinds.shared import metadata
from dynamo_render.kinds.shared.metadata import UserMetadata
from dynamo_render.plans.graph import Owner, Step
from dynamo_render.plans.pod import PodPlan
from dynamo_render.plans.workload import DeploymentPlan, LeaderWorkerSetPlan
from dynamo_render.pods import plan as pod_plan
from dynamo_render.pods.assemble import assembled
from dynamo_render.satellites import COMPONENT_SATELLITES
from dynamo_render.satellites.services import DEBUG_TARGET, STEALING_ANNOTATION
from dynamo_render.scope import RESTART_ANNOTATION, ComponentScope, GraphScope
from dynamo_render.spec.component import ComponentDeploymentSpec
from dynamo_render.workloads.contract import Workload
from dynamo_render.workloads.deployment import planned_strategy
from dynamo_render.workloads.leader_worker_set import GROUP_ANNOTATION, SCHEDULER

MOST_REPLICAS = 1000

_INHERITED = frozenset({metadata.COMPONENT, metadata.NAMESPACE, metadata.GRAPH})


def component_scope(
    graph: GraphScope,
    name: str,
    spec: ComponentDeploymentSpec,
    own_labels: Mapping[str, str],
    dynamo_namespace: str,
    path: tuple[str | int, ...],
) -> ComponentScope:
    """Return the scope of the component deployment *name* with *own_labels* in its metadata."""
    user = UserMetadata(spec, graph.profile, path, graph.problems, _INHERITED)
    annotations = dict(spec.annotations or {})
    service = spec.service_name or name
    labels = {**user.labels, **own_labels, **metadata.model_labels(spec)}
    object_annotations, pod_annotations = _annotations(graph, user)
    if graph.profile.metadata_reaches_every_object:
        labels |= metadata.identity_labels(service, dynamo_namespace, graph.name)
    graph_label = {metadata.GRAPH: labels.get(metadata.GRAPH, "")}
    if RESTART_ANNOTATION in annotations:
        pod_annotations[RESTART_ANNOTATION] = annotations[RESTART_ANNOTATION]
    return ComponentScope(
        graph=graph,
        pathway="component",
        service=service,
        name=name,
        spec=spec,
        engine=spec.backend_framework,
        envs=tuple(spec.envs or ()),
        dynamo_namespace=dynamo_namespace,
        selected_namespace=spec.dynamo_namespace or dynamo_namespace,
        annotations=annotations,
        labels=labels,
        object_annotations={**object_annotations, **metadata.model_annotations(spec)},
        pod_labels={**labels, **metadata.metrics_labels(annotations), **graph_label, **metadata.type_labels(spec)},
        extra_pod_labels=user.pod_labels,
        pod_annotations=pod_annotations,
        path=path,
    )


def _annotations(graph: GraphScope, user: UserMetadata) -> tuple[dict[str, str], dict[str, str]]:
    """Return the annotations of a component's objects and those of its pods."""
    of_objects = dict(user.annotations)
    if not graph.profile.pod_metadata_stays_on_pods:
        of_objects |= user.pod_annotations
    of_pods = dict(user.annotations) if graph.profile.metadata_reaches_every_object else {}
    return of_objects, {**of_pods, **user.pod_annotations}


def component_steps(scope: ComponentScope, owner: Owner | None) -> Iterator[Step]:
    """Yield the steps that make the objects of one component deployment, in apply order."""
    yield from _workload_steps(scope, owner)
    for entry, satellite in COMPONENT_SATELLITES.items():
        for plan in satellite.planned(scope):
            yield Step(entry, plan, owner)


def _workload_steps(scope: ComponentScope, owner: Owner | None) -> Iterator[Step]:
    if scope.is_multinode and scope.graph.facts.has_leader_worker_set:
        for plan in _leader_worker_sets(scope):
            yield Step("leader_worker_set", plan, owner)
        return
    has_debug_pod = scope.annotations.get(STEALING_ANNOTATION) == "true"
    pod = _pod(scope, workloads.WORKLOADS["leader_worker_set"] if scope.is_multinode else None)
    pod = attrs.evolve(pod, is_shared=True) if has_debug_pod else pod
    yield Step("deployment", _deployment(scope, pod, scope.name, debug=False), owner)
    if has_debug_pod:
        debug_pod = attrs.evolve(pod, debugger_image=scope.graph.settings.debugger_image)
        yield Step("deployment", _deployment(scope, debug_pod, f"{scope.name}-d", debug=True), owner)


def _pod(scope: ComponentScope, orchestrator: Workload | None, scheduler: str | None = None) -> PodPlan:
    addressing = orchestrator.addressing(scope) if orchestrator and orchestrator.addressing else None
    pod = pod_plan.planned(scope, component_type(scope.component_type), addressing, scheduler)
    if scope.annotations.get(pod_plan.DEBUG_ANNOTATION) == "true":
        return attrs.evolve(pod, debugger_image=scope.graph.settings.debugger_image)
    return pod


def _deployment(scope: ComponentScope, pod: PodPlan, name: str, *, debug: bool) -> DeploymentPlan:
    selector = {metadata.SELECTOR: name}
    target = DEBUG_TARGET if debug else {}
    return DeploymentPlan(
        name=name,
        namespace=scope.graph.namespace,
        labels=scope.labels,
        annotations=scope.object_annotations,
        replicas=1 if debug else scope.spec.replicas,
        selector=selector,
        strategy=planned_strategy(scope),
        pod_labels={**scope.pod_labels, **target, **selector, **scope.extra_pod_labels},
        pod_annotations=scope.pod_annotations,
        pod=pod,
    )


def _leader_worker_sets(scope: ComponentScope) -> Iterator[LeaderWorkerSetPlan]:
    """Yield one plan for each replica; report what a LeaderWorkerSet cannot run."""
    replicas = 1 if scope.spec.replicas is None else scope.spec.replicas
    if replicas > MOST_REPLICAS:
        message = f"must be at most {MOST_REPLICAS} on several nodes, got {replicas}"
        scope.refuse("count/replicas", ("replicas",), message)
        return
    if replicas == 0:
        return
    pod = _pod(scope, workloads.WORKLOADS["leader_worker_set"], SCHEDULER)
    _check_leader_worker_set(scope, pod)
    for index in range(replicas):
        yield _leader_worker_set(scope, pod, index)


def _leader_worker_set(scope: ComponentScope, pod: PodPlan, index: int) -> LeaderWorkerSetPlan:
    name = f"{scope.name}-{index}"
    instance = {"instance-id": str(index)}
    spread = scope.profile.metadata_reaches_every_object
    labels = {**scope.labels, **instance}
    pod_labels = {**scope.pod_labels, **scope.extra_pod_labels, **labels}
    pod_labels.pop(metadata.SELECTOR, None)
    return LeaderWorkerSetPlan(
        name=name,
        namespace=scope.graph.namespace,
        size=scope.spec.nodes,
        labels=labels,
        annotations=scope.object_annotations if spread else {},
        group_labels=labels if spread else instance,
        leader_labels={**pod_labels, "role": "leader"},
        worker_labels={**pod_labels, "role": "worker"},
        pod_annotations={**scope.pod_annotations, GROUP_ANNOTATION: name},
        pod=pod,
    )


def _check_leader_worker_set(scope: ComponentScope, pod: PodPlan) -> None:
    """Report a main container that a LeaderWorkerSet could not start, as it is after the launch is put together."""
    pod = attrs.evolve(pod, is_shared=False)  # these pods are looked at, not kept
    limits = scope.spec.resources and scope.spec.resources.limits
    if not (limits and limits.gpu):
        scope.refuse("CTL-16", ("resources", "limits", "gpu"), "is required for a LeaderWorkerSet")
    main = next((c for c in assembled(pod, "leader")["containers"] if c["name"] == "main"), None)
    worker = next((c for c in assembled(pod, "worker")["containers"] if c["name"] == "main"), None)
    at: tuple[str, ...] = ("extraPodSpec", "mainContainer")
    if main is None or worker is None:
        scope.refuse("CTL-15", (*at, "name"), 'must be "main" for a LeaderWorkerSet', "leave the name out")
        return
    for field in ("command", "args"):
        if not _filled(main, field) or not _filled(worker, field):
            scope.refuse("CTL-15", (*at, field), "is required and must not be empty for a LeaderWorkerSet")


def _filled(container: Mapping[str, Any], field: str) -> bool:
    return bool(container.get(field))

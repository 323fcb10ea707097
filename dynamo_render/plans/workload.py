"""Workload objects, decided: the input of `workloads`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dynamo_render.plans.launch import Role
from dynamo_render.plans.pod import PodPlan
from dynamo_render.values import Value, frozen

Json = dict[str, Any]
Labels = Mapping[str, str]


@frozen(kw_only=True)
class DeploymentPlan(Value):
    """A Deployment; *replicas* None leaves the count to the API server."""

    name: str
    namespace: str
    labels: Labels
    annotations: Labels
    replicas: int | None
    selector: Labels
    strategy: Json
    pod_labels: Labels
    pod_annotations: Labels
    pod: PodPlan


@frozen(kw_only=True)
class LeaderWorkerSetPlan(Value):
    """One replica of a multinode component: a LeaderWorkerSet over *size* nodes and the PodGroup that schedules it."""

    name: str
    namespace: str
    size: int
    labels: Labels
    annotations: Labels
    group_labels: Labels
    leader_labels: Labels
    worker_labels: Labels
    pod_annotations: Labels
    pod: PodPlan


@frozen(kw_only=True)
class CliquePlan(Value):
    """One clique: the pods of one role of one component."""

    name: str
    role: Role
    replicas: int
    labels: Labels
    annotations: Labels
    starts_after: tuple[str, ...]
    pod: PodPlan


@frozen(kw_only=True)
class ScalingGroupPlan(Value):
    """Leader and worker cliques that scale together; *replicas* None leaves the count to Grove."""

    name: str
    cliques: tuple[str, ...]
    replicas: int | None


@frozen(kw_only=True)
class PodCliqueSetPlan(Value):
    """All pods of a graph on Grove; *termination_delay* is a duration text, None leaves it out."""

    name: str
    namespace: str
    termination_delay: str | None
    cliques: tuple[CliquePlan, ...]
    groups: tuple[ScalingGroupPlan, ...]


@frozen(kw_only=True)
class ComponentResourcePlan(Value):
    """A DynamoComponentDeployment made from a service of a graph; *spec* shares nothing with what else is planned."""

    name: str
    namespace: str
    labels: Labels
    annotations: Labels
    spec: Json

"""Workload kinds by the name of their plan's step."""

from __future__ import annotations

from collections.abc import Mapping

from dynamo_render.workloads.component_resource import COMPONENT_RESOURCE
from dynamo_render.workloads.contract import Workload
from dynamo_render.workloads.deployment import DEPLOYMENT
from dynamo_render.workloads.leader_worker_set import LEADER_WORKER_SET
from dynamo_render.workloads.pod_clique_set import POD_CLIQUE_SET
from dynamo_render.workloads.profiling_job import PROFILING_JOB

WORKLOADS: Mapping[str, Workload] = {
    "deployment": DEPLOYMENT,
    "leader_worker_set": LEADER_WORKER_SET,
    "pod_clique_set": POD_CLIQUE_SET,
    "component_resource": COMPONENT_RESOURCE,
    "profiling_job": PROFILING_JOB,
}

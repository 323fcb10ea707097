"""Workload kinds by the name of their plan's step."""

from __future__ import annotations

from collections.abc import Mapping

from dynamo_render.room import Room
from dynamo_render.workloads.contract import Workload

WORKLOADS: Mapping[str, Workload] = Room(
    {
        "deployment": "dynamo_render.workloads.deployment:DEPLOYMENT",
        "leader_worker_set": "dynamo_render.workloads.leader_worker_set:LEADER_WORKER_SET",
        "pod_clique_set": "dynamo_render.workloads.pod_clique_set:POD_CLIQUE_SET",
        "component_resource": "dynamo_render.workloads.component_resource:COMPONENT_RESOURCE",
        "profiling_job": "dynamo_render.workloads.profiling_job:PROFILING_JOB",
    }
)

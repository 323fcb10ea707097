"""DynamoComponentDeployments made from the services of a graph. Specification: rendering.md section 18."""

from __future__ import annotations

from dynamo_render.kube import structural
from dynamo_render.kube.manifest import Manifest, framed
from dynamo_render.plans.workload import ComponentResourcePlan
from dynamo_render.workloads.contract import Workload


def _build(plan: ComponentResourcePlan) -> tuple[Manifest, ...]:
    manifest = framed(
        "nvidia.com/v1alpha1",
        "DynamoComponentDeployment",
        plan.name,
        plan.namespace,
        labels=plan.labels,
        annotations=plan.annotations,
        spec=structural.copied(plan.spec),
    )
    return (manifest,)


COMPONENT_RESOURCE = Workload(build=_build, kind="DynamoComponentDeployment")

"""DynamoComponentDeployments made from the services of a graph. Specification: rendering.md section 18."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamo_render.kube import live
from dynamo_render.kube.live import Object
from dynamo_render.kube.manifest import Manifest, framed
from dynamo_render.plans.workload import ComponentResourcePlan
from dynamo_render.workloads.contract import Readiness, Workload

if TYPE_CHECKING:
    from dynamo_render.kube.shapes import Shape


def _build(plan: ComponentResourcePlan) -> tuple[Manifest, ...]:
    manifest = framed(
        "nvidia.com/v1alpha1",
        "DynamoComponentDeployment",
        plan.name,
        plan.namespace,
        labels=plan.labels,
        annotations=plan.annotations,
        spec=plan.spec,
    )
    return (manifest,)


def readiness(_name: str, found: Object | None) -> Readiness:
    """Judge a component deployment as its graph sees it: by its own word, as long as that is about its present spec."""
    if found is None or live.condition_status(found, "Available") != "True":
        reason = "Component deployment not ready - Available condition not true"
    else:
        reason = live.why_unprocessed(found)
    return Readiness(reason, live.status(found).get("service") if found else None)


def _shape() -> Shape:
    from dynamo_render.kube import shapes  # noqa: PLC0415 - a render does without shapes

    pod_spec = shapes.Shape(fields={"mainContainer": shapes.embedded("core/v1.Container")}, embedded="core/v1.PodSpec")
    lists = {"envs": shapes.listed("name"), "volumeMounts": shapes.listed("mountPoint")}
    return shapes.within(spec=shapes.within(**lists, extraPodSpec=pod_spec))


COMPONENT_RESOURCE = Workload(
    build=_build,
    group="nvidia.com",
    kind="DynamoComponentDeployment",
    readiness=readiness,
    shape=_shape,
)

"""Deployments: components on one node. Specification: rendering.md section 19."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dynamo_render.kube import live
from dynamo_render.kube.live import Object
from dynamo_render.kube.manifest import Manifest, framed, template_metadata
from dynamo_render.plans.workload import DeploymentPlan
from dynamo_render.pods.assemble import assembled
from dynamo_render.scope import ComponentScope
from dynamo_render.workloads.contract import EffectivePod, PodTemplate, Readiness, Workload

if TYPE_CHECKING:
    from dynamo_render.kube.shapes import Shape

STRATEGY = "nvidia.com/deployment-strategy"
MAX_SURGE = "nvidia.com/deployment-rolling-update-max-surge"
MAX_UNAVAILABLE = "nvidia.com/deployment-rolling-update-max-unavailable"
DEFAULT_LIMIT = "25%"
MOST_DIGITS = 100


def planned_strategy(scope: ComponentScope) -> dict[str, Any]:
    """Return how a Deployment of *scope* replaces its pods, with the limits that its own annotations set."""
    if scope.annotations.get(STRATEGY) == "Recreate":
        return {"type": "Recreate"}
    limits = scope.object_annotations
    return {
        "type": "RollingUpdate",
        "rollingUpdate": {
            "maxSurge": _limit(limits.get(MAX_SURGE)),
            "maxUnavailable": _limit(limits.get(MAX_UNAVAILABLE)),
        },
    }


def _limit(text: str | None) -> int | str:
    """Return an integer text as a number and any other text as it is."""
    if not text:
        return DEFAULT_LIMIT
    digits = text[1:] if text[0] in "+-" else text
    if len(digits) <= MOST_DIGITS and digits.isascii() and digits.isdigit() and -(2**31) <= int(text) < 2**31:
        return int(text)
    return text


def _build(plan: DeploymentPlan) -> tuple[Manifest, ...]:
    spec: dict[str, Any] = {} if plan.replicas is None else {"replicas": plan.replicas}
    spec["selector"] = {"matchLabels": dict(plan.selector)}
    spec["strategy"] = plan.strategy
    spec["template"] = {
        "metadata": template_metadata(plan.pod_labels, plan.pod_annotations),
        "spec": assembled(plan.pod, "main"),
    }
    manifest = framed(
        "apps/v1", "Deployment", plan.name, plan.namespace, labels=plan.labels, annotations=plan.annotations, spec=spec
    )
    return (manifest,)


def _pods(manifest: Manifest) -> Iterator[EffectivePod]:
    template = manifest["spec"]["template"]
    name = manifest["metadata"]["name"]
    component = template["metadata"].get("labels", {}).get("nvidia.com/dynamo-component", name)
    yield EffectivePod(component, "main", 0, f"{name}-<id>", template["spec"], {})


def _templates(manifest: Manifest) -> Iterator[PodTemplate]:
    spec = manifest["spec"]
    yield PodTemplate("main", spec.get("replicas", 1), spec["template"]["spec"], (("spec", "template"),))


def readiness(name: str, found: Object | None) -> Readiness:
    """Judge a Deployment: every replica of its present spec is available, and none of an older one is left."""
    counts = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
    service = {count: live.count(found, count) if found else 0 for count in counts}
    reason = "resource not found" if found is None else _why_not_ready(found)
    return Readiness(reason, {"componentKind": "Deployment", "componentName": name, **service})


def _why_not_ready(found: Object) -> str:
    if found["spec"].get("paused"):
        return "rollouts are paused"
    desired = live.desired_replicas(found)
    if desired == 0:
        return ""
    updated, available = live.count(found, "updatedReplicas"), live.count(found, "availableReplicas")
    checks = (
        (not live.why_unprocessed(found), live.why_unprocessed(found)),
        (updated >= desired, f"desired={desired}, updated={updated}"),
        (available >= desired, f"desired={desired}, available={available}"),
        (live.count(found, "replicas") == desired, f"desired={desired}, replicas={live.count(found, 'replicas')}"),
        (live.condition_status(found, "Available") == "True", "Available condition not true"),
    )
    return next((reason for passed, reason in checks if not passed), "")


def _shape() -> Shape:
    from dynamo_render.kube import shapes  # noqa: PLC0415 - a render does without shapes

    return shapes.within(spec=shapes.within(template=shapes.POD_TEMPLATE))


DEPLOYMENT = Workload(
    build=_build,
    group="apps",
    kind="Deployment",
    shape=_shape,
    templates=_templates,
    pods=_pods,
    readiness=readiness,
)

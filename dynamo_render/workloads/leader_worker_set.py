"""LeaderWorkerSets with Volcano PodGroups: multinode components without Grove. rendering.md sections 15.2 and 20."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dynamo_render.kube import live
from dynamo_render.kube.live import Object
from dynamo_render.kube.manifest import Manifest, framed, template_metadata
from dynamo_render.plans.launch import Addressing
from dynamo_render.plans.workload import LeaderWorkerSetPlan
from dynamo_render.pods.assemble import assembled
from dynamo_render.scope import ComponentScope
from dynamo_render.workloads.contract import EffectivePod, PodTemplate, Readiness, Workload

if TYPE_CHECKING:
    from dynamo_render.kube.shapes import Shape

# A change of one template, or of the size of a group, makes a new revision, and a group is replaced as a whole.
REPLACED_BY = (("spec", "leaderWorkerTemplate"), ("spec", "networkConfig"))

SCHEDULER = "volcano"
GROUP_ANNOTATION = "scheduling.k8s.io/group-name"

_COUNTS = ("replicas", "updatedReplicas", "readyReplicas")


def addressing(scope: ComponentScope) -> Addressing:
    """Return the addresses by the variables that the LeaderWorkerSet controller puts into every pod."""
    by_kubelet = scope.profile.leader_address_for_kubelet
    leader = "$(LWS_LEADER_ADDRESS)" if by_kubelet else "$LWS_LEADER_ADDRESS"
    workers = (rf"""$(echo "$LWS_LEADER_ADDRESS" | sed 's/\./-{index}\./')""" for index in range(1, scope.spec.nodes))
    return Addressing(
        leader=leader,
        hosts=(leader, *workers),
        rank="$(LWS_WORKER_INDEX)",
        rank_in_sum="LWS_WORKER_INDEX" if by_kubelet else "$(LWS_WORKER_INDEX)",
        needs_shell=True,
        waits_for_names=True,
    )


def _build(plan: LeaderWorkerSetPlan) -> tuple[Manifest, ...]:
    group = framed(
        "scheduling.volcano.sh/v1beta1",
        "PodGroup",
        plan.name,
        plan.namespace,
        labels=plan.group_labels,
        annotations=plan.annotations,
        spec={"minMember": plan.size},
    )
    workload = framed(
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        plan.name,
        plan.namespace,
        labels=plan.labels,
        annotations=plan.annotations,
        spec={
            "replicas": 1,
            "startupPolicy": "LeaderCreated",
            "leaderWorkerTemplate": {
                "size": plan.size,
                "leaderTemplate": {
                    "metadata": template_metadata(plan.leader_labels, plan.pod_annotations),
                    "spec": assembled(plan.pod, "leader"),
                },
                "workerTemplate": {
                    "metadata": template_metadata(plan.worker_labels, plan.pod_annotations),
                    "spec": assembled(plan.pod, "worker"),
                },
            },
        },
    )
    return group, workload


def _pods(manifest: Manifest) -> Iterator[EffectivePod]:
    metadata, template = manifest["metadata"], manifest["spec"]["leaderWorkerTemplate"]
    name = metadata["name"]
    component = metadata.get("labels", {}).get("nvidia.com/dynamo-component", name)
    leader_address = f"{name}-0.{name}.{metadata['namespace']}"
    for rank in range(template["size"]):
        spec: dict[str, Any] = template["workerTemplate" if rank else "leaderTemplate"]["spec"]
        runtime_env = {
            "LWS_LEADER_ADDRESS": leader_address,
            "LWS_GROUP_SIZE": str(template["size"]),
            "LWS_WORKER_INDEX": str(rank),
        }
        pod_name = f"{name}-0-{rank}" if rank else f"{name}-0"
        yield EffectivePod(component, "worker" if rank else "leader", rank, pod_name, spec, runtime_env)


def _templates(manifest: Manifest) -> Iterator[PodTemplate]:
    groups, template = manifest["spec"].get("replicas", 1), manifest["spec"]["leaderWorkerTemplate"]
    workers = template["workerTemplate"]["spec"]
    leader = template.get("leaderTemplate", {}).get("spec", workers)
    yield PodTemplate("leader", groups, leader, REPLACED_BY)
    yield PodTemplate("worker", groups * (template.get("size", 1) - 1), workers, REPLACED_BY)


def readiness(name: str, found: Object | None) -> Readiness:
    """Judge one LeaderWorkerSet: all of its groups are up to date and ready.

    Its controller does not say which generation its status speaks of; where one does, that counts too.
    """
    service = {count: live.count(found, count) if found else 0 for count in _COUNTS}
    reason = "resource not found" if found is None else _why_not_ready(found)
    return Readiness(reason, {"componentKind": "LeaderWorkerSet", "componentName": name, **service})


def joined(sets: Sequence[Readiness]) -> Readiness:
    """Return the readiness of a component with a set for each replica: counts are sums, the name is the first one's."""
    if not sets:
        return Readiness("", None)
    first, *_others = services = [one.service or {} for one in sets]
    reason = "; ".join(one.reason for one in sets if one.reason)
    return Readiness(reason, {**first, **{count: sum(service[count] for service in services) for count in _COUNTS}})


def _why_not_ready(found: Object) -> str:
    desired = live.desired_replicas(found)
    if desired == 0:
        return ""
    updated, ready = live.count(found, "updatedReplicas"), live.count(found, "readyReplicas")
    stale = "" if live.observed_generation(found) is None else live.why_unprocessed(found)
    checks = (
        (not stale, stale),
        (updated >= desired, f"desired={desired}, updated={updated}"),
        (ready >= desired, f"desired={desired}, ready={ready}"),
        (live.condition_status(found, "Available") == "True", "Available condition not true"),
    )
    return next((reason for passed, reason in checks if not passed), "")


def _shape() -> Shape:
    from dynamo_render.kube import shapes  # noqa: PLC0415 - a render does without shapes

    template = shapes.within(leaderTemplate=shapes.POD_TEMPLATE, workerTemplate=shapes.POD_TEMPLATE)
    return shapes.within(spec=shapes.within(leaderWorkerTemplate=template))


LEADER_WORKER_SET = Workload(
    build=_build,
    group="leaderworkerset.x-k8s.io",
    kind="LeaderWorkerSet",
    shape=_shape,
    templates=_templates,
    pods=_pods,
    readiness=readiness,
    addressing=addressing,
)

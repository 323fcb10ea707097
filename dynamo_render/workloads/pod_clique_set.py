"""Grove PodCliqueSets: all pods of a graph in one object. Specification: rendering.md sections 15.2 and 16."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from dynamo_render.kube import live
from dynamo_render.kube.live import Object
from dynamo_render.kube.manifest import Manifest, framed
from dynamo_render.plans.launch import Addressing, Role
from dynamo_render.plans.workload import CliquePlan, PodCliqueSetPlan, ScalingGroupPlan
from dynamo_render.pods.assemble import assembled
from dynamo_render.scope import ComponentScope
from dynamo_render.workloads.contract import EffectivePod, PodTemplate, Readiness, Workload

if TYPE_CHECKING:
    from dynamo_render.kube.shapes import Path, Shape

API_VERSION = "grove.io/v1alpha1"

_POD_OF = "$(GROVE_PCSG_NAME)-$(GROVE_PCSG_INDEX)-{clique}-{index}.$(GROVE_HEADLESS_SERVICE)"


def leader_clique(service: str) -> str:
    """Return the clique of a multinode service's leader."""
    return f"{service.lower()}-ldr"


def worker_clique(service: str) -> str:
    """Return the clique of a multinode service's workers."""
    return f"{service.lower()}-wkr"


def addressing(scope: ComponentScope) -> Addressing:
    """Return the addresses by the variables that Grove puts into every pod."""
    leader = _POD_OF.format(clique=leader_clique(scope.service), index=0)
    workers = (
        _POD_OF.format(clique=worker_clique(scope.service), index=index) for index in range(scope.spec.nodes - 1)
    )
    return Addressing(
        leader=leader,
        hosts=(leader, *workers),
        rank="$((GROVE_PCLQ_POD_INDEX + 1))",
        rank_in_sum="$((GROVE_PCLQ_POD_INDEX + 1))",
        needs_shell=True,
        waits_for_names=False,
    )


def _build(plan: PodCliqueSetPlan) -> tuple[Manifest, ...]:
    explicit = any(clique.starts_after for clique in plan.cliques)
    template: dict[str, Any] = {
        "cliqueStartupType": "CliqueStartupTypeExplicit" if explicit else "CliqueStartupTypeAnyOrder",
        "headlessServiceConfig": {"publishNotReadyAddresses": True},
    }
    if plan.termination_delay is not None:
        template["terminationDelay"] = plan.termination_delay
    template["cliques"] = [_clique(clique) for clique in plan.cliques]
    if plan.groups:
        template["podCliqueScalingGroups"] = [_scaling_group(group) for group in plan.groups]
    spec = {"replicas": 1, "template": template}
    return (framed(API_VERSION, "PodCliqueSet", plan.name, plan.namespace, spec=spec),)


def _clique(plan: CliquePlan) -> dict[str, Any]:
    clique: dict[str, Any] = {"name": plan.name}
    if plan.labels:
        clique["labels"] = dict(plan.labels)
    if plan.annotations:
        clique["annotations"] = dict(plan.annotations)
    spec: dict[str, Any] = {"roleName": plan.name, "replicas": plan.replicas, "minAvailable": 1}
    if plan.starts_after:
        spec["startsAfter"] = list(plan.starts_after)
    spec["podSpec"] = assembled(plan.pod, plan.role)
    clique["spec"] = spec
    return clique


def _scaling_group(plan: ScalingGroupPlan) -> dict[str, Any]:
    group: dict[str, Any] = {"name": plan.name, "cliqueNames": list(plan.cliques)}
    if plan.replicas is not None:
        group["replicas"] = plan.replicas
    group["minAvailable"] = 1
    return group


def _pods(manifest: Manifest) -> Iterator[EffectivePod]:
    """Yield the pods of replica 0 of every clique, with the variables that Grove gives them."""
    graph = f"{manifest['metadata']['name']}-0"
    headless = f"{graph}.{manifest['metadata']['namespace']}.svc.cluster.local"
    template = manifest["spec"]["template"]
    group_of = {
        clique: group["name"] for group in template.get("podCliqueScalingGroups", ()) for clique in group["cliqueNames"]
    }
    for clique in template["cliques"]:
        component = clique.get("labels", {}).get("nvidia.com/dynamo-component", clique["name"])
        group = group_of.get(clique["name"])
        owner = f"{graph}-{group}-0" if group else graph
        role: Role = "main" if group is None else "leader" if clique["name"].endswith("-ldr") else "worker"
        for index in range(clique["spec"]["replicas"] if role == "worker" else 1):
            full_name = f"{owner}-{clique['name']}"
            runtime_env = {
                "GROVE_PCS_NAME": manifest["metadata"]["name"],
                "GROVE_PCS_INDEX": "0",
                "GROVE_PCLQ_NAME": full_name,
                "GROVE_PCLQ_POD_INDEX": str(index),
                "GROVE_HEADLESS_SERVICE": headless,
            }
            if group:
                runtime_env |= {"GROVE_PCSG_NAME": f"{graph}-{group}", "GROVE_PCSG_INDEX": "0"}
            rank = index + 1 if role == "worker" else 0
            spec: dict[str, Any] = clique["spec"]["podSpec"]
            yield EffectivePod(
                component, role, rank, f"{full_name}-{index}", spec, runtime_env, runtime_env_is_appended=True
            )


def _templates(manifest: Manifest) -> Iterator[PodTemplate]:
    """Yield every clique; cliques of a scaling group are replaced together, with everything else in their replica."""
    template = manifest["spec"]["template"]
    group_of = {
        clique: group for group in template.get("podCliqueScalingGroups", ()) for clique in group["cliqueNames"]
    }
    for clique in template["cliques"]:
        group = group_of.get(clique["name"], {})
        replicas = manifest["spec"].get("replicas", 1) * group.get("replicas", 1) * clique["spec"].get("replicas", 1)
        together = group.get("cliqueNames", [clique["name"]])
        yield PodTemplate(clique["name"], replicas, clique["spec"]["podSpec"], tuple(_replaced_by(together)))


def _replaced_by(cliques: Iterable[str]) -> Iterator[Path]:
    """Yield what Grove looks at to tell whether pods of one of *cliques* are those of an earlier template."""
    from dynamo_render.kube import shapes  # noqa: PLC0415 - a render does without shapes

    yield ("spec", "template", "priorityClassName")
    for name in cliques:
        clique = ("spec", "template", "cliques", shapes.entry(name=name))
        yield (*clique, "labels")
        yield (*clique, "annotations")
        yield (*clique, "spec", "podSpec")


def clique_readiness(name: str, found: Object | None) -> Readiness:
    """Judge the PodClique that Grove made of a component on one node."""
    return _readiness("PodClique", name, found, "ready")


def scaling_group_readiness(name: str, found: Object | None) -> Readiness:
    """Judge the PodCliqueScalingGroup that Grove made of a component on several nodes."""
    return _readiness("PodCliqueScalingGroup", name, found, "available")


def _readiness(kind: str, name: str, found: Object | None, serving: str) -> Readiness:
    """Judge a child of a PodCliqueSet, whose kind calls replicas that serve *serving*; a missing one counts as zero."""
    counts = ("replicas", "updatedReplicas") if found is None else ("replicas", "updatedReplicas", f"{serving}Replicas")
    service = {count: live.count(found, count) if found else 0 for count in counts}
    reason = "resource not found" if found is None else _why_not_ready(found, serving)
    return Readiness(reason, {"componentKind": kind, "componentName": name, **service})


def _why_not_ready(found: Object, serving: str) -> str:
    stale = live.why_unprocessed(found)
    desired = live.desired_replicas(found)
    if stale or desired == 0:
        return stale
    served, updated = live.count(found, f"{serving}Replicas"), live.count(found, "updatedReplicas")
    replicas = live.count(found, "replicas")
    checks = (
        (served == desired, f"desired={desired}, {serving}={served}"),
        (updated == desired, f"desired={desired}, updated={updated}"),
        (replicas == desired, f"performing rolling update: desired={desired}, replicas={replicas}"),
    )
    return next((reason for passed, reason in checks if not passed), "")


def _shape() -> Shape:
    from dynamo_render.kube import shapes  # noqa: PLC0415 - a render does without shapes

    clique = shapes.within(spec=shapes.within(podSpec=shapes.embedded("core/v1.PodSpec")))
    template = shapes.within(cliques=shapes.listed("name", item=clique), podCliqueScalingGroups=shapes.listed("name"))
    return shapes.within(spec=shapes.within(template=template))


POD_CLIQUE_SET = Workload(
    build=_build,
    group="grove.io",
    kind="PodCliqueSet",
    shape=_shape,
    templates=_templates,
    pods=_pods,
    addressing=addressing,
)

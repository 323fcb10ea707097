"""Lays the layers of a pod over each other, in one fixed order. Specification: rendering.md section 5.

A draft belongs to one call and is built up in place, but no layer changes a value inside it: it puts another in its
place. Pods of a plan that several pods are made from are copied at the end. The layers have
names, so that a tool can stop after any of them and compare.
"""

from __future__ import annotations

from collections.abc import Callable

from dynamo_render import backends
from dynamo_render.kube import structural
from dynamo_render.plans.launch import Role
from dynamo_render.plans.pod import Json, PodPlan
from dynamo_render.pods import env, overrides, pull_secrets, resources


class Draft:
    """A pod under construction: its main *container* apart from the *pod* around it."""

    __slots__ = ("container", "pod", "role")

    def __init__(self, role: Role) -> None:
        """Start with nothing."""
        self.role = role
        self.container: Json = {}
        self.pod: Json = {}


Layer = Callable[[Draft, PodPlan], None]


def assembled(plan: PodPlan, role: Role, *, until: str | None = None) -> Json:
    """Return the pod of *plan* in *role*; with *until*, as it is after the layer of that name."""
    draft = Draft(role)
    for name, layer in LAYERS:
        layer(draft, plan)
        if name == until:
            break
    pod = draft.pod
    if until:
        pod = {**pod, "containers": [*pod.get("containers", ()), draft.container]}
    return structural.copied(pod) if plan.is_shared else pod


def _component_type(draft: Draft, plan: PodPlan) -> None:
    probes = plan.probes if plan.is_shared else structural.copied(plan.probes)  # shared pods are copied as a whole
    draft.container = {**plan.container, **probes}


def _main_container(draft: Draft, plan: PodPlan) -> None:
    draft.container = overrides.merged(draft.container, plan.main_container)


def _component_probes(draft: Draft, plan: PodPlan) -> None:
    draft.container.update(plan.component_probes)


def _resources(draft: Draft, plan: PodPlan) -> None:
    present = draft.container.get("resources", {})
    draft.container["resources"] = resources.overlaid(present, plan.resources) if plan.resources else present


def _env(draft: Draft, plan: PodPlan) -> None:
    draft.container["env"] = env.merged(plan)
    if plan.env_from_secret is not None:
        source = {"secretRef": {"name": plan.env_from_secret} if plan.env_from_secret else {}}
        draft.container["envFrom"] = [*draft.container.get("envFrom", ()), source]


def _mounts(draft: Draft, plan: PodPlan) -> None:
    added = [{"name": name, "mountPath": path} for name, path in plan.volumes.mounts]
    _extend(draft.container, "volumeMounts", added)


def _launch(draft: Draft, plan: PodPlan) -> None:
    draft.container = backends.BACKENDS[plan.launch.backend].launched(plan.launch, draft.role, draft.container)


def _pod(draft: Draft, plan: PodPlan) -> None:
    draft.pod = overrides.merged(plan.pod, plan.pod_overrides)


def _security_context(draft: Draft, plan: PodPlan) -> None:
    if plan.security_context is not None:
        draft.pod["securityContext"] = plan.security_context


def _account(draft: Draft, plan: PodPlan) -> None:
    if plan.account and not draft.pod.get("serviceAccountName"):
        draft.pod["serviceAccountName"] = plan.account


def _containers(draft: Draft, plan: PodPlan) -> None:  # noqa: ARG001 - every layer sees the plan
    draft.pod["containers"] = [*draft.pod.get("containers", ()), draft.container]


def _volumes(draft: Draft, plan: PodPlan) -> None:
    launch = backends.BACKENDS[plan.launch.backend].volumes(plan.launch)
    _extend(draft.pod, "volumes", [*plan.volumes.volumes, *launch])


def _pull_secrets(draft: Draft, plan: PodPlan) -> None:
    if plan.pull_secrets:
        written = draft.pod.get("imagePullSecrets", ())
        draft.pod["imagePullSecrets"] = pull_secrets.merged(written, plan.pull_secrets)


def _scheduler(draft: Draft, plan: PodPlan) -> None:
    if plan.scheduler:
        draft.pod["schedulerName"] = plan.scheduler


def _debugger(draft: Draft, plan: PodPlan) -> None:
    if plan.debugger_image:
        draft.pod["containers"].append(debug_container(plan.debugger_image))
        draft.pod["shareProcessNamespace"] = True


def debug_container(image: str) -> Json:
    """Return the container in which a person may attach a debugger to the main process."""
    return {
        "name": "debugger",
        "image": image,
        "command": ["sleep", "infinity"],
        "securityContext": {"capabilities": {"add": ["SYS_PTRACE"]}},
        "resources": {"requests": {"cpu": "100m", "memory": "100Mi"}, "limits": {"cpu": "1", "memory": "1000Mi"}},
        "stdin": True,
        "tty": True,
    }


def _extend(holder: Json, key: str, added: list[Json]) -> None:
    if added:
        holder[key] = [*holder.get(key, ()), *added]


LAYERS: tuple[tuple[str, Layer], ...] = (
    ("component-type", _component_type),
    ("main-container", _main_container),
    ("component-probes", _component_probes),
    ("resources", _resources),
    ("env", _env),
    ("mounts", _mounts),
    ("launch", _launch),
    ("pod", _pod),
    ("security-context", _security_context),
    ("account", _account),
    ("containers", _containers),
    ("volumes", _volumes),
    ("pull-secrets", _pull_secrets),
    ("scheduler", _scheduler),
    ("debugger", _debugger),
)

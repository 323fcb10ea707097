"""Decides everything about the pods of one component. Reads the scope; `assemble` only reads the result."""

from __future__ import annotations

from collections.abc import Mapping

from dynamo_render import backends
from dynamo_render.backends import detect
from dynamo_render.backends.contract import Backend
from dynamo_render.components.contract import ComponentType
from dynamo_render.plans.launch import Addressing, LaunchPlan
from dynamo_render.plans.pod import Json, PodPlan
from dynamo_render.pods import accounts, env, overrides, pull_secrets, resources, volumes
from dynamo_render.scope import ComponentScope

DEBUG_ANNOTATION = "nvidia.com/enable-debug-mode"


def planned(
    scope: ComponentScope, component: ComponentType, addressing: Addressing | None, scheduler: str | None = None
) -> PodPlan:
    """Return the pods of *scope*; *addressing* says how the nodes of one replica find each other, None on one node."""
    backend = chosen_backend(scope, component)
    base = component.base(scope)
    storage = volumes.planned(scope, backend)
    user_container, user_pod = overrides.planned_container(scope), overrides.planned_pod(scope)
    launch = _launch(scope, backend, addressing, storage.cache_root)
    probes = _component_probes(scope)
    if addressing is not None:
        _warn_of_dropped_probes(scope, backend, launch, probes)
    return PodPlan(
        container=base.container,
        pod=base.pod,
        probes=base.probes,
        env=env.planned(scope, base.env),
        field_env=env.FIELD_ENV,
        component_env=scope.envs,
        main_container=user_container,
        pod_overrides=user_pod,
        component_probes=probes,
        resources=resources.planned(scope),
        env_from_secret=scope.spec.env_from_secret,
        volumes=storage,
        security_context=None if "securityContext" in user_pod.content else {"fsGroup": 1000},
        account=accounts.planned(scope),
        pull_secrets=pull_secrets.planned(scope),
        launch=launch,
        scheduler=scheduler,
        is_shared=scope.is_multinode,
    )


def chosen_backend(scope: ComponentScope, component: ComponentType) -> Backend:
    """Return the framework that starts the main container; report a command that contradicts the explicit choice."""
    if not component.runs_engine:
        return backends.BACKENDS["none"]
    container = scope.spec.main_container
    try:
        name = detect.choose(container.get("command", ()), container.get("args", ()), scope.engine)
    except (detect.BackendMismatch, detect.BackendAmbiguous) as error:
        field = ("extraPodSpec", "mainContainer", "args" if container.get("args") else "command")
        scope.refuse("CTL-03", field, str(error), "set backendFramework to the engine that the command starts")
        return backends.BACKENDS["none"]
    return backends.BACKENDS[name]


def _component_probes(scope: ComponentScope) -> dict[str, Json]:
    spec, probes = scope.spec, {}
    if spec.liveness_probe is not None:
        probes["livenessProbe"] = spec.liveness_probe
    if spec.readiness_probe is not None:
        probes["readinessProbe"] = spec.readiness_probe
    return probes


def _warn_of_dropped_probes(
    scope: ComponentScope, backend: Backend, launch: LaunchPlan, of_component: Mapping[str, Json]
) -> None:
    """Report the user's probes that multinode workers lose (D-08)."""
    container = {**scope.spec.main_container, **of_component}
    for probe in backend.drops_probes(launch, "worker", container):
        field = (probe,) if probe in of_component else ("extraPodSpec", "mainContainer", probe)
        message = f"is not used for the workers of a multinode component: only the leader of {backend.name} serves"
        scope.warn("probe/dropped", field, message)


def _launch(
    scope: ComponentScope, backend: Backend, addressing: Addressing | None, cache_root: str | None
) -> LaunchPlan:
    profile = scope.profile
    return LaunchPlan(
        backend=backend.name,
        nodes=scope.spec.nodes,
        gpus=0 if addressing is None else _gpu_limit(scope, 64) or 0,
        processes=0 if addressing is None else scope.spec.nodes * _processes_per_node(scope),
        addressing=addressing,
        ssh_secret=scope.graph.settings.mpi_ssh_secret_name,
        cache_root=cache_root,
        shell_safe=profile.launch_is_shell_safe,
        idle_workers_keep_probes=profile.idle_workers_keep_probes,
        user_env_wins=profile.user_env_beats_appended,
    )


def _gpu_limit(scope: ComponentScope, bits: int) -> int | None:
    item = scope.spec.resources and scope.spec.resources.limits
    return resources.whole_gpus(item.gpu, bits) if item else None


def _processes_per_node(scope: ComponentScope) -> int:
    """Return the MPI processes of one node: its GPUs, by limit and request in the order that the profile says."""
    item = scope.spec.resources and scope.spec.resources.requests
    requested = resources.whole_gpus(item.gpu, 32) if item else None
    limit = _gpu_limit(scope, 32)
    order = (limit, requested) if scope.profile.processes_from_gpu_limit else (requested, limit)
    return next((count for count in order if count is not None), 0)

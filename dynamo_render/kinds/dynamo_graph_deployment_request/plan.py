"""Plans what a request needs before anything is known of its model: access for the profiler, and its Job.

Specification: controllers-other.md sections 1.9 and 1.10.
"""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_render.errors import Problem
from dynamo_render.facts import FactQuery
from dynamo_render.kinds.contract import Inputs, Reading
from dynamo_render.kinds.dynamo_graph_deployment_request import configuration, rules
from dynamo_render.plans.graph import Owner, ResourcePlan, Step
from dynamo_render.plans.profiling import ProfilingJobPlan
from dynamo_render.profiles import Profile
from dynamo_render.satellites.access import AccessPlan
from dynamo_render.settings import OperatorSettings
from dynamo_render.spec.request import ProfilingConfig, RequestSpec
from dynamo_render.workloads.profiling_job import ACCOUNT

GROUP, KIND = "nvidia.com/v1alpha1", "DynamoGraphDeploymentRequest"
BASE_KEY = "disagg.yaml"


def planned(reading: Reading, inputs: Inputs, problems: list[Problem]) -> ResourcePlan:
    """Return the objects of a first pass, decided, in apply order; what is wrong is added to *problems*."""
    problems.extend(rules.settings_problems(reading, inputs.settings))
    if inputs.profile.names_are_checked:
        problems.extend(rules.name_problems(reading))
    metadata = reading.metadata
    namespace = metadata.namespace or "default"
    access = tuple(Step("profiling_access", plan, None) for plan in _access(namespace, inputs, problems))
    if reading.repair is not None or any(problem.rule == "CTL-33" for problem in (*reading.problems, *problems)):
        return ResourcePlan(access)  # without a Job: its configuration cannot be completed
    job = job_plan(reading.spec, metadata.name or "", namespace, metadata.uid or "", inputs.profile)
    owner = Owner(GROUP, KIND, metadata.name or "")
    return ResourcePlan((*access, Step("profiling_job", job, owner)))


def needed(_reading: Reading, inputs: Inputs) -> FactQuery:
    """Return the facts that planning a request asks for."""
    role = inputs.settings.profiling_cluster_role
    wanted = role and not inputs.settings.restricted_namespace
    return FactQuery(cluster_roles=frozenset({role} if wanted else ()))


def job_plan(spec: RequestSpec, name: str, namespace: str, uid: str, profile: Profile) -> ProfilingJobPlan:
    """Return the profiling Job of a request. Raises UnusableConfiguration."""
    profiling = spec.profiling_config
    return ProfilingJobPlan(
        request=name,
        namespace=namespace,
        uid=uid,
        online=configuration.is_online(spec),
        image=profiling.profiler_image,
        configuration=configuration.text(spec, namespace, profile),
        discovers_gpus=spec.enable_gpu_discovery,
        base=base_of(profiling),
        output_claim=profiling.output_pvc or "",
        model_cache=configuration.model_cache(spec),
        resources=profiling.resources,
        tolerations=tuple(profiling.tolerations or ()),
    )


def base_of(profiling: ProfilingConfig) -> tuple[str, str] | None:
    """Return ConfigMap and key of the graph that profiling starts from; None without one."""
    ref = profiling.config_map_ref
    return None if ref is None else (ref.name, ref.key or BASE_KEY)


def access_plan(namespace: str, settings: OperatorSettings) -> AccessPlan | None:
    """Return the access that the profiler is given; None where the account is managed elsewhere."""
    if settings.restricted_namespace:
        return None
    return AccessPlan(account=ACCOUNT, namespace=namespace, cluster_role=settings.profiling_cluster_role)


def _access(namespace: str, inputs: Inputs, problems: list[Problem]) -> Iterator[AccessPlan]:
    """Yield the access of the profiler; warn of an unset role, refuse one that is not there."""
    plan, known = access_plan(namespace, inputs.settings), inputs.facts.cluster_roles
    if plan is None:
        return
    if not plan.cluster_role:
        message = f"{ACCOUNT} and its binding are left out: the setting profiling_cluster_role is empty"
        hint = "set profiling_cluster_role, or restricted_namespace where accounts are managed elsewhere"
        problems.append(Problem("access/role-not-set", (), message, hint, "warning"))
    elif known is not None and plan.cluster_role not in known:
        message = f'the cluster role "{plan.cluster_role}" that {ACCOUNT} is bound to does not exist'
        hint = "create it or change the setting profiling_cluster_role"
        problems.append(Problem("CTL-13", (), message, hint))
    else:
        yield plan

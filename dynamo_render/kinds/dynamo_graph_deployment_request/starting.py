"""The second stage: what an earlier run left goes, the profiler gets access and its Job. controllers-other.md 1.10.

Every action is safe to repeat: once the Job of this request is there, nothing that came before it is done again, for
it may have left its output already.
"""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_render.kinds.dynamo_graph_deployment_request import configuration
from dynamo_render.kinds.dynamo_graph_deployment_request.plan import KIND, access_plan, job_plan
from dynamo_render.kinds.dynamo_graph_deployment_request.request import Request
from dynamo_render.kinds.dynamo_graph_deployment_request.telling import told
from dynamo_render.kinds.shared.machine import Action, Create, Delete, Lookup, Outcome, Seen, Step
from dynamo_render.kube import live
from dynamo_render.kube.live import Object
from dynamo_render.satellites import REQUEST_SATELLITES
from dynamo_render.workloads import WORKLOADS
from dynamo_render.workloads.profiling_job import ACCOUNT, MANAGER, job_name, output_name

RBAC = "rbac.authorization.k8s.io/v1"
PREDECESSOR_DELAY = 5.0
"""Seconds until a pass looks again whether what an earlier request of this name owned is gone."""

_NO_ROLE = 'cluster role "{role}" does not exist: ensure it is created by Helm before deploying components'


def job_lookup(request: Request) -> Lookup:
    """Return the question for the profiling Job of a request."""
    return Lookup("batch/v1", "Job", request.namespace, job_name(request.name))


def output_lookup(request: Request) -> Lookup:
    """Return the question for what the profiling Job of a request left."""
    return Lookup("v1", "ConfigMap", request.namespace, output_name(request.name))


def lookups(request: Request) -> Iterator[Lookup]:
    """Yield what decides about the start of profiling."""
    yield job_lookup(request)
    yield output_lookup(request)
    if not request.settings.restricted_namespace:
        yield _binding(request)
        if request.settings.profiling_cluster_role:
            yield _role(request)


def advance(request: Request, seen: Seen) -> Step:
    """Return the actions that start profiling and, when they have outcomes, the way out of the stage."""
    job = seen.one(job_lookup(request))
    actions: list[Action] = []
    if job is not None:
        if not _is_left_over(request, job):
            return _with_job(request, job)
        actions.append(Delete("earlier Job", job))
    stale = seen.one(output_lookup(request))
    if stale is not None:
        actions.append(Delete("stale output", stale))
    if failure := _refused(actions, seen):
        return told(request, "T5", text=f"failed to delete existing output ConfigMap: {failure.text}")
    problem = _add_access(request, seen, actions)
    if problem:
        return told(request, "T5", actions=tuple(actions), text=f"failed to ensure profiling job RBAC: {problem}")
    try:
        plan = job_plan(request.spec, request.name, request.namespace, request.uid, request.profile)
    except configuration.UnusableConfiguration as error:
        return told(request, "T5", actions=tuple(actions), text=str(error))
    (content,) = WORKLOADS["profiling_job"].build(plan)
    step = Step(actions=(*actions, Create("job", content)))
    if step.waiting(seen):
        return step
    return _after_job(request, seen.outcomes["job"], step.actions)


def _after_job(request: Request, outcome: Outcome, actions: tuple[Action, ...]) -> Step:
    if outcome.sort == "done":
        return _started(request, actions)
    if outcome.sort == "exists":
        return _with_job(request, outcome.content, actions)
    return told(request, "T5", actions=actions, text=outcome.text)


def _with_job(request: Request, job: Object, actions: tuple[Action, ...] = ()) -> Step:
    """Return the step where a Job of that name is there: ours, that of an earlier request, or anybody's."""
    owner = _owner_of(job)
    if not request.uid or (owner is not None and owner["uid"] == request.uid):
        return _started(request, actions)
    name = job["metadata"]["name"]
    if live.is_being_deleted(job):
        return Step(actions=actions, look_again=PREDECESSOR_DELAY, row="T4")
    return told(request, "T5", actions=actions, text=f'Job "{name}" is there already and belongs to something else')


def _is_left_over(request: Request, job: Object) -> bool:
    """Whether a Job is that of an earlier request of this name: its owner is gone, and it will follow."""
    owner = _owner_of(job)
    is_earlier = owner is not None and (owner.get("kind"), owner.get("name")) == (KIND, request.name)
    is_ours = not request.uid or (owner is not None and owner["uid"] == request.uid)
    replaces = request.profile.earlier_job_is_replaced and not live.is_being_deleted(job)
    return replaces and is_earlier and not is_ours


def _owner_of(job: Object) -> Object | None:
    return next((each for each in job["metadata"].get("ownerReferences") or () if each.get("controller")), None)


def _started(request: Request, actions: tuple[Action, ...]) -> Step:
    online = configuration.is_online(request.spec)
    text = "Profiling job created" if online else "AIC profiling job created"
    return told(request, "T4", actions=actions, text=text)


def _add_access(request: Request, seen: Seen, actions: list[Action]) -> str:
    """Add the actions that give the profiler access to *actions*, and return what stands in their way."""
    plan = access_plan(request.namespace, request.settings)
    if plan is None:
        return ""
    if not plan.cluster_role:
        return "cluster role name is required"
    role = _role(request)
    if seen.knows(role) and seen.one(role) is None:
        return _NO_ROLE.format(role=plan.cluster_role)
    account, binding = REQUEST_SATELLITES["profiling_access"].build(plan)
    actions.append(Create("account", account, owned=False))
    bound = seen.one(_binding(request))
    if bound is not None and not _is_same(bound, binding):
        if not _is_ours(bound):
            return f'RoleBinding "{bound["metadata"]["name"]}" is there already and belongs to something else'
        actions.append(Delete("other binding", bound))
        bound = None
    if bound is None:
        actions.append(Create("binding", binding, owned=False))
    refused = _refused(actions, seen)
    return refused.text if refused else ""


def _is_same(bound: Object, wanted: Object) -> bool:
    """Whether a live binding is what is wanted; the API groups of its subjects do not count."""
    found = [{key: each.get(key) for key in ("kind", "name", "namespace")} for each in bound.get("subjects") or ()]
    return bool(found == wanted["subjects"] and bound.get("roleRef") == wanted["roleRef"])


def _is_ours(bound: Object) -> bool:
    """Whether an operator has made a live binding, this one or one before it."""
    labels = bound["metadata"].get("labels") or {}
    return labels.get("app.kubernetes.io/managed-by") == MANAGER


def _refused(actions: list[Action], seen: Seen) -> Outcome | None:
    """Return the first outcome that stands in the way."""
    outcomes = (seen.outcomes.get(action.id) for action in actions)
    return next((each for each in outcomes if each is not None and each.sort == "refused"), None)


def _binding(request: Request) -> Lookup:
    return Lookup(RBAC, "RoleBinding", request.namespace, f"{ACCOUNT}-binding")


def _role(request: Request) -> Lookup:
    return Lookup(RBAC, "ClusterRole", "", request.settings.profiling_cluster_role)

"""Everything that is wrong with a resource, in one run: schema, admission, controller, names, providers, pods, sanity.

It reads, plans and builds through the same code as a render, and goes on where a render would stop. Nothing here knows
a single rule.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import attrs

from dynamo_render import pipeline
from dynamo_render.checks import cluster, deprecations, metadata, objects, pods, providers, references, sanity, webhook
from dynamo_render.checks.origin import origin
from dynamo_render.checks.parts import Part, PartPod, parts_of, pods_of
from dynamo_render.errors import InvalidResource, MissingFacts, Problem
from dynamo_render.facts import ClusterFacts
from dynamo_render.kinds.contract import Inputs, Kind, Reading
from dynamo_render.kinds.shared.name_rules import grove_problems
from dynamo_render.kube.manifest import Manifest
from dynamo_render.kube.repair import Repair
from dynamo_render.settings import OperatorSettings
from dynamo_render.spec.graph import GraphSpec
from dynamo_render.spec.request import RequestSpec
from dynamo_render.values import Value, frozen

IGNORE_ANNOTATION = "dynamo-render/ignore"
GROVE_ANNOTATION = "nvidia.com/enable-grove"

_GROVE = frozenset({"grove.io"})
_LEADER_WORKER_SET = frozenset({"leaderworkerset.x-k8s.io", "scheduling.volcano.sh"})
_KAI = "scheduling.run.ai"
_PATHWAY_RULES = ("names/grove", "provider/")

Declared = Collection[tuple[str, str, str]]


@frozen
class _Task(Value):
    """One validation: what surrounds the resource, and whether its cluster is known or assumed."""

    inputs: Inputs
    has_facts: bool
    declared: Declared


def validate(  # noqa: PLR0913 - keyword-only, each optional
    resource: Mapping[str, Any],
    *,
    settings: OperatorSettings | None = None,
    facts: ClusterFacts | None = None,
    old: Mapping[str, Any] | None = None,
    user: str = "",
    ignore: Iterable[str] = (),
    declared: Declared = (),
) -> tuple[Problem, ...]:
    """Return everything that is wrong or doubtful about *resource*; nothing is raised for what is wrong with it.

    With *old*, the resource as it is stored, come the rules for changes, which *user* makes. Without *facts* the
    cluster is taken to have what the resource needs. *ignore* lists ids of rules to leave out, as the resource itself
    may in its annotation ``dynamo-render/ignore``. *declared* holds kind, namespace (empty for any) and name of what
    stands beside the resource and may be referred to. Raises InvalidSettings for an unknown profile.
    """
    task = _Task(pipeline.inputs_of(settings, facts, None), facts is not None, declared)
    try:
        kind = _kind_of(resource)
    except InvalidResource as error:
        return _audible(error.problems, resource, ignore)
    return _audible(_told(_problems(resource, kind, task, old, user), str(resource["kind"])), resource, ignore)


def admission(
    resource: Mapping[str, Any],
    *,
    settings: OperatorSettings | None = None,
    facts: ClusterFacts | None = None,
    old: Mapping[str, Any] | None = None,
    user: str = "",
) -> tuple[Problem, ...]:
    """Return what the admission webhook says about *resource*, in its order: the first group that refuses, or warnings.

    What a schema refuses never reaches the webhook, and is returned alone. Specification: api.md section 9.2.
    """
    inputs = pipeline.inputs_of(settings, facts, None)
    kind = _kind_of(resource)
    reading = kind.read(resource, inputs.profile)
    schema = tuple(
        found for found in reading.problems if found.severity == "error" and found.rule.startswith("schema/")
    )
    if schema or _is_being_deleted(resource, old):
        return schema
    around = (*_of_cluster(reading, facts), *_of_operator(reading, inputs.settings))
    stateless = webhook.stateless((*reading.problems, *around))
    changes = kind.update(kind.read(old, inputs.profile), reading, user) if old is not None else iter(())
    return webhook.verdict(stateless, changes)


def _is_being_deleted(resource: Mapping[str, Any], old: Mapping[str, Any] | None) -> bool:
    """Whether only finalizers are about to go: such a change passes unseen."""
    return old is not None and resource["metadata"].get("deletionTimestamp") is not None


def _kind_of(resource: Mapping[str, Any]) -> Kind:
    """Return how *resource* is read and changed; kinds that render to nothing have no plan."""
    from dynamo_render.checks import unrendered  # noqa: PLC0415 - few resources are of such a kind

    if isinstance(resource, Mapping):
        kind = unrendered.KINDS.get((str(resource.get("apiVersion")), str(resource.get("kind"))))
        if kind is not None:
            return kind
    return pipeline.kind_of(resource)


def _problems(
    resource: Mapping[str, Any], kind: Kind, task: _Task, old: Mapping[str, Any] | None, user: str
) -> Iterator[Problem]:
    """Yield the problems of every stage."""
    reading = kind.read(resource, _strict(task, resource).profile)
    task = attrs.evolve(task, inputs=_inputs_for(reading, task, resource))
    return pipeline.stage_by_stage(
        (*reading.problems, *metadata.object_problems(resource)),
        reading.visible(metadata.resource_problems(reading.metadata)),
        reading.visible(_changes(kind, old, reading, user, task)),
        reading.visible(_planned_problems(resource, kind, reading, task)),
    )


def _strict(task: _Task, resource: Mapping[str, Any]) -> Inputs:
    """Return the inputs with a profile that checks what a cluster refuses, also where the release itself did not."""
    profile = task.inputs.profile
    is_graph = resource.get("kind") == "DynamoGraphDeployment"
    strict = attrs.evolve(
        profile,
        names_are_checked=profile.names_are_checked or is_graph,
        multinode_needs_an_orchestrator=True,
        image_is_required=True,
    )
    return attrs.evolve(task.inputs, profile=strict)


def _inputs_for(reading: Reading, task: _Task, resource: Mapping[str, Any]) -> Inputs:
    """Return the inputs of a strict plan; without facts, in a cluster that has what the resource needs."""
    inputs = _strict(task, resource)
    if task.has_facts or not any(part.spec.nodes > 1 for part in parts_of(reading)):
        return inputs
    groups = _GROVE if _may_use_grove(reading) else _LEADER_WORKER_SET
    return attrs.evolve(inputs, facts=ClusterFacts(api_groups=groups))


def _may_use_grove(reading: Reading) -> bool:
    annotations = reading.metadata.annotations or {}
    return isinstance(reading.spec, GraphSpec) and annotations.get(GROVE_ANNOTATION, "").lower() != "false"


def _changes(kind: Kind, old: Mapping[str, Any] | None, reading: Reading, user: str, task: _Task) -> Iterator[Problem]:
    """Yield what admission refuses about the change from *old*."""
    if old is None:
        return
    before = kind.read(old, task.inputs.profile)
    for field in ("name", "namespace"):
        was, is_now = getattr(before.metadata, field) or "default", getattr(reading.metadata, field) or "default"
        if was != is_now:
            message = f'cannot be changed from "{was}" to "{is_now}": it would be another resource'
            yield Problem("update/identity", ("metadata", field), message)
    for group in kind.update(before, reading, user):
        yield from group


def _planned_problems(resource: Mapping[str, Any], kind: Kind, reading: Reading, task: _Task) -> Iterator[Problem]:
    """Yield what planning finds, and what is wrong with the objects that come out."""
    from dynamo_render.checks import unrendered  # noqa: PLC0415 - as above

    parts = parts_of(reading)
    if not parts:
        yield from unrendered.problems(reading, task.inputs.settings, task.declared)
        return
    if any(problem.rule == "count/nodes" for problem in reading.problems):
        reading, parts = _with_fewer_nodes(resource, kind, reading, task)
    found: list[Problem] = []
    made = _objects(kind, reading, task, found)
    yield from (_as_far_as_known(problem, task) for problem in found)
    yield from _of_parts(reading, parts, task)
    part_pods = tuple(pods_of(parts, made))
    for pod in part_pods:
        yield from _of_pod(pod)
    yield from objects.object_problems(made, parts)
    for problem in (
        *providers.grove_problems(part_pods, made),
        *providers.leader_worker_set_problems(parts, made),
    ):
        yield _as_far_as_known(problem, task)
    namespace = reading.metadata.namespace or "default"
    known = task.inputs.facts.view(namespace)
    copied = ("Secret", "", task.inputs.settings.mpi_ssh_secret_name)
    yield from references.reference_problems(part_pods, made, known, (*task.declared, copied), namespace)


def _with_fewer_nodes(
    resource: Mapping[str, Any], kind: Kind, reading: Reading, task: _Task
) -> tuple[Reading, tuple[Part, ...]]:
    """Return the resource without counts that know no end: a plan of them would not know one either."""
    repair = reading.repair or Repair(resource)
    repair.take_out(problem for problem in reading.problems if problem.rule == "count/nodes")
    fewer = kind.read(repair.document, task.inputs.profile)
    return fewer, parts_of(fewer)


def _objects(kind: Kind, reading: Reading, task: _Task, found: list[Problem]) -> tuple[Manifest, ...]:
    """Return the objects of the resource; what planning finds is added to *found*."""
    inputs = task.inputs
    try:
        plan = kind.plan(reading, inputs, found)
    except MissingFacts:
        message = "cannot be checked: the facts do not list the queues of the kai-scheduler"
        found[:] = [Problem("CTL-12", ("metadata", "annotations"), message, "add kai_queues to the facts", "warning")]
        without = attrs.evolve(inputs.facts, api_groups=inputs.facts.api_groups - {_KAI})
        plan = kind.plan(reading, attrs.evolve(inputs, facts=without), found)
    return pipeline.built(plan)[0]


def _as_far_as_known(problem: Problem, task: _Task) -> Problem:
    """Return *problem*, as a warning where it depends on a cluster that nobody described."""
    is_assumed = not task.has_facts and problem.rule.startswith(_PATHWAY_RULES)
    return attrs.evolve(problem, severity="warning") if is_assumed else problem


def _of_parts(reading: Reading, parts: Iterable[Part], task: _Task) -> Iterator[Problem]:
    """Yield what components say that is wrong whatever pods they lead to."""
    if isinstance(reading.spec, GraphSpec):
        yield from sanity.graph_problems(reading.spec)
    yield from _of_cluster(reading, task.inputs.facts if task.has_facts else None)
    for part in parts:
        yield from metadata.part_problems(part)
        yield from sanity.gpu_problems(part)
        if not task.has_facts and not task.inputs.facts.has_grove and _may_use_grove(reading):
            is_multinode = part.spec.nodes > 1
            for problem in grove_problems(
                reading.metadata.name or "", part.service, part.path, is_multinode=is_multinode
            ):
                yield attrs.evolve(problem, severity="warning")


def _of_cluster(reading: Reading, facts: ClusterFacts | None) -> Iterable[Problem]:
    """Return what a graph misses in a cluster that is known; component deployments are not asked for that."""
    if facts is None or not isinstance(reading.spec, GraphSpec):
        return ()
    return cluster.cluster_problems(parts_of(reading), facts)


def _of_operator(reading: Reading, settings: OperatorSettings) -> Iterable[Problem]:
    """Return what a request asks of an operator that cannot do it."""
    from dynamo_render.kinds.dynamo_graph_deployment_request import rules as requests  # noqa: PLC0415 - few resources are of this kind

    return requests.settings_problems(reading, settings) if isinstance(reading.spec, RequestSpec) else ()


def _of_pod(pod: PartPod) -> Iterator[Problem]:
    """Yield what is wrong with a rendered pod, reported where its user wrote it."""
    for problem in pods.pod_problems(pod.spec, pod.kind):
        yield attrs.evolve(problem, path=origin(pod, problem.path))
    yield from sanity.pod_problems(pod)


def _told(problems: Iterable[Problem], kind: str) -> Iterator[Problem]:
    """Yield each problem once, however many pods have it; fields of earlier releases are told from misspelled ones."""
    seen = set()
    for problem in problems:
        key = (problem.rule, problem.path, problem.message)
        if key not in seen:
            seen.add(key)
            yield deprecations.told(problem, kind)


def _audible(problems: Iterable[Problem], resource: Mapping[str, Any], ignore: Iterable[str]) -> tuple[Problem, ...]:
    """Return *problems* without those that the caller or the resource silences; ids that do not exist are a warning."""
    own = _ignored_by(resource)
    silent = {*ignore, *own}
    unknown: list[Problem] = []
    if own:
        from dynamo_render import rules  # noqa: PLC0415 - only to check ids

        for name in own:
            if name not in rules.RULES:
                path = ("metadata", "annotations", IGNORE_ANNOTATION)
                message = f'"{name}" is no rule'
                unknown.append(Problem("ignore/unknown-rule", path, message, rules.nearest(name), "warning"))
    return tuple(problem for problem in (*problems, *unknown) if problem.rule not in silent)


def _ignored_by(resource: Any) -> tuple[str, ...]:
    """Return the ids that *resource* silences; anything may come here, also what is no resource at all."""
    holder: Any = resource.get("metadata") if isinstance(resource, Mapping) else None
    annotations = holder.get("annotations") if isinstance(holder, Mapping) else None
    text = annotations.get(IGNORE_ANNOTATION) if isinstance(annotations, Mapping) else None
    return tuple(filter(None, (name.strip() for name in text.split(",")))) if isinstance(text, str) else ()

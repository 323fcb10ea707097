"""What counts as which deliberate difference from the released operator; docs/controller/differences.md says why.

A rule looks at one difference after one step of a story and at what both sides held before. It knows no story by name,
so that it holds for stories that are yet to be recorded, and it asks for as much as it can: that the recorded value is
what the released operator is known to leave there, not only that ours differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dynamo_render import ClusterFacts, InvalidResource, NamespaceFacts, render
from tests.conformance import story_states
from tests.conformance.behaviour import API_GROUPS, SETTINGS
from tests.conformance.story_differences import EXISTS, Difference
from tests.conformance.story_states import ADAPTER, COMPONENT, GRAPH, Json, State, place

FINALIZER = "nvidia.com/finalizer"
FOREIGN = "another owner has them"
GROVE_PARTS = ("PodClique", "PodCliqueScalingGroup")
STEP_OPTIONS = ("quiet",)


def _says_nothing(found: Difference) -> bool:
    """Hold for an empty value that the released operator's types write and we leave out."""
    return found.ours is None and _is_empty(found.recorded)


def _is_empty(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(_is_empty(inner) for inner in value.values())
    return value in ("", [], None)


def _without_finalizer(found: Difference) -> bool:
    """Hold where the only difference is the finalizer that we do not add."""
    return found.recorded == sorted([*found.ours, FINALIZER])


def _clique_missing(found: Difference) -> bool:
    """Hold for a status that the released operator could not write, because a workload of Grove is not there."""
    words = found.mine[-1].resources[found.place].get("message") or ()
    return "resource not found" in words and _is_recorded_as_before(found)


def _unnoticed(found: Difference) -> bool:
    """Hold where the released operator has not looked since a change that it does not watch."""
    index = len(found.theirs) - 1
    while index >= 0 and not _wakes_released_operator(found, index):
        before = found.theirs[index - 1] if index else None
        was = found.value_in(before) if before is not None else None
        if found.value_in(found.theirs[-1]) == was or _is_target(found, found.theirs[index].step):
            return True
        index -= 1
    return False


def _wakes_released_operator(found: Difference, index: int) -> bool:
    """Whether the step led to a pass of the released operator, by its table of watches (controllers-graph.md 2)."""
    state = found.theirs[index]
    before = found.theirs[index - 1] if index else None
    action, target = _action(state.step)
    kind = target["kind"]
    name = f"{kind}/{target['metadata']['name'] if action == 'apply' else target['name']}"
    if any(each.get("state") == "failed" for each in (before.resources if before else {}).values()):
        return True  # a pass that failed is tried again and again
    if kind == GRAPH:
        return action != "merge" or "spec" in target["patch"]
    if kind == "PodClique":
        return action != "apply" and _ready_or_wanted(found.mine, index, name)
    if kind in ("Service", "Ingress", "VirtualService"):
        return action != "merge" and _controller_kind(before, name) == COMPONENT
    return kind in (
        COMPONENT,
        ADAPTER,
        "PodCliqueSet",
        "PersistentVolumeClaim",
        "Deployment",
        "LeaderWorkerSet",
        "PodGroup",
        "DynamoModel",
        "EndpointSlice",
        "DynamoGraphDeploymentRequest",
        "Job",
    )


def _ready_or_wanted(states: Any, index: int, name: str) -> bool:
    """Whether the step sets a number of a clique that the released operator watches to something else."""
    action, target = _action(states[index].step)
    if action != "status":
        return True
    ready = target["status"].get("readyReplicas", 0)
    told = [_action(state.step) for state in states[:index]]
    earlier = [step for verb, step in told if verb == "status" and f"{step['kind']}/{step['name']}" == name]
    return bool(ready != (earlier[-1]["status"].get("readyReplicas", 0) if earlier else 0))


def _controller_kind(state: State | None, name: str) -> str:
    content = (state.objects.get(name) if state else None) or {}
    owners = content.get("metadata", {}).get("ownerReferences") or ()
    return next((str(owner["kind"]) for owner in owners if owner.get("controller")), "")


def _is_target(found: Difference, step: Json) -> bool:
    action, target = _action(step)
    name = target["metadata"]["name"] if action == "apply" else target["name"]
    return found.place == f"{target['kind']}/{name}"


def _metadata_kept(found: Difference) -> bool:
    """Hold for what the released operator writes only when it creates an object."""
    existed = len(found.theirs) > 1 and found.place in found.theirs[-2].objects
    return existed and found.path[0] != "spec" and found.path != (EXISTS,) and _is_recorded_as_before(found)


def _is_recorded_as_before(found: Difference) -> bool:
    before = found.value_in(found.theirs[-2]) if len(found.theirs) > 1 else None
    return bool(found.recorded == before)


def _parallel_restart(found: Difference) -> bool:
    """Hold where the released operator calls a parallel restart complete before any pod has been replaced."""
    restart = found.mine[-1].written[found.place]["spec"].get("restart") or {}
    recorded, ours = found.recorded or {}, found.ours or {}
    return (
        (restart.get("strategy") or {}).get("type") == "Parallel"
        and recorded == {"observedID": restart["id"], "phase": "Completed"}
        and (ours.get("observedID"), ours.get("phase")) == (restart["id"], "Restarting")
    )


def _foreign(found: Difference) -> bool:
    """Hold for an object that belongs to somebody else, for the resource that wants it, and for its graph.

    Where the released operator fails at such an object, it makes nothing that comes after it.
    """
    if found.path == (EXISTS,) and found.ours is True:
        told = str([live.get("status") for live in found.mine[-1].written.values()])
        return FOREIGN in told and any(map(_has_failed, found.theirs[-1].resources.values()))
    if found.place in found.mine[-1].resources:
        return any(FOREIGN in text for text in _messages(found))
    return found.ours is not False and not _controller_kind(found.mine[-1], found.place) and _was_there(found)


def _messages(found: Difference) -> Iterator[str]:
    """Yield the messages of a resource and, for a graph, of its components."""
    for live in found.mine[-1].written.values():
        owners = live["metadata"].get("ownerReferences") or ()
        if place(live) == found.place or any(f"{owner['kind']}/{owner['name']}" == found.place for owner in owners):
            yield from (condition["message"] for condition in (live.get("status") or {}).get("conditions") or ())


def _was_there(found: Difference) -> bool:
    """Whether a step of the story has made the object."""
    return any(_action(state.step)[0] == "apply" and _is_target(found, state.step) for state in found.mine)


def _all_or_nothing(found: Difference) -> bool:
    """Hold for an object that the released operator made before it found out that a resource cannot be rendered."""
    theirs, mine = found.theirs[-1].resources, found.mine[-1].resources
    has_failed = any(_has_failed(theirs[name]) and _has_failed(mine[name]) for name in theirs.keys() & mine.keys())
    return has_failed and found.recorded is True and found.ours is False


def _has_failed(resource: Json) -> bool:
    return resource.get("state") == "failed" or resource.get("condition Available") == "False Reconciling"


def _pruned(found: Difference) -> bool:
    """Hold for an object that its resource no longer wants, or whose resource is gone."""
    if found.recorded is not True or found.ours is not False:
        return False
    recorded = found.theirs[-1].objects.get(found.place) or {}  # our own resources are told elsewhere
    owners = recorded.get("metadata", {}).get("ownerReferences") or ()
    owner = next((f"{each['kind']}/{each['name']}" for each in owners if each.get("controller")), "")
    if owner not in found.mine[-1].written:
        return bool(owner)
    return found.place not in _wanted_by(found.mine[-1].written[owner])


def _wanted_by(resource: Json) -> set[str]:
    content = {**resource, "metadata": {**resource["metadata"], "namespace": "story"}}
    here = NamespaceFacts(mpi_secret=True, pvcs=None)
    facts = ClusterFacts(api_groups=API_GROUPS, cluster_roles=None, namespaces={"story": here})
    try:
        return {place(made) for made in render(content, settings=SETTINGS, facts=facts).objects}
    except InvalidResource:
        return set()


def _error_keeps(found: Difference) -> bool:
    """Hold where the released operator drops what it knew of services and restarts after an error."""
    is_failed = found.theirs[-1].resources[found.place].get("state") == "failed"
    before = found.value_in(found.mine[-2]) if len(found.mine) > 1 else None
    return is_failed and found.recorded is None and bool(found.ours == before)


def _adapter_owns(found: Difference) -> bool:
    """Hold for everything that follows the count of a scaling adapter which the released operator has written back."""
    theirs, mine = found.theirs[-1].resources, found.mine[-1].resources
    adapters = [name for name in theirs.keys() & mine.keys() if name.startswith(f"{ADAPTER}/")]
    changed = {
        name.partition("/")[2] for name in adapters if theirs[name].get("replicas") != mine[name].get("replicas")
    }
    if found.kind == GRAPH:
        return bool(changed)
    return any(found.name == name or found.name.startswith(f"{name}-") for name in changed)


def _edited(found: Difference) -> bool:
    """Hold for an edit of a user that the released operator never sees, of an object that has no generation."""
    for index, state in enumerate(found.theirs):
        action, _target = _action(state.step)
        if index and action in ("apply", "merge") and _is_target(found, state.step):
            before, after = found.mine[index - 1], state
            return bool(found.recorded == found.value_in(after) and found.ours == found.value_in(before))
    return False


def _foreign_field(found: Difference) -> bool:
    """Hold for a field that only a user has set, and that the released operator takes away with its whole spec."""
    for index, state in enumerate(found.theirs):
        action, target = _action(state.step)
        if index and action in ("apply", "merge") and _is_target(found, state.step):
            given = story_states.value_at(target if action == "apply" else target["patch"], found.path)
            is_new = found.value_in(found.mine[index - 1]) is None and found.recorded is None
            if is_new and given is not None and given == found.ours:
                return True
    return False


def _fresh_pull_secret(found: Difference) -> bool:
    """Hold for a pull secret that the released operator has not read yet: it lists them once a minute."""
    if "imagePullSecrets" not in found.path or not isinstance(found.ours, list):
        return False
    recorded = found.recorded or []
    new = [entry["name"] for entry in found.ours if entry not in recorded]
    made = [_action(state.step) for state in found.mine]
    applied = {step["metadata"]["name"] for verb, step in made if verb == "apply" and step["kind"] == "Secret"}
    return all(entry in found.ours for entry in recorded) and set(new) <= applied


def _other_owner(found: Difference) -> bool:
    """Hold where another component of the same model was the first to make its Service."""
    wanting = [
        live["metadata"]["name"]
        for live in found.mine[-1].written.values()
        if live["kind"] in (COMPONENT, GRAPH) and "modelRef" in str(live["spec"])
    ]
    return found.name.startswith("dynamo-model-") and {found.recorded, found.ours} <= set(wanting)


def _crashed(found: Difference) -> bool:
    """Hold where the released operator's pass crashed, which its condition shows."""
    return any(each.get("condition Ready") == "False undefined" for each in found.theirs[-1].resources.values())


def _valid_at_first(found: Difference) -> bool:
    """Hold for a model of which the released operator's first pass tells everything but that it is valid."""
    return found.recorded is None and bool(found.ours == "True ValidationPassed")


def _invalid_goes(found: Difference) -> bool:
    """Hold for a model that became invalid and is deleted, which the released operator never lets go."""
    told = found.theirs[-1].resources.get(found.place, {}).get("condition Valid", "")
    return found.recorded is True and found.ours is False and told.startswith("False")


def _profiling_told(found: Difference) -> bool:
    """Hold where the released operator tells the end of profiling by another name, or has lost its condition."""
    told = found.recorded in {"True ProfilingCompleted", "False ProfilingRunning"}
    is_over = "condition SpecGenerated" in found.theirs[-1].resources[found.place]
    return told and is_over and bool(found.ours == "True ProfilingSucceeded")


def _frozen(found: Difference) -> bool:
    """Hold for a request that the released operator does not look at any more, because its spec has been edited."""
    recorded = found.theirs[-1].resources.get(found.place, {})
    return recorded.get("processed") is False and recorded.get("state") != "Failed"


def _action(step: Json) -> tuple[str, Json]:
    return next((key, value) for key, value in step.items() if key not in STEP_OPTIONS)


RULES: Mapping[str, Callable[[Difference], bool]] = {
    "empty values": _says_nothing,
    "no finalizer": _without_finalizer,
    "missing clique": _clique_missing,
    "unnoticed change": _unnoticed,
    "only the spec": _metadata_kept,
    "parallel restart": _parallel_restart,
    "foreign object": _foreign,
    "all or nothing": _all_or_nothing,
    "pruned": _pruned,
    "profiling told": _profiling_told,
    "frozen request": _frozen,
    "error keeps": _error_keeps,
    "adapter owns": _adapter_owns,
    "crashed pass": _crashed,
    "valid at first": _valid_at_first,
    "invalid model goes": _invalid_goes,
    "edited child": _edited,
    "first owner": _other_owner,
    "foreign field": _foreign_field,
    "fresh pull secret": _fresh_pull_secret,
}

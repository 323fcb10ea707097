"""What a namespace holds after each step of a story, in a form in which a recording and our own run can be compared.

Everything that is left out is left out here, by a function whose docstring says why; nothing else is ignored. Reads the
recordings beside the repository and never writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from tests.conformance.comparison import FOLDER

Json = dict[str, Any]

NAMESPACE = "(namespace)"
"""What recordings write for the namespace of a story."""

UID = "(uid)"
"""What recordings write for the uid of an object."""

OURS = "nvidia.com/v1alpha1"
GRAPH, COMPONENT = "DynamoGraphDeployment", "DynamoComponentDeployment"
ADAPTER = "DynamoGraphDeploymentScalingAdapter"
MODEL = "DynamoModel"

_SERVER_METADATA = (
    *("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "namespace", "selfLink"),
    *("finalizers", "deletionTimestamp", "deletionGracePeriodSeconds"),
)
_SERVER_FIELDS = ("clusterIP", "clusterIPs", "healthCheckNodePort", "volumeName")
_BOOKKEEPING = ("nvidia.com/last-applied-", "deployment.kubernetes.io/", "pv.kubernetes.io/", "volume.")
_SORTED_BY_NAME = ("cliques", "podCliqueScalingGroups")


@attrs.frozen(eq=False)
class State:
    """A namespace at rest after one step.

    *resources* has status, finalizers and deletion of each resource of our group, *objects* the content of all others
    and of component deployments, *written* our resources as they are stored, all by ``Kind/name``. *unknown* are
    objects that a recording says nothing certain of. A state that is not *settled* is not compared.
    """

    step: Json
    resources: Mapping[str, Json]
    objects: Mapping[str, Json]
    written: Mapping[str, Json] = attrs.field(factory=dict)
    unknown: frozenset[str] = frozenset()
    settled: bool = True


def stories(file: str = "behaviour.jsonl") -> dict[str, Json]:
    """Return the recorded stories of a *file* by name; none when the folder is absent."""
    path = FOLDER / file
    if not path.is_file():
        return {}
    listed = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {story["id"]: story for story in listed}


def recorded_states(story: Json) -> list[State]:
    """Return what the recording says the namespace held after each step.

    What changed in a step that never came to rest may have changed again afterwards, unrecorded; it is unknown until
    the recording tells of it again.
    """
    objects: dict[str, Json] = {}
    unknown: set[str] = set()
    found = []
    for entry in story["trace"]:
        told = {place(made): comparable(made) for made in entry["created_or_changed"]}
        is_settled = not entry.get("unsettled")
        objects = {name: made for name, made in {**objects, **told}.items() if name not in entry["removed"]}
        touched = {*told, *entry["removed"]}
        unknown = unknown - touched if is_settled else unknown | touched
        resources = {name: resource_state(content) for name, content in entry["resources"].items()}
        found.append(State(entry["step"], resources, objects, {}, frozenset(unknown), is_settled))
    return found


def live_state(step: Json, contents: Iterable[Json], namespace: str, *, settled: bool = True) -> State:
    """Return the state of *namespace*, which holds *contents*, after *step*."""
    held = list(contents)
    text = json.dumps(held).replace(namespace, NAMESPACE)
    for uid in {uid for live in held for uid in _uids(live)}:
        text = text.replace(uid, UID)
    masked = json.loads(text)
    resources = {place(live): resource_state(_recorded_form(live)) for live in masked if live["apiVersion"] == OURS}
    objects = {place(live): comparable(live) for live in masked if live["kind"] != GRAPH}
    written = {place(live): live for live in masked if live["apiVersion"] == OURS}
    return State(step, resources, objects, written, settled=settled)


def _uids(live: Json) -> Iterator[str]:
    """Yield the uid of an object and those of its owners, who may be gone."""
    metadata = live["metadata"]
    yield metadata["uid"]
    yield from (owner["uid"] for owner in metadata.get("ownerReferences") or ())


def place(content: Json) -> str:
    """Return the kind and the name of an object as recordings write them."""
    return f"{content['kind']}/{content['metadata']['name']}"


def _recorded_form(live: Json) -> Json:
    metadata = live["metadata"]
    return {
        "generation": metadata.get("generation"),
        "status": live.get("status"),
        "finalizers": metadata.get("finalizers") or [],
        "deleting": "deletionTimestamp" in metadata,
    }


def resource_state(recorded: Json) -> Json:
    """Return what must agree of one of our resources, one entry for each field.

    Left out are times, the texts of failures, the generation that a condition speaks of, and the numbers of
    generations: the released operator writes resources back and so adds some. Whether the status is about the present
    generation stays.
    """
    status = recorded.get("status") or {}
    fields: Json = {
        "finalizers": sorted(recorded.get("finalizers") or ()),
        "deleting": recorded.get("deleting", False),
    }
    for key, value in status.items():
        if key == "observedGeneration":
            fields["processed"] = value == recorded["generation"]
        elif key == "lastScaleTime":
            fields[key] = "(time)"
        elif key != "conditions":
            fields[key] = value
    for condition in status.get("conditions") or ():
        fields[f"condition {condition['type']}"] = f"{condition['status']} {condition['reason']}"
        if condition["reason"] == "some_resources_are_not_ready":
            fields["message"] = _parts(condition["message"])
    return fields


def _parts(message: str) -> list[str]:
    """Return the parts of a list in a message: the released operator joins them in random order."""
    return sorted(part.strip() for clause in message.split(";") for part in clause.split(": "))


def comparable(content: Json) -> Json:
    """Return the content of an object that must agree.

    Left out are statuses (those of our resources are compared as such), what a server or a built-in controller fills
    in from a counter or a clock, the annotations in which the released operator notes what it applied, and the uids
    of owners. The data of Secrets is masked in recordings. Cliques are put in the order of their names.
    """
    metadata = {key: value for key, value in content["metadata"].items() if key not in _SERVER_METADATA}
    annotations = metadata.pop("annotations", None) or {}
    kept = {key: value for key, value in annotations.items() if not key.startswith(_BOOKKEEPING)}
    if kept:
        metadata["annotations"] = kept
    if "ownerReferences" in metadata:
        owners = [{key: value for key, value in each.items() if key != "uid"} for each in metadata["ownerReferences"]]
        metadata["ownerReferences"] = owners
    made = {**{key: value for key, value in content.items() if key != "status"}, "metadata": metadata}
    if content["kind"] == "Secret":
        made["data"] = dict.fromkeys(content.get("data") or (), "(masked)")
    if content["kind"] == "Service":
        made["spec"] = {key: value for key, value in content["spec"].items() if key not in _SERVER_FIELDS}
    result: Json = _in_order(made)
    return result


def _in_order(value: Any, key: str = "") -> Any:
    if isinstance(value, Mapping):
        return {name: _in_order(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        entries = [_in_order(inner) for inner in value]
        return sorted(entries, key=lambda entry: str(entry["name"])) if key in _SORTED_BY_NAME else entries
    return value


Path = tuple[str | int, ...]
"""The keys and indexes that lead to a place inside a content."""


def unequal_leaves(recorded: Any, ours: Any, path: Path = ()) -> Iterator[tuple[Path, Any, Any]]:
    """Yield the path, the recorded and our value of each place in which two contents differ."""
    if isinstance(recorded, Mapping) and isinstance(ours, Mapping):
        for key in sorted(recorded.keys() | ours.keys()):
            yield from unequal_leaves(recorded.get(key), ours.get(key), (*path, key))
    elif isinstance(recorded, list) and isinstance(ours, list) and len(recorded) == len(ours):
        for index, (theirs, mine) in enumerate(zip(recorded, ours, strict=True)):
            yield from unequal_leaves(theirs, mine, (*path, index))
    elif recorded != ours and not (recorded == "(text)" and isinstance(ours, str) and "\n" in ours):
        yield path, recorded, ours


def value_at(content: Any, path: Path) -> Any:
    """Return what stands at *path* in *content*; None where nothing does."""
    for part in path:
        if isinstance(content, Mapping):
            content = content.get(part)
        elif isinstance(content, list) and isinstance(part, int) and part < len(content):
            content = content[part]
        else:
            return None
    return content

"""Objects on a real server as the released operator leaves them: made by its field manager, with its bookkeeping.

From the recordings of that operator where the folder with them is there, and from renders of the profile that says what
it makes. Knows nothing of our controller.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dynamo_controller import ownership
from dynamo_render import ClusterFacts, OperatorSettings, render
from tests.cluster.bench import Bench
from tests.cluster.client import Json
from tests.fakes.released import BOOKKEEPING, MANAGER

RECORDINGS = Path(__file__).resolve().parents[3] / "shared" / "conformance" / "behaviour.jsonl"
OURS = "nvidia.com/v1alpha1"
WORKLOADS = (("apps/v1", "Deployment"), ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"))
SETS = (*WORKLOADS, ("grove.io/v1alpha1", "PodCliqueSet"))

_SET_BY_SERVERS = ("generation", "resourceVersion", "uid", "creationTimestamp", "managedFields")


def recorded(story: str, namespace: str) -> tuple[Json, list[Json]]:
    """Return the resource of a recorded story and what the released operator had stored for it."""
    with RECORDINGS.open(encoding="utf-8") as lines:
        (found,) = [each for each in map(json.loads, lines) if each["id"] == story]
    # Keys are masked in the recordings, and this server takes no rollout strategy without a type.
    text = json.dumps(found["trace"][0]).replace("(namespace)", namespace).replace("(masked)", "bWFza2Vk")
    first = json.loads(text.replace('"rolloutStrategy": {"type": ""}, ', ""))
    return first["step"]["apply"], first["created_or_changed"]


def rendered(resource: Json, settings: Json, facts: Json) -> list[Json]:
    """Return what the released operator stores for *resource*, owners by name."""
    made = render(
        resource,
        settings=OperatorSettings.from_mapping({**settings, "profile": "0.9-shipped"}),
        facts=ClusterFacts.from_mapping(facts),
    )
    pairs = zip(made.objects, made.owners, strict=True)
    return [_owned(content, owner.kind, owner.name) if owner else dict(content) for content, owner in pairs]


def _owned(content: Mapping[str, Any], kind: str, name: str) -> Json:
    owner = {"apiVersion": OURS, "kind": kind, "metadata": {"name": name, "uid": ""}}
    return ownership.with_owner(content, owner)


def store(cluster: Bench, namespace: str, resource: Json, contents: Iterable[Json]) -> None:
    """Store *resource* as a user does, and *contents* as the released operator does, owners before what they own."""
    metadata = {**resource["metadata"], "namespace": namespace}
    owners = {resource["kind"]: {metadata["name"]: cluster.client.create({**resource, "metadata": metadata})}}
    for content in sorted(contents, key=lambda each: each["kind"] != "DynamoComponentDeployment"):
        stored = _create(cluster, _linked(content, namespace, owners))
        owners.setdefault(content["kind"], {})[content["metadata"]["name"]] = stored


def _linked(content: Json, namespace: str, owners: Mapping[str, Mapping[str, Json]]) -> Json:
    made = copy.deepcopy(content)
    made.pop("status", None)
    metadata = {key: value for key, value in made["metadata"].items() if key not in _SET_BY_SERVERS}
    references = [
        {**each, "uid": owners[each["kind"]][each["name"]]["metadata"]["uid"]}
        for each in metadata.pop("ownerReferences", ())
    ]
    made["metadata"] = {**metadata, "namespace": namespace}
    if references:
        annotations = {**(metadata.get("annotations") or {}), **BOOKKEEPING}
        made["metadata"] |= {"ownerReferences": references, "annotations": annotations}
    return made


def _create(cluster: Bench, content: Json) -> Json:
    path = cluster.client.path(content["apiVersion"], content["kind"], namespace=content["metadata"]["namespace"])
    answer = cluster.client.send("POST", f"{path}?fieldManager={MANAGER}", content)
    assert not answer.is_refusal, f"{content['kind']}: {answer.message}"
    return answer.body


def templates(cluster: Bench, namespace: str) -> dict[str, Any]:
    """Return everything whose change replaces pods, without values that say nothing, by kind and name."""
    return {
        f"{kind}/{live['metadata']['name']}": _said(list(_templates(live["spec"])))
        for api_version, kind in SETS
        for live in cluster.client.get(api_version, kind, namespace=namespace)["items"]
    }


def _templates(spec: Json) -> Iterator[Any]:
    if "leaderWorkerTemplate" in spec:
        yield from (spec["leaderWorkerTemplate"][part] for part in ("leaderTemplate", "workerTemplate"))
    elif "cliques" in spec["template"]:
        for clique in spec["template"]["cliques"]:
            yield {key: clique.get(key) for key in ("name", "labels", "annotations")} | clique["spec"]["podSpec"]
    else:
        yield spec["template"]


def _said(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: _said(inner) for key, inner in value.items()}
        return {key: inner for key, inner in kept.items() if inner not in (None, {}, [])}
    return [_said(each) for each in value] if isinstance(value, list) else value


def pods(cluster: Bench, namespace: str) -> dict[str, str]:
    """Return the uid of each pod, by name."""
    found = cluster.client.get("v1", "Pod", namespace=namespace)["items"]
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in found}


def foreign_fields(cluster: Bench, namespace: str) -> dict[str, Json]:
    """Return what the released operator still has of the content of objects that belong to somebody."""
    kinds = (*SETS, (OURS, "DynamoComponentDeployment"), ("v1", "Service"), ("networking.k8s.io/v1", "Ingress"))
    return {
        f"{kind}/{live['metadata']['name']}": entry["fieldsV1"]
        for api_version, kind in kinds
        for live in cluster.client.get(api_version, kind, namespace=namespace)["items"]
        for entry in live["metadata"].get("managedFields", ())
        if entry["manager"] == MANAGER and "subresource" not in entry and entry["fieldsV1"].keys() - {"f:metadata"}
    }

"""What holds after every fault: five questions to a cluster and to the record of a proxy. faults.md, O1 to O5.

Knows no fault. Expected values come from a run of the same story without faults.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dynamo_controller.ports import FIELD_MANAGER
from tests.cluster.client import Client
from tests.cluster.harms import Asked

Json = dict[str, Any]
OURS, GROVE, LWS = "nvidia.com/v1alpha1", "grove.io/v1alpha1", "leaderworkerset.x-k8s.io/v1"
GRAPH, COMPONENT = "DynamoGraphDeployment", "DynamoComponentDeployment"

KINDS = (
    (OURS, GRAPH),
    (OURS, COMPONENT),
    (OURS, "DynamoGraphDeploymentScalingAdapter"),
    ("apps/v1", "Deployment"),
    ("v1", "Service"),
    ("v1", "ConfigMap"),
    ("v1", "ServiceAccount"),
    ("v1", "PersistentVolumeClaim"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ("networking.k8s.io/v1", "Ingress"),
)
ADD_ON_KINDS = ((GROVE, "PodCliqueSet"), (LWS, "LeaderWorkerSet"))
"""Kinds whose objects a graph leads to, where they are served."""

WORKLOADS = {"deployments", "dynamocomponentdeployments", "podcliquesets", "leaderworkersets"}
TEMPLATES = ("template", "leaderTemplate", "workerTemplate", "leaderWorkerTemplate", "extraPodSpec")

OF_THE_CLUSTER = {("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")}
BYSTANDER = "theirs"

_MASKED = {
    "clusterIP",
    "clusterIPs",
    "creationTimestamp",
    "deployment.kubernetes.io/revision",
    "generation",
    "lastTransitionTime",
    "observedGeneration",
    "resourceVersion",
    "time",
    "uid",
}


_UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def live(client: Client, namespace: str) -> Iterator[Json]:
    """Yield every object in *namespace* that the controller could have made."""
    served = {group["name"] for group in client.send("GET", "/apis").body["groups"]}
    for api_version, kind in (*KINDS, *(each for each in ADD_ON_KINDS if each[0].partition("/")[0] in served)):
        for found in client.get(api_version, kind, namespace=namespace)["items"]:
            name = found["metadata"]["name"]
            if (kind, name) not in OF_THE_CLUSTER and not name.startswith(BYSTANDER):
                yield {"apiVersion": api_version, "kind": kind, **found}


def end_state(client: Client, namespace: str, graph: str = "chat") -> Mapping[str, Json]:
    """Return what belongs to a graph, by kind and name, without what differs between two equal runs (O1)."""
    found = {}
    for content in live(client, namespace):
        if not content["metadata"]["name"].startswith(graph):
            continue
        text = _UID.sub("UID", json.dumps(_masked(content), sort_keys=True))
        plain: Json = json.loads(text.replace(namespace, "NAMESPACE").replace(graph, "GRAPH"))
        found[f"{plain['kind']}/{plain['metadata']['name']}"] = plain
    return found


def _masked(content: Json) -> Json:
    """Return what is ours of an object: no status of others, of the records of fields our own."""
    kept = {key: value for key, value in content.items() if key != "status" or content["apiVersion"] == OURS}
    metadata = dict(content["metadata"])
    entries = metadata.pop("managedFields", None) or ()
    metadata["managedFields"] = [
        entry for entry in entries if entry["manager"] == FIELD_MANAGER and not entry.get("subresource")
    ]
    masked: Json = _without(_MASKED, {**kept, "metadata": metadata})
    return masked


def _without(keys: set[str], value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without(keys, inner) for key, inner in value.items() if key not in keys}
    return [_without(keys, each) for each in value] if isinstance(value, list) else value


def differences(found: Mapping[str, Json], wanted: Mapping[str, Json]) -> list[str]:
    """Return where two end states differ, as paths with both values (O1)."""
    return list(_differing("", found, wanted))


def _differing(path: str, found: Any, wanted: Any) -> Iterator[str]:
    if isinstance(found, Mapping) and isinstance(wanted, Mapping):
        for key in sorted(found.keys() | wanted.keys()):
            yield from _differing(f"{path}/{key}", found.get(key), wanted.get(key))
    elif found != wanted:
        yield f"{path}: {json.dumps(found)[:200]} instead of {json.dumps(wanted)[:200]}"


def sorts(writes: Iterable[Asked]) -> Counter[str]:
    """Return how many writes there were of each sort: verb, kind and subresource."""
    return Counter(f"{each.verb} {each.resource} {each.subresource}".strip() for each in writes)


def excess(writes: Iterable[Asked], sound: Counter[str], *, factor: int = 2) -> Mapping[str, int]:
    """Return the sorts of writes that the fault-free run lacks, or had fewer of by more than *factor* (O2).

    Statuses follow the readiness of pods, which comes in as many steps as it likes; three more are allowed.
    """
    found = sorts(writes)
    return {
        sort: count
        for sort, count in found.items()
        if count > sound[sort] * factor + (3 if sort.endswith("status") and sound[sort] else 0)
    }


def templates(writes: Iterable[Asked], graph: str = "") -> Mapping[str, int]:
    """Return how many different pod templates were written (O4), by workload; names without that of the *graph*."""
    seen: dict[str, set[str]] = {}
    for each in writes:
        if each.resource in WORKLOADS and not each.subresource and each.verb == "patch":
            text = json.dumps(list(_templates(each.content.get("spec") or {})), sort_keys=True)
            seen.setdefault(f"{each.resource}/{each.name.removeprefix(graph)}", set()).add(text)
    return {name: len(texts) for name, texts in seen.items()}


def _templates(content: Any) -> Iterator[Any]:
    if isinstance(content, dict):
        for key, value in content.items():
            if key in TEMPLATES:
                yield value
            else:
                yield from _templates(value)
    elif isinstance(content, list):
        for each in content:
            yield from _templates(each)


def rollouts(client: Client, namespace: str) -> Mapping[str, int]:
    """Return, by Deployment, how many pod templates it has had, as its ReplicaSets say (O4)."""
    found = client.get("apps/v1", "ReplicaSet", namespace=namespace)["items"]
    return Counter(each["metadata"]["ownerReferences"][0]["name"] for each in found)


def bystanders(client: Client, namespace: str, graph: str = "chat") -> Mapping[str, Json]:
    """Make objects that are somebody else's, although they look like a graph's, and return them as stored (O5)."""
    labels = {
        "nvidia.com/dynamo-graph-deployment-name": graph,
        "nvidia.com/dynamo-namespace": f"{namespace}-{graph}",
        "app.kubernetes.io/managed-by": "dynamo-operator",
    }
    contents: tuple[Json, ...] = (
        {"apiVersion": "v1", "kind": "Service", "spec": {"ports": [{"port": 1}]}},
        {"apiVersion": "v1", "kind": "ConfigMap", "data": {"theirs": "yes"}},
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "rules": []},
    )
    metadata = {"name": BYSTANDER, "namespace": namespace, "labels": labels}
    return {each["kind"]: client.create({**each, "metadata": metadata}) for each in contents}


def touched(client: Client, made: Mapping[str, Json]) -> list[str]:
    """Return which bystanders are no longer as they were made (O5)."""
    found = []
    for kind, before in made.items():
        path = client.path(before["apiVersion"], kind, before["metadata"]["name"], before["metadata"]["namespace"])
        now = client.send("GET", path)
        if now.is_refusal or now.body["metadata"]["resourceVersion"] != before["metadata"]["resourceVersion"]:
            found.append(kind)
    return found

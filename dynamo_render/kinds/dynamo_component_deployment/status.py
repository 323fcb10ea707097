"""The status of a component deployment, from it and its live workload. controllers-graph.md 11, 12, decisions.md 3.

Gives what is wanted, without times.
"""

from __future__ import annotations

from typing import Any

from dynamo_render.facts import ClusterFacts
from dynamo_render.kinds.shared.conditions import Status, condition
from dynamo_render.kinds.shared.failures import Failure
from dynamo_render.kube import live
from dynamo_render.kube.live import Object, Objects
from dynamo_render.settings import OperatorSettings
from dynamo_render.workloads import deployment, leader_worker_set
from dynamo_render.workloads.contract import Readiness

_DEPLOYMENT = {
    True: ("DeploymentReady", "Deployment is ready"),
    False: ("DeploymentNotReady", "Deployment is not ready"),
}
_LEADER_WORKER_SETS = {
    True: ("AllLeaderWorkerSetsReady", "All LeaderWorkerSets are ready"),
    False: ("SomeLeaderWorkerSetsNotReady", "Some LeaderWorkerSets are not ready"),
}


def component_status(resource: Object, objects: Objects, facts: ClusterFacts, failure: Failure | None = None) -> Status:
    """Return the status that a pass over *resource* ends with; *objects* are its own, after the writes of the pass.

    The generation that the status speaks of moves on only when everything of it has been applied. After a *failure* the
    counts of the workload are told as before; a resource that is invalid keeps all but the word on its validity.
    """
    generation = live.generation(resource)
    before = live.status(resource)
    kept = {key: before[key] for key in ("observedGeneration", "service") if key in before}
    if failure is not None and failure.sort == "invalid":
        return {"conditions": [_valid(generation, failure)], **kept}
    readiness, words = _workload(resource, objects, facts)
    conditions = [_valid(generation, None), _available(generation, readiness, words, failure)]
    service = {} if readiness.service is None else {"service": dict(readiness.service)}
    if failure is None:
        return {"conditions": conditions, "observedGeneration": generation, **service}
    if failure.is_at_the_end:
        return {"conditions": conditions, **kept, **service}
    return {"conditions": conditions, **kept}


def discovery_prefix(resource: Object, settings: OperatorSettings) -> str | None:
    """Return the prefix of the keys that a component leaves behind in etcd, to be deleted with it, or None.

    It ends with a slash, so that component ``Foo`` does not take the keys of ``FooBar`` along.
    """
    spec = resource.get("spec") or {}
    service, namespace = spec.get("serviceName"), spec.get("dynamoNamespace")
    if settings.discovery_backend != "etcd" or not service or not namespace:
        return None
    return f"/{namespace}/components/{service}/"


def _valid(generation: int, failure: Failure | None) -> dict[str, Any]:
    if failure is not None:
        return condition("Valid", False, "ValidationFailed", f"Validation failed: {failure.text}", generation)
    return condition("Valid", True, "ValidationPassed", "DynamoComponentDeployment spec is valid", generation)


def _available(
    generation: int, readiness: Readiness, words: dict[bool, tuple[str, str]], failure: Failure | None
) -> dict[str, Any]:
    if failure is not None:
        text = f"Failed to reconcile DynamoComponentDeployment: {failure.text}"
        return condition("Available", False, "Reconciling", text, generation)
    return condition("Available", readiness.ready, *words[readiness.ready], generation)


def _workload(resource: Object, objects: Objects, facts: ClusterFacts) -> tuple[Readiness, dict[bool, tuple[str, str]]]:
    """Return how ready the workload of a component is, and the reason and message for either answer."""
    name = resource["metadata"]["name"]
    nodes = ((resource.get("spec") or {}).get("multinode") or {}).get("nodeCount", 1)
    if nodes > 1 and facts.has_leader_worker_set:
        names = [f"{name}-{index}" for index in range(live.desired_replicas(resource))]
        key = ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
        sets = [leader_worker_set.readiness(each, objects.get((*key, each))) for each in names]
        return leader_worker_set.joined(sets), _LEADER_WORKER_SETS
    return deployment.readiness(name, objects.get(("apps/v1", "Deployment", name))), _DEPLOYMENT

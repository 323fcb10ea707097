"""Plays recorded stories back: what the cluster held after each step, and the status that we tell of it.

A recording holds the objects of the cluster without what changes by itself: statuses of Deployments are played from the
counts that the released operator saw, those of other workloads are steps of the story. This module reads the recordings
beside the repository and never writes.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping

import attrs

from dynamo_render import ClusterFacts, InvalidResource, NamespaceFacts, OperatorSettings, render
from dynamo_render.kinds.dynamo_component_deployment.status import component_status
from dynamo_render.kinds.dynamo_graph_deployment import live_services, observation
from dynamo_render.kinds.dynamo_graph_deployment.status import graph_status
from dynamo_render.kinds.shared import failures
from dynamo_render.kinds.shared.conditions import with_transition_times
from dynamo_render.kinds.shared.failures import Failure
from tests.conformance import story_states
from tests.conformance.story_states import COMPONENT, GRAPH, Json, State

NAMESPACE = "stories"
GIVES_UP = "Failed to reconcile DynamoComponentDeployment: "

SETTINGS = OperatorSettings(
    profile="0.9-shipped",
    nats_address="nats://nats:4222",
    ingress_class_name="nginx",
    ingress_host_suffix="example.test",
    mpi_ssh_secret_namespace="dynamo-system",  # noqa: S106 - the namespace of a Secret, not its content
    planner_cluster_role="planner",
    epp_cluster_role="epp",
)
API_GROUPS = frozenset({"grove.io", "leaderworkerset.x-k8s.io", "scheduling.volcano.sh", "inference.networking.k8s.io"})


def played_states(story: Json) -> list[State]:
    """Return what the namespace of *story* held after each step, with our statuses in place of the recorded ones."""
    cluster = _Cluster()
    found = []
    trace = json.loads(json.dumps(story["trace"]).replace(story_states.NAMESPACE, NAMESPACE))
    for entry, recorded in zip(trace, story_states.recorded_states(story), strict=True):
        cluster.plays(entry)
        cluster.settles(entry)
        written = {f"{key[1]}/{key[2]}": copy.deepcopy(live) for key, live in cluster.resources().items()}
        told = {
            name: story_states.resource_state(_told(live, entry["resources"][name])) for name, live in written.items()
        }
        found.append(attrs.evolve(recorded, resources={**recorded.resources, **told}, written=written))
    return found


def _told(live: Json, recorded: Json) -> Json:
    return {**recorded, "generation": live["metadata"]["generation"], "status": live.get("status")}


class _Cluster:
    """What the API server holds while a story is played, by apiVersion, kind and name."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str, str], Json] = {}
        self.is_triggered = True

    def resources(self) -> dict[tuple[str, str, str], Json]:
        return {key: found for key, found in self.objects.items() if key[1] in {GRAPH, COMPONENT}}

    def plays(self, entry: Json) -> None:
        """Bring the objects to the state after the step: the step itself, then what the recording says it led to."""
        before = {key: found["metadata"].get("generation") for key, found in self.resources().items()}
        action, target = next((key, value) for key, value in entry["step"].items() if key != "quiet")
        if action == "apply":
            self._stored(target)
        elif action == "merge" and target["kind"] in {GRAPH, COMPONENT}:
            found = self._named(target)
            self._stored(_merged(found, target["patch"]))
        for made in entry["created_or_changed"]:
            self._stored(made)
        for gone in entry["removed"]:
            self.objects = {key: found for key, found in self.objects.items() if f"{key[1]}/{key[2]}" != gone}
        self._numbered(entry["resources"])
        if action == "status":
            self._reports(target)
        after = {key: found["metadata"].get("generation") for key, found in self.resources().items()}
        # The released operator does not look at a graph of which only the metadata have changed, so nothing else in the
        # recording has changed either.
        self.is_triggered = before != after or action != "merge" or target["kind"] != GRAPH

    def settles(self, entry: Json) -> None:
        """Tell the status of every resource until nothing changes, components before their graph."""
        if not self.is_triggered:
            return
        for key, found in self.objects.items():
            if key[1] == "Deployment":
                found["status"] = _played_deployment(found, entry["resources"])
        for _pass in range(5):
            before = json.dumps([found.get("status") for found in self.resources().values()])
            for key, resource in sorted(self.resources().items()):
                wanted = self._wanted(resource, entry["resources"][f"{key[1]}/{key[2]}"])
                resource["status"] = with_transition_times(wanted, resource.get("status"), "2026-01-01T00:00:00Z")
            if json.dumps([found.get("status") for found in self.resources().values()]) == before:
                return
        raise AssertionError("the statuses never come to rest")

    def _wanted(self, resource: Json, recorded: Json) -> Json:
        failure = self._failure(resource) or _refusal_of_the_server(recorded)
        facts = self._facts()
        if resource["kind"] == COMPONENT:
            return component_status(resource, self.objects, facts, failure)
        pathway = live_services.pathway_of(resource, facts)
        observed = observation.observed_from(resource, self.objects, pathway)
        return graph_status(resource, self.objects, observed, pathway, failure)

    def _failure(self, resource: Json) -> Failure | None:
        try:
            rendered = render(resource, settings=SETTINGS, facts=self._facts())
        except InvalidResource as refused:
            return failures.refused(refused.problems)
        foreign = []
        for made, owner in zip(rendered.objects, rendered.owners, strict=True):
            if owner is None or (owner.kind, owner.name) != (resource["kind"], resource["metadata"]["name"]):
                continue
            found = self.objects.get((made["apiVersion"], made["kind"], made["metadata"]["name"]))
            if found is not None and not found["metadata"].get("ownerReferences"):
                foreign.append((made["kind"], made["metadata"]["name"]))
        return failures.in_the_way(foreign) if foreign else None

    def _facts(self) -> ClusterFacts:
        claims = frozenset(name for _version, kind, name in self.objects if kind == "PersistentVolumeClaim")
        here = NamespaceFacts(pvcs=claims, mpi_secret=True)
        roles = frozenset({"planner", "epp"})
        return ClusterFacts(api_groups=API_GROUPS, cluster_roles=roles, namespaces={NAMESPACE: here})

    def _stored(self, made: Json) -> None:
        """Store an object; its status stays as long as it is the same object, told by a generation that only grows."""
        key = (made["apiVersion"], made["kind"], made["metadata"]["name"])
        before = self.objects.get(key, {})
        metadata = {"namespace": NAMESPACE, **made["metadata"]}
        generation = before.get("metadata", {}).get("generation", 1)
        metadata.setdefault("generation", generation)
        kept = {"status": before["status"]} if "status" in before and metadata["generation"] >= generation else {}
        self.objects[key] = {**made, "metadata": metadata, **kept}

    def _numbered(self, recorded: Mapping[str, Json]) -> None:
        for key, found in list(self.resources().items()):
            entry = recorded.get(f"{key[1]}/{key[2]}")
            if entry is None:
                del self.objects[key]
            else:
                found["metadata"] = {**found["metadata"], "generation": entry["generation"]}

    def _reports(self, target: Json) -> None:
        found = self._named(target)
        status = dict(target["status"])
        if status.get("observedGeneration") == "current":
            status["observedGeneration"] = found["metadata"]["generation"]
        found["status"] = status

    def _named(self, target: Json) -> Json:
        return next(found for key, found in self.objects.items() if key[1:] == (target["kind"], target["name"]))


def _played_deployment(found: Json, recorded: Mapping[str, Json]) -> Json:
    """Return the status of a Deployment whose counts are those that the released operator copied from it."""
    component = recorded.get(f"{COMPONENT}/{found['metadata']['name']}") or {}
    counts = (component.get("status") or {}).get("service") or {}
    status = {key: value for key, value in counts.items() if key.endswith("eplicas")}
    is_available = counts.get("availableReplicas", 0) >= found["spec"]["replicas"] * 3 // 4
    return {
        **status,
        "observedGeneration": found["metadata"]["generation"],
        "conditions": [{"type": "Available", "status": str(is_available)}],
    }


def _refusal_of_the_server(recorded: Json) -> Failure | None:
    """Return what the API server answered to a write, which only the recorded condition tells."""
    for condition in (recorded["status"] or {}).get("conditions", ()):
        if condition["reason"] == "Reconciling":
            return Failure("error", condition["message"].removeprefix(GIVES_UP))
    return None


def _merged(found: Json, patch: Json) -> Json:
    """Return *found* with a JSON merge patch applied."""
    result = {key: value for key, value in found.items() if patch.get(key, value) is not None}
    for key, value in patch.items():
        if value is not None:
            result[key] = _merged(found.get(key) or {}, value) if isinstance(value, dict) else value
    return result

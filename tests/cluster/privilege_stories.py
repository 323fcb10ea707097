"""Stories that need every right of the controller. The test plays Grove and LeaderWorkerSet.

Knows nothing about who keeps resources in place.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import attrs

from dynamo_render import ClusterFacts, InvalidResource, NamespaceFacts, OperatorSettings, render
from tests import request_passes
from tests.cluster import processes
from tests.cluster.bench import Bench
from tests.cluster.client import MERGE_PATCH
from tests.fakes.stage import clique_status, graph, pod_clique, worker

Json = dict[str, Any]

OURS, GROVE = "nvidia.com/v1alpha1", "grove.io/v1alpha1"
GRAPH, COMPONENT = "DynamoGraphDeployment", "DynamoComponentDeployment"
REQUEST, MODEL = "DynamoGraphDeploymentRequest", "DynamoModel"
LIMIT = 45.0
QUEUES = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "queues.scheduling.run.ai"},
    "spec": {
        "group": "scheduling.run.ai",
        "scope": "Cluster",
        "names": {"kind": "Queue", "listKind": "QueueList", "plural": "queues", "singular": "queue"},
        "versions": [
            {
                "name": "v2",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                },
            }
        ],
    },
}


@attrs.frozen(eq=False)
class Team:
    """A *namespace* on a bench in which the stories are played, with the *settings* of the controller's renders."""

    bench: Bench
    namespace: str
    settings: OperatorSettings

    # What is there

    def live(self, api_version: str, kind: str) -> dict[str, Json]:
        """Return the objects of a kind by name."""
        listed = self.bench.client.get(api_version, kind, namespace=self.namespace)["items"]
        frame = {"apiVersion": api_version, "kind": kind}
        return {each["metadata"]["name"]: {**frame, **each} for each in listed}

    def wait(self, what: str, is_true: Callable[[], Any]) -> None:
        """Wait until *is_true*."""
        processes.wait_until(lambda: bool(is_true()), seconds=LIMIT, what=what)

    def wait_for(self, api_version: str, kind: str, *names: str) -> None:
        """Wait until objects are there."""
        self.wait(f"{kind} {names}", lambda: set(names) <= self.live(api_version, kind).keys())

    def wait_without(self, api_version: str, kind: str, *names: str) -> None:
        """Wait until objects are gone."""
        self.wait(f"end of {kind} {names}", lambda: not set(names) & self.live(api_version, kind).keys())

    # What users do

    def create(self, content: Json) -> Json:
        """Create a resource here."""
        return self.bench.client.create({**content, "metadata": {**content["metadata"], "namespace": self.namespace}})

    def edit(self, kind: str, name: str, patch: Json) -> None:
        """Merge *patch* into one of our resources."""
        path = self.bench.client.path(OURS, kind, name, self.namespace)
        answer = self.bench.client.send("PATCH", path, patch, MERGE_PATCH)
        assert not answer.is_refusal, answer.message

    def annotate(self, name: str, **annotations: str) -> None:
        """Set annotations of a graph; their names without the group, underscores for hyphens."""
        named = {f"nvidia.com/{key.replace('_', '-')}": value for key, value in annotations.items()}
        self.edit(GRAPH, name, {"metadata": {"annotations": named}})

    # What Kubernetes and Grove do

    def end_job(self, name: str, *conditions: str, **counts: int) -> None:
        """Let a Job come to its end."""
        now = "2026-01-01T00:00:00Z"
        listed = [{"type": each, "status": "True", "lastTransitionTime": now} for each in conditions]
        ended = {"completionTime": now} if "Complete" in conditions else {}
        live = self.live("batch/v1", "Job")[name]
        self.bench.client.patch_status(live, {"startTime": now, "conditions": listed, **ended, **counts})

    def grow(self, name: str) -> None:
        """Make the cliques and scaling groups that a PodCliqueSet asks for."""
        self.wait_for(GROVE, "PodCliqueSet", name)
        template = self.live(GROVE, "PodCliqueSet")[name]["spec"]["template"]
        for clique in template["cliques"]:
            content = pod_clique(f"{name}-0-{clique['name']}", clique)
            content["spec"] = clique["spec"]
            made = self.create(content)
            self.bench.client.patch_status(made, clique_status(made, ready=True))
        for group in template.get("podCliqueScalingGroups") or ():
            labels = template["cliques"][0]["labels"]
            metadata = {"name": f"{name}-0-{group['name']}", "labels": labels}
            spec = {"replicas": group["replicas"], "cliqueNames": group["cliqueNames"]}
            self.create({"apiVersion": GROVE, "kind": "PodCliqueScalingGroup", "metadata": metadata, "spec": spec})


def wide(name: str = "wide") -> Json:
    """Return a graph with everything that a graph without Grove can have."""
    image = {"extraPodSpec": {"mainContainer": {"image": "registry.test/any:1"}}}
    content = graph(
        name,
        Worker=worker(
            scalingAdapter={"enabled": True},
            volumeMounts=[{"name": f"{name}-models", "mountPoint": "/models"}],
            modelRef={"name": "test/model"},
        ),
        Planner={"componentType": "planner", **image},
        Picker={"componentType": "epp", "eppConfig": {"config": {"plugins": [], "schedulingProfiles": []}}, **image},
    )
    content["spec"]["services"]["Frontend"]["ingress"] = {
        "enabled": True,
        "host": name,
        "ingressControllerClassName": "any",
    }
    claim = {"create": True, "storageClass": "any", "size": "1Gi", "volumeAccessMode": "ReadWriteMany"}
    content["spec"]["pvcs"] = [{"name": f"{name}-models", **claim}]
    content["metadata"]["annotations"] = {"nvidia.com/enable-grove": "false"}
    return content


def grown(name: str = "grown") -> Json:
    """Return a graph for Grove with a service on several nodes that share an MPI key."""
    container = {
        "image": "registry.test/trt:1",
        "command": ["python3", "-m", "dynamo.trtllm"],
        "args": ["--model", "m"],
    }
    many = worker(multinode={"nodeCount": 2}, resources={"limits": {"gpu": "1"}})
    content = graph(name, Worker={**many, "extraPodSpec": {"mainContainer": container}})
    content["spec"]["backendFramework"] = "trtllm"
    content["spec"]["services"]["Frontend"]["ingress"] = {
        "enabled": True,
        "host": name,
        "useVirtualService": True,
        "virtualServiceGateway": "istio/any",
    }
    return content


def solo(name: str = "solo", nodes: int = 2) -> Json:
    """Return a component of a user's own on several nodes, without Grove."""
    spec = worker(multinode={"nodeCount": nodes}, resources={"limits": {"gpu": "1"}})
    metadata = {"name": name}
    more = {"backendFramework": "vllm", "serviceName": "Worker", "dynamoNamespace": "any"}
    return {"apiVersion": OURS, "kind": COMPONENT, "metadata": metadata, "spec": {**spec, **more}}


def applied(team: Team) -> None:
    """Tell of everything that comes to be."""
    team.create(wide())
    team.create(grown())
    team.create(solo())
    team.wait_for("apps/v1", "Deployment", "wide-frontend", "wide-worker", "wide-planner", "wide-picker")
    team.wait_for("inference.networking.k8s.io/v1", "InferencePool", "wide-pool")
    team.wait_for("v1", "PersistentVolumeClaim", "wide-models")
    team.wait_for("networking.k8s.io/v1", "Ingress", "wide-frontend")
    team.wait_for("networking.istio.io/v1beta1", "VirtualService", "grown-frontend")
    team.wait_for("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "solo-0")
    team.wait_for("scheduling.volcano.sh/v1beta1", "PodGroup", "solo-0")
    team.grow("grown")


def changed(team: Team, times: int) -> None:
    """Tell of a change for the so-manieth time: what is told of it is counted."""
    team.edit(GRAPH, "wide", {"spec": {"services": {"Frontend": {"envs": [{"name": "CHANGED", "value": f"{times}"}]}}}})

    def counts() -> set[int]:
        listed = team.live("v1", "Event").values()
        return {each["count"] for each in listed if each["message"] == "Updated Deployment wide-frontend"}

    team.wait("word about a change", lambda: times in counts())


def scaled(team: Team) -> None:
    """Tell of counts: of an adapter, of a clique, of a scaling group."""
    changed(team, 1)
    path = team.bench.client.path(OURS, "DynamoGraphDeploymentScalingAdapter", "wide-worker", team.namespace)
    answer = team.bench.client.send("PATCH", f"{path}/scale", {"spec": {"replicas": 2}}, MERGE_PATCH)
    assert not answer.is_refusal, answer.message
    team.wait(
        "count of the adapter", lambda: team.live("apps/v1", "Deployment")["wide-worker"]["spec"]["replicas"] == 2
    )
    team.edit(GRAPH, "grown", {"spec": {"services": {"Frontend": {"replicas": 2}, "Worker": {"replicas": 3}}}})
    frontend, workers = "grown-0-frontend", "grown-0-worker"
    team.wait("count of a clique", lambda: team.live(GROVE, "PodClique")[frontend]["spec"]["replicas"] == 2)
    team.wait(
        "count of a scaling group", lambda: team.live(GROVE, "PodCliqueScalingGroup")[workers]["spec"]["replicas"] == 3
    )


def requested(team: Team) -> None:
    """Tell of requests: a graph is made, or its name is taken, or profiling fails.

    An earlier request has left its Job; garbage collection does not know the version of its owner, and lets it be.
    """
    owner = {"apiVersion": "nvidia.com/v9", "kind": REQUEST, "name": "asked", "uid": "any", "controller": True}
    pod = {"restartPolicy": "Never", "containers": [{"name": "profiler", "image": "registry.test/any:1"}]}
    left = {"apiVersion": "batch/v1", "kind": "Job", "spec": {"suspend": True, "template": {"spec": pod}}}
    team.create({**left, "metadata": {"name": "profile-asked", "ownerReferences": [owner]}})
    names = {"asked": "asked", "taken": "wide", "failed": "failed"}
    for name, made in names.items():
        team.create(_request(name, deploymentOverrides={"name": made}))
        team.wait(f"Job of {name}", partial(_is_under_way, team, name))
    for name in ("asked", "taken"):
        team.create(request_passes.output(name=name))
        team.end_job(f"profile-{name}", "SuccessCriteriaMet", "Complete", succeeded=1)
    team.end_job("profile-failed", "FailureTarget", "Failed")
    team.wait("graph of a request", lambda: "asked" in team.live(OURS, GRAPH))
    team.wait("end of profiling", lambda: not {"Pending", "Profiling"} & {_state(team, name) for name in names})


def modelled(team: Team) -> None:
    """Tell of a model that nobody serves yet, and that is deleted."""
    spec = {"modelName": "law", "baseModelName": "test/model", "modelType": "lora", "source": {"uri": "hf://a/law"}}
    team.create({"apiVersion": OURS, "kind": MODEL, "metadata": {"name": "law"}, "spec": spec})
    team.wait("word about a model", lambda: team.live(OURS, MODEL)["law"].get("status", {}).get("conditions"))
    team.bench.client.delete(team.live(OURS, MODEL)["law"])
    team.wait_without(OURS, MODEL, "law")


def _is_under_way(team: Team, request: str) -> bool:
    return _state(team, request) not in {None, "", "Pending"}


def _state(team: Team, request: str) -> Any:
    return team.live(OURS, REQUEST)[request].get("status", {}).get("state")


def _request(name: str, **spec: Any) -> Json:
    content = request_passes.request(name, autoApply=True, **spec)
    return {**content, "metadata": {"name": name}}


def reduced(team: Team) -> None:
    """Tell of everything that goes while its resource stays."""
    changed(team, 2)
    off: Json = {"enabled": False}
    team.edit(GRAPH, "wide", {"spec": {"services": {"Worker": {"scalingAdapter": off}, "Frontend": {"ingress": off}}}})
    team.wait_without(OURS, "DynamoGraphDeploymentScalingAdapter", "wide-worker")
    team.wait_without("networking.k8s.io/v1", "Ingress", "wide-frontend")
    elsewhere = {"config": None, "configMapRef": {"name": "theirs", "key": "k"}}
    team.edit(GRAPH, "wide", {"spec": {"services": {"Picker": {"eppConfig": elsewhere}}}})
    team.wait_without("v1", "ConfigMap", "wide-epp-config")
    other = {"componentType": "main", "eppConfig": None}
    team.edit(GRAPH, "wide", {"spec": {"services": {"Picker": other}}})
    team.wait_without("inference.networking.k8s.io/v1", "InferencePool", "wide-pool")
    team.annotate("wide", dynamo_discovery_backend="etcd")
    team.wait_without("v1", "ServiceAccount", "wide-k8s-service-discovery")
    team.wait_without("rbac.authorization.k8s.io/v1", "RoleBinding", "wide-k8s-service-discovery-binding")
    team.annotate("wide", enable_grove="true")
    team.wait_without(OURS, COMPONENT, "wide-frontend", "wide-worker")
    team.edit(GRAPH, "grown", {"spec": {"services": {"Frontend": {"ingress": {"enabled": False}}}}})
    team.wait_without("networking.istio.io/v1beta1", "VirtualService", "grown-frontend")
    team.annotate("grown", enable_grove="false")
    team.wait_without(GROVE, "PodCliqueSet", "grown")
    team.edit(COMPONENT, "solo", {"spec": {"multinode": None}})
    team.wait_without("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "solo-0")
    team.wait_without("scheduling.volcano.sh/v1beta1", "PodGroup", "solo-0")
    team.wait_for("apps/v1", "Deployment", "solo")
    team.edit(COMPONENT, "solo", {"spec": {"multinode": {"nodeCount": 2}}})
    team.wait_without("apps/v1", "Deployment", "solo")


def taken(team: Team) -> None:
    """Tell of somebody else's objects under every name: they have to be looked at, and are left alone."""
    resources = [wide("late"), grown("late-grown"), solo("late-solo")]
    twins = [twin for resource in resources for twin in _twins(team, resource)]
    kinds = {twin["kind"] for twin in twins}
    assert kinds >= {COMPONENT, "Deployment", "PodCliqueSet", "LeaderWorkerSet", "InferencePool", "VirtualService"}
    for twin in twins:
        answer = team.bench.client.send(
            "POST", team.bench.client.path(twin["apiVersion"], twin["kind"], "", team.namespace), twin
        )
        assert answer.status in {201, 409}, answer.message
    for resource in resources:
        team.create(resource)
    team.wait("word about what is in the way", lambda: _is_told(team, "late", "late-grown"))


def gone(team: Team) -> None:
    """Tell of a resource that is deleted with the finalizer of the released operator on it."""
    team.edit(GRAPH, "wide", {"metadata": {"finalizers": ["nvidia.com/finalizer"]}})
    team.bench.client.delete(team.live(OURS, GRAPH)["wide"])
    team.wait_without(OURS, GRAPH, "wide")


def moved_on(team: Team) -> None:
    """Create resources that need every right sooner or later, as soon as a webhook lets them pass.

    And do what others do with what is there by now, so that the controller has to do more.
    """
    for content in (wide(), grown(), solo(), _request("failed")):
        content["metadata"]["namespace"] = team.namespace
        path = team.bench.client.path(OURS, content["kind"], namespace=team.namespace)
        team.bench.client.send("POST", path, content)
    if "profile-failed" in team.live("batch/v1", "Job"):
        team.end_job("profile-failed", "FailureTarget", "Failed")
    if "grown" in team.live(GROVE, "PodCliqueSet") and not team.live(GROVE, "PodClique"):
        team.grow("grown")
        team.edit(GRAPH, "grown", {"spec": {"services": {"Frontend": {"replicas": 2}, "Worker": {"replicas": 3}}}})


def cleared(team: Team) -> None:
    """Delete all resources, so that nobody looks at them any more."""
    for kind in (GRAPH, COMPONENT, REQUEST, MODEL):
        team.bench.client.send("DELETE", team.bench.client.path(OURS, kind, namespace=team.namespace))


STORIES: tuple[Callable[[Team], None], ...] = (applied, scaled, requested, modelled, reduced, taken, gone)


def _is_told(team: Team, *names: str) -> bool:
    graphs = team.live(OURS, GRAPH)
    words = [json.dumps(graphs[name].get("status", {})) for name in names]
    return all("belong" in each or "not" in each for each in words)


def _twins(team: Team, resource: Json) -> Iterator[Json]:
    """Yield objects that have the names of what *resource* and its children would lead to."""
    groups = {"grove.io", "leaderworkerset.x-k8s.io", "scheduling.volcano.sh", "inference.networking.k8s.io"}
    here = copy.deepcopy({**resource, "metadata": {**resource["metadata"], "namespace": team.namespace}})
    facts = ClusterFacts(frozenset(groups), namespaces={team.namespace: NamespaceFacts(mpi_secret=True)})
    try:
        made = render(here, settings=team.settings, facts=facts).objects
    except InvalidResource as error:
        raise AssertionError(str(error)) from error
    for content in made:
        yield json.loads(json.dumps(content))
        if content["kind"] == COMPONENT:
            yield from _twins(team, json.loads(json.dumps(content)))

"""Stories that need every right of the controller, and what an API server's audit log says about the rights they used.

The test plays Grove and LeaderWorkerSet. Knows nothing about who keeps resources in place.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs

from dynamo_render import ClusterFacts, InvalidResource, NamespaceFacts, OperatorSettings, render
from tests.cluster import processes
from tests.cluster.bench import Bench
from tests.cluster.client import MERGE_PATCH
from tests.fakes.stage import clique_status, graph, pod_clique, worker

Json = dict[str, Any]
Right = tuple[str, str, str]
"""API group, resource (with its subresource), verb."""

OURS, GROVE = "nvidia.com/v1alpha1", "grove.io/v1alpha1"
GRAPH, COMPONENT = "DynamoGraphDeployment", "DynamoComponentDeployment"
LIMIT = 45.0

POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata", "userGroups": ["system:serviceaccounts"]}, {"level": "None"}],
}
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


def audit_options(folder: Path) -> list[str]:
    """Return the options of an API server that writes what accounts ask for to `audit.log` in *folder*."""
    policy = folder / "audit-policy.json"
    policy.write_text(json.dumps(POLICY))
    return [
        f"--audit-policy-file={policy}",
        f"--audit-log-path={folder / 'audit.log'}",
        # As OpenShift does: who refers to an owner that holds up a deletion must be allowed to set its finalizers.
        "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
    ]


@attrs.frozen(eq=False)
class Audit:
    """What *user* has asked an API server for, by its audit log."""

    log: Path
    user: str

    def used(self) -> set[Right]:
        """Return the rights that were used; an apply that made an object has used the right to create it."""
        found = set()
        for event in self._events():
            about = event["objectRef"]
            resource = "/".join(filter(None, (about["resource"], about.get("subresource"))))
            right = (about.get("apiGroup", ""), resource)
            found.add((*right, event["verb"]))
            if event["verb"] == "patch" and event["responseStatus"]["code"] == 201:
                found.add((*right, "create"))
        return found

    def refusals(self) -> list[str]:
        """Return what was refused for want of a right."""
        return [
            f"{event['verb']} {event['requestURI']}"
            for event in self._events()
            if event.get("annotations", {}).get("authorization.k8s.io/decision") == "forbid"
        ]

    def _events(self) -> Iterator[Json]:
        for line in self.log.read_text("utf-8").splitlines():
            event = json.loads(line)
            if event["user"]["username"] == self.user and "objectRef" in event and "responseStatus" in event:
                yield event


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
        return {each["metadata"]["name"]: each for each in listed}

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

    # What Grove does

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


def scaled(team: Team) -> None:
    """Tell of counts: of an adapter, of a clique, of a scaling group."""
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


def reduced(team: Team) -> None:
    """Tell of everything that goes while its resource stays."""
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


STORIES: tuple[Callable[[Team], None], ...] = (applied, scaled, reduced, taken, gone)


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


def rights(rules: Iterable[Json]) -> set[Right]:
    """Return the rights that the rules of a role give."""
    return {
        (group, resource, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }

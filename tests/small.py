"""Small resources for tests, and the parts of what they render to. Holds no expectation of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from dynamo_render import ClusterFacts, InvalidResource, Observed, OperatorSettings, Rendered, render
from dynamo_render.errors import field_path

Json = dict[str, Any]

DOCUMENTED = "0.9"
SHIPPED = "0.9-shipped"
BOTH = pytest.mark.parametrize("profile", [DOCUMENTED, SHIPPED])

GROVE: Mapping[str, Any] = {"api_groups": ["grove.io"]}
LEADER_WORKER_SET: Mapping[str, Any] = {"api_groups": ["leaderworkerset.x-k8s.io", "scheduling.volcano.sh"]}
NOTHING: Mapping[str, Any] = {}

ETCD: Mapping[str, Any] = {"restricted_namespace": "team-a", "discovery_backend": "etcd"}
KUBERNETES: Mapping[str, Any] = {"restricted_namespace": "team-a"}


def service(
    component_type: str | None = None, *, main: Json | None = None, pod: Json | None = None, **fields: Any
) -> Json:
    """Return a service whose main container has an image and *main*, in a pod with *pod*; *fields* are its own."""
    typed = {} if component_type is None else {"componentType": component_type}
    extra = {**(pod or {}), "mainContainer": {"image": "example.com/image:1", **(main or {})}}
    return {**typed, **fields, "extraPodSpec": extra}


def worker(engine: str = "vllm", flags: str = "", **fields: Any) -> Json:
    """Return a worker that starts *engine* with *flags* through a shell."""
    line = f"python3 -m dynamo.{engine} {flags}".rstrip()
    return service("worker", **{"main": {"args": [line]}, **fields})


def graph(
    *, annotations: Json | None = None, status: Json | None = None, spec: Json | None = None, **services: Json
) -> Json:
    """Return the graph ``demo`` in ``team-a`` with *services* by name and the other fields of *spec*."""
    resource: Json = {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoGraphDeployment",
        "metadata": {"name": "demo", "namespace": "team-a"},
        "spec": {**(spec or {}), "services": services},
    }
    if annotations is not None:
        resource["metadata"]["annotations"] = annotations
    return resource if status is None else {**resource, "status": status}


def component(spec: Json, **metadata: Any) -> Json:
    """Return the component deployment ``solo`` in ``team-a``."""
    return {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoComponentDeployment",
        "metadata": {"name": "solo", "namespace": "team-a", **metadata},
        "spec": spec,
    }


def rendered(
    resource: Json,
    profile: str = DOCUMENTED,
    *,
    settings: Mapping[str, Any] = ETCD,
    facts: Mapping[str, Any] = GROVE,
    observed: Observed | None = None,
) -> Rendered:
    """Return what *resource* leads to; without more it runs on Grove, in one namespace, with etcd discovery."""
    return render(
        resource,
        settings=OperatorSettings.from_mapping({**settings, "profile": profile}),
        facts=ClusterFacts.from_mapping(facts),
        observed=observed,
    )


def of_kind(result: Rendered, kind: str) -> list[Json]:
    """Return the objects of one kind, in apply order."""
    return [found for found in result.objects if found["kind"] == kind]


def the(result: Rendered, kind: str, name: str | None = None) -> Json:
    """Return the only object of *kind*, or that called *name*."""
    (found,) = [found for found in of_kind(result, kind) if name in (None, found["metadata"]["name"])]
    return found


def names(result: Rendered, kind: str) -> list[str]:
    """Return the names of the objects of one kind, in apply order."""
    return [found["metadata"]["name"] for found in of_kind(result, kind)]


def clique(result: Rendered, name: str) -> Json:
    """Return the clique called *name*."""
    cliques = the(result, "PodCliqueSet")["spec"]["template"]["cliques"]
    (found,) = [found for found in cliques if found["name"] == name]
    return found


def pod(result: Rendered, name: str) -> Json:
    """Return the pod of the clique called *name*, or of the Deployment ``demo-<name>``."""
    if of_kind(result, "PodCliqueSet"):
        return clique(result, name)["spec"]["podSpec"]
    return the(result, "Deployment", f"demo-{name}")["spec"]["template"]["spec"]


def main(result: Rendered, name: str) -> Json:
    """Return the main container of that pod."""
    (found,) = [container for container in pod(result, name)["containers"] if container["name"] == "main"]
    return found


def container(service_: Json, profile: str, name: str = "it", **surroundings: Any) -> Json:
    """Return the main container of the service ``It`` of a graph, in the pod called *name*."""
    return main(rendered(graph(It=service_), profile, **surroundings), name)


def env(container: Json) -> Json:
    """Return a container's variables as a mapping: the value, None without one, or where it comes from."""
    assert len({entry["name"] for entry in container["env"]}) == len(container["env"]), "a name stands twice"
    return {entry["name"]: entry.get("valueFrom", entry.get("value")) for entry in container["env"]}


def warnings(result: Rendered) -> list[tuple[str, str]]:
    """Return rule and path of every warning."""
    return [(problem.rule, field_path(problem.path)) for problem in result.warnings]


def problems(resource: Json, profile: str = DOCUMENTED, **surroundings: Any) -> list[tuple[str, str]]:
    """Return rule and path of every error for which *resource* is refused."""
    with pytest.raises(InvalidResource) as refusal:
        rendered(resource, profile, **surroundings)
    return [(found.rule, field_path(found.path)) for found in refusal.value.problems if found.severity == "error"]

"""The components of a resource as their users wrote them, and the rendered pods that belong to each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dynamo_render.kinds.contract import Reading
from dynamo_render.kube.manifest import Manifest
from dynamo_render.spec.component import ComponentDeploymentSpec, ComponentSpec
from dynamo_render.spec.graph import GraphSpec
from dynamo_render.values import Value, frozen
from dynamo_render.workloads.pod_clique_set import leader_clique, worker_clique

Path = tuple["str | int", ...]
Json = Mapping[str, Any]


@frozen(kw_only=True)
class Part(Value):
    """One component: *path* leads to it, *name* is what its objects are called, *graph_envs* come from its graph."""

    path: Path
    service: str
    name: str
    spec: ComponentSpec
    engine: str | None
    graph_envs: tuple[Json, ...] = ()


@frozen(kw_only=True)
class PartPod(Value):
    """The pod of a component in one role, in the workload object of *kind* called *name*."""

    part: Part
    kind: str
    name: str
    role: str
    spec: Json


def parts_of(reading: Reading) -> tuple[Part, ...]:
    """Return the components of a resource, sorted by name."""
    spec, name = reading.spec, reading.metadata.name or ""
    if isinstance(spec, GraphSpec):
        return tuple(
            Part(
                path=("spec", "services", service),
                service=service,
                name=f"{name}-{service.lower()}",
                spec=component,
                engine=spec.backend_framework,
                graph_envs=tuple(spec.envs or ()),
            )
            for service, component in sorted((spec.services or {}).items())
        )
    if isinstance(spec, ComponentDeploymentSpec):
        service = spec.service_name or name
        return (Part(path=("spec",), service=service, name=name, spec=spec, engine=spec.backend_framework),)
    return ()


def pods_of(parts: Iterable[Part], objects: Iterable[Manifest]) -> Iterator[PartPod]:
    """Yield the pods of rendered *objects*, one for each role of a component; of equal replicas the first only."""
    by_name = {part.name: part for part in parts}
    by_clique = {
        clique: part
        for part in by_name.values()
        for clique in (part.service.lower(), leader_clique(part.service), worker_clique(part.service))
    }
    for made in objects:
        name, kind = made["metadata"]["name"], made["kind"]
        if kind == "PodCliqueSet":
            for clique in made["spec"]["template"]["cliques"]:
                part = by_clique[clique["name"]]
                role = _role_of_clique(clique["name"], part)
                yield PartPod(part=part, kind=kind, name=clique["name"], role=role, spec=clique["spec"]["podSpec"])
        elif kind == "Deployment" and name in by_name:
            yield PartPod(part=by_name[name], kind=kind, name=name, role="main", spec=made["spec"]["template"]["spec"])
        elif kind == "LeaderWorkerSet" and name.endswith("-0"):
            template, part = made["spec"]["leaderWorkerTemplate"], by_name[name.removesuffix("-0")]
            for role in ("leader", "worker"):
                yield PartPod(part=part, kind=kind, name=name, role=role, spec=template[f"{role}Template"]["spec"])


def main_container(pod: PartPod) -> Json:
    """Return the container that runs the component: the one after the user's own."""
    containers: list[Json] = pod.spec["containers"]
    return containers[len(pod.part.spec.pod.get("containers", ()))]


def _role_of_clique(clique: str, part: Part) -> str:
    if clique == part.service.lower():
        return "main"
    return "leader" if clique == leader_clique(part.service) else "worker"

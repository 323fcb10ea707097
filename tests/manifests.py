"""Finds pods, containers, names and references in emitted objects, as a reader of the objects would."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

Json = Mapping[str, Any]


@attrs.frozen(eq=False)
class Pod:
    """The pods that an object leads to: which object, their labels, their spec."""

    of: str
    labels: Mapping[str, str]
    spec: Json

    @property
    def containers(self) -> list[Json]:
        """Every container, init containers first."""
        return [*self.spec.get("initContainers", ()), *self.spec["containers"]]


def title(made: Json) -> str:
    """Return kind and name of an object."""
    return f"{made['kind']}/{made['metadata']['name']}"


def named(objects: Iterable[Json], kind: str) -> set[str]:
    """Return the names of the objects of *kind*."""
    return {made["metadata"]["name"] for made in objects if made["kind"] == kind}


def of_kind(objects: Iterable[Json], *kinds: str) -> list[Json]:
    """Return the objects of these kinds."""
    return [made for made in objects if made["kind"] in kinds]


def pods(objects: Iterable[Json]) -> Iterator[Pod]:
    """Yield every pod that the objects lead to, one for each role."""
    for made in objects:
        if made["kind"] == "Deployment":
            yield _of_template(made, made["spec"]["template"])
        elif made["kind"] == "LeaderWorkerSet":
            template = made["spec"]["leaderWorkerTemplate"]
            yield _of_template(made, template["leaderTemplate"])
            yield _of_template(made, template["workerTemplate"])
        elif made["kind"] == "PodCliqueSet":
            for clique in made["spec"]["template"]["cliques"]:
                yield Pod(f"{title(made)}/{clique['name']}", clique.get("labels", {}), clique["spec"]["podSpec"])


def _of_template(made: Json, template: Json) -> Pod:
    return Pod(title(made), template["metadata"].get("labels", {}), template["spec"])


def selects(selector: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    """Whether pods with *labels* are among those that *selector* asks for; an absent label is not an empty one."""
    return all(labels.get(key) == value for key, value in selector.items())


REFERENCE_KEYS = {
    "configMapKeyRef": ("ConfigMap", "name"),
    "configMapRef": ("ConfigMap", "name"),
    "configMap": ("ConfigMap", "name"),
    "secretKeyRef": ("Secret", "name"),
    "secretRef": ("Secret", "name"),
    "secret": ("Secret", "secretName"),
    "persistentVolumeClaim": ("PersistentVolumeClaim", "claimName"),
    "tls": ("Secret", "secretName"),
}
"""Keys under which an object names another: the kind, and the key of the name below."""


def references(value: Any) -> Iterator[tuple[str, str]]:
    """Yield (kind, name) for every object that a JSON value of pods or components refers to."""
    if isinstance(value, list):
        for entry in value:
            yield from references(entry)
    if not isinstance(value, Mapping):
        return
    for key, entry in value.items():
        kind, inner = REFERENCE_KEYS.get(key, ("", ""))
        for holder in entry if isinstance(entry, list) else [entry]:
            if kind and isinstance(holder, Mapping) and inner in holder:
                yield kind, holder[inner]
        if key == "imagePullSecrets":
            yield from (("Secret", secret["name"]) for secret in entry)
        if key == "serviceAccountName":
            yield "ServiceAccount", entry
        yield from references(entry)


def mutable_parts(value: Any) -> Iterator[Any]:
    """Yield every mapping and list inside a JSON value, itself included."""
    if isinstance(value, Mapping | list):
        yield value
        for entry in value.values() if isinstance(value, Mapping) else value:
            yield from mutable_parts(entry)

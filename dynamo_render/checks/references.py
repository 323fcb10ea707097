"""Objects that a resource refers to and that nobody declares: neither it, nor what stands beside it, nor the facts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from dynamo_render.checks.origin import origin
from dynamo_render.checks.parts import PartPod, Path
from dynamo_render.errors import Problem
from dynamo_render.facts import NamespaceFacts
from dynamo_render.kube.manifest import Manifest

Json = Mapping[str, Any]
Declared = Collection[tuple[str, str, str]]

_RULES = {
    "ServiceAccount": "sanity/service-account",
    "Secret": "sanity/secret",
    "ConfigMap": "sanity/config-map",
    "PersistentVolumeClaim": "sanity/claim",
}
_ALWAYS_THERE = {("ServiceAccount", "default"), ("ConfigMap", "kube-root-ca.crt")}


def reference_problems(
    pods: Iterable[PartPod], objects: Iterable[Manifest], known: NamespaceFacts, declared: Declared, namespace: str
) -> Iterator[Problem]:
    """Yield the first reference to each thing that is not declared.

    *declared* holds kind, namespace and name of what stands beside the resource; an empty namespace fits any.
    """
    present = {(made["kind"], made["metadata"]["name"]) for made in objects} | _ALWAYS_THERE
    present |= {(kind, name) for kind, where, name in declared if where in {"", namespace}}
    present |= set(_known(known))
    for pod in pods:
        for kind, name, path in _references(pod):
            if (kind, name) in present or not name:
                continue
            present.add((kind, name))
            message = f'the {kind} "{name}" is not declared here'
            where = (*pod.part.path, "envFromSecret") if _is_of_component(pod, kind, name) else origin(pod, path)
            hint = "see that it exists in the namespace, or declare it in the same files"
            yield Problem(_RULES[kind], where, message, hint, "warning")


def _known(facts: NamespaceFacts) -> Iterator[tuple[str, str]]:
    for claim in facts.pvcs or ():
        yield "PersistentVolumeClaim", claim
    for config_map in facts.config_map_keys or ():
        yield "ConfigMap", config_map
    for secrets in facts.pull_secrets.values():
        for secret in secrets:
            yield "Secret", secret
    if facts.component_service_account:
        yield "ServiceAccount", facts.component_service_account


def _is_of_component(pod: PartPod, kind: str, name: str) -> bool:
    return kind == "Secret" and pod.part.spec.env_from_secret == name


def _references(pod: PartPod) -> Iterator[tuple[str, str, Path]]:
    """Yield kind, name and path of what a pod refers to and cannot start without; accounts only that a user chose."""
    yield "ServiceAccount", pod.part.spec.pod.get("serviceAccountName", ""), ("serviceAccountName",)
    for index, secret in enumerate(pod.spec.get("imagePullSecrets", ())):
        yield "Secret", secret.get("name", ""), ("imagePullSecrets", index)
    for index, volume in enumerate(pod.spec.get("volumes", ())):
        yield from _of_volume(volume, ("volumes", index))
    for holder in ("initContainers", "containers"):
        for index, container in enumerate(pod.spec.get(holder, ())):
            yield from _of_container(container, (holder, index))


def _of_volume(volume: Json, path: Path) -> Iterator[tuple[str, str, Path]]:
    for field, kind, key in (
        ("persistentVolumeClaim", "PersistentVolumeClaim", "claimName"),
        ("secret", "Secret", "secretName"),
        ("configMap", "ConfigMap", "name"),
    ):
        source = volume.get(field)
        if source is not None and not source.get("optional"):
            yield kind, source.get(key, ""), (*path, field, key)


def _of_container(container: Json, path: Path) -> Iterator[tuple[str, str, Path]]:
    for index, entry in enumerate(container.get("env", ())):
        for field, kind in (("secretKeyRef", "Secret"), ("configMapKeyRef", "ConfigMap")):
            source = (entry.get("valueFrom") or {}).get(field)
            if source is not None and not source.get("optional"):
                yield kind, source.get("name", ""), (*path, "env", index, "valueFrom", field, "name")
    for index, entry in enumerate(container.get("envFrom", ())):
        for field, kind in (("secretRef", "Secret"), ("configMapRef", "ConfigMap")):
            source = entry.get(field)
            if source is not None and not source.get("optional"):
                yield kind, source.get("name", ""), (*path, "envFrom", index, field, "name")

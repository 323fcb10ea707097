"""Definitions of the add-on kinds that renders emit: Grove, LeaderWorkerSet, InferencePool, Istio, Volcano.

All but Volcano's are read from Go modules and kept in the cache, never in the project. Knows nothing of our own kinds.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.cluster import cache, gomodules

MODULE = "addons"

SOURCES: Mapping[str, str] = {
    "github.com/NVIDIA/grove/operator/api": "core/v1alpha1/crds/*.yaml",
    "sigs.k8s.io/lws": "config/crd/bases/*.yaml",
    "sigs.k8s.io/gateway-api-inference-extension": "config/crd/bases/*.yaml",
    "istio.io/api": "kubernetes/customresourcedefinitions.gen.yaml",
}
"""The files that hold definitions, by the Go module that carries them; go.mod has the versions."""


def definition_texts() -> list[str]:
    """Return the definitions in the add-ons' modules, each as the YAML of one document."""
    folder = cache.cached_folder(gomodules.pin(MODULE, *SOURCES, *SOURCES.values()), _fill)
    return [document for path in sorted(folder.iterdir()) for document in _documents(path.read_text("utf-8"))]


def permissive_definition(group: str, version: str, kind: str, *, plural: str = "") -> dict[str, Any]:
    """Return the definition of a namespaced kind whose content is free."""
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return _definition(group, version, kind, plural or f"{kind.lower()}s", free)


def pod_group_definition() -> dict[str, Any]:
    """Return a definition of Volcano's PodGroup, which no module carries, with the fields that a render may set."""
    amount = {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}
    fields = {
        "minMember": {"type": "integer", "format": "int32"},
        "minTaskMember": {"type": "object", "additionalProperties": {"type": "integer", "format": "int32"}},
        "minResources": {"type": "object", "additionalProperties": amount},
        "queue": {"type": "string"},
        "priorityClassName": {"type": "string"},
    }
    strict = {"type": "object", "properties": fields}
    return _definition("scheduling.volcano.sh", "v1beta1", "PodGroup", "podgroups", strict)


def _definition(group: str, version: str, kind: str, plural: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    status = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    served = {
        "name": version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": status}}},
        "subresources": {"status": {}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()},
            "versions": [served],
        },
    }


def _fill(folder: Path) -> None:
    for module, where in gomodules.source_folders(MODULE, SOURCES).items():
        for path in sorted(where.glob(SOURCES[module])):
            shutil.copyfile(path, folder / f"{module.replace('/', '_')}_{path.name}")


def _documents(text: str) -> Iterable[str]:
    return (document for document in f"\n{text}".split("\n---\n") if "kind: CustomResourceDefinition" in document)

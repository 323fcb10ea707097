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


def pod_group_definition() -> dict[str, Any]:
    """Return a definition of Volcano's PodGroup, which no module carries, with the fields that a render may set."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "podgroups.scheduling.volcano.sh"},
        "spec": {
            "group": "scheduling.volcano.sh",
            "scope": "Namespaced",
            "names": {"kind": "PodGroup", "listKind": "PodGroupList", "plural": "podgroups", "singular": "podgroup"},
            "versions": [_pod_group_version()],
        },
    }


def _pod_group_version() -> dict[str, Any]:
    amount = {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}
    spec = {
        "minMember": {"type": "integer", "format": "int32"},
        "minTaskMember": {"type": "object", "additionalProperties": {"type": "integer", "format": "int32"}},
        "minResources": {"type": "object", "additionalProperties": amount},
        "queue": {"type": "string"},
        "priorityClassName": {"type": "string"},
    }
    content = {
        "spec": {"type": "object", "properties": spec},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    }
    return {
        "name": "v1beta1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": content}},
        "subresources": {"status": {}},
    }


def _fill(folder: Path) -> None:
    for module, where in gomodules.source_folders(MODULE, SOURCES).items():
        for path in sorted(where.glob(SOURCES[module])):
            shutil.copyfile(path, folder / f"{module.replace('/', '_')}_{path.name}")


def _documents(text: str) -> Iterable[str]:
    return (document for document in f"\n{text}".split("\n---\n") if "kind: CustomResourceDefinition" in document)

"""The frame of a Kubernetes object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Manifest = dict[str, Any]


def framed(
    api_version: str,
    kind: str,
    name: str,
    namespace: str,
    *,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    **content: Any,
) -> Manifest:
    """Return an object with its metadata and *content*; empty labels and annotations are left out."""
    metadata: dict[str, Any] = {"name": name, "namespace": namespace}
    if labels:
        metadata["labels"] = dict(labels)
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **content}


def identity(manifest: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Return apiVersion, kind, namespace and name: what tells objects apart."""
    metadata = manifest["metadata"]
    return manifest["apiVersion"], manifest["kind"], metadata.get("namespace", ""), metadata["name"]


def template_metadata(labels: Mapping[str, str], annotations: Mapping[str, str]) -> dict[str, Any]:
    """Return the metadata of a pod template; empty parts are left out."""
    metadata: dict[str, Any] = {}
    if labels:
        metadata["labels"] = dict(labels)
    if annotations:
        metadata["annotations"] = dict(annotations)
    return metadata

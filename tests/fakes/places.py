"""Where an object stands in a cluster: its kind, namespace and name, and which selections have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dynamo_controller.ports import Kind, Selection

Json = dict[str, Any]
Place = tuple[Kind, str, str]
"""Kind, namespace, name."""


def selects(selection: Selection, live: Mapping[str, Any]) -> bool:
    """Whether *live* is among what *selection* asks for."""
    kind, namespace, _name = place_of(live)
    field, _, wanted = selection.fields.partition("=")
    found: Any = live
    for step in field.split("."):
        found = found.get(step, "") if field else wanted
    is_there = kind == selection.kind and selection.namespace in ("", namespace)
    return is_there and found == wanted and _carries(live["metadata"].get("labels") or {}, selection.labels)


def _carries(labels: Mapping[str, str], selector: str) -> bool:
    """Whether *labels* fulfil a selector of keys and of pairs `key=value`."""
    asked = [each.partition("=") for each in selector.split(",") if each]
    return all(key in labels and (not equals or labels[key] == value) for key, equals, value in asked)


def place_of(content: Mapping[str, Any]) -> Place:
    """Return where an object stands."""
    metadata = content["metadata"]
    return Kind(content["apiVersion"], content["kind"]), metadata.get("namespace", ""), metadata["name"]


def target_at(kind: Kind, namespace: str, name: str) -> Json:
    """Return the frame of an object that stands there."""
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"namespace": namespace, "name": name}}

"""What is kept of objects that lists and watches tell: enough to judge and compare them, and no credential.

Thousands of objects of others pass by here; what nobody will ask for is dropped.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

import orjson

from dynamo_controller.ports import FIELD_MANAGER, Json, Object
from dynamo_controller.store import controller
from dynamo_render.kinds.dynamo_model.candidates import HASH_LABEL, SERVICE_LABEL
from dynamo_render.kube import registries

OUR_GROUP = "nvidia.com"
RELEASED_MANAGER = "manager"
"""The field manager of the released operator: the name of its program."""

GRAPH_LABEL = "nvidia.com/dynamo-graph-deployment-name"
POD_LABEL = "nvidia.com/dynamo-component-pod"
MODEL_HASH_LABEL = HASH_LABEL

_METADATA = (
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "deletionTimestamp",
)

_IDENTITY = ("name", "namespace", "uid", "resourceVersion", "deletionTimestamp")
_OF_ENDPOINTS = ("addresses", "conditions", "targetRef")


def whole(content: Json) -> Json:
    """Return an object with what it says of itself, and of its managers only us and the released operator."""
    metadata = {key: content["metadata"][key] for key in _METADATA if key in content["metadata"]}
    entries = content["metadata"].get("managedFields") or ()
    kept = [_compact(entry) for entry in entries if is_our_apply(entry) or is_released_update(entry)]
    if kept:
        metadata["managedFields"] = kept
    return {**content, "metadata": metadata}


def recorded_fields(entry: Object) -> Json:
    """Return the record of fields of an entry of managed fields, of a whole object or of what is kept of one."""
    record = entry.get("fieldsV1") or {}
    found: Json = orjson.loads(record) if isinstance(record, str) else record
    return found


def _compact(entry: Object) -> Json:
    """Return an entry with its record as text: as a mapping it takes as much memory as all the rest of an object."""
    return {**entry, "fieldsV1": orjson.dumps(recorded_fields(entry)).decode()}


def child(content: Json) -> Json | None:
    """Return an object that one of our kinds owns, or that we have applied; None of others."""
    owner = controller(content)
    is_owned = owner is not None and owner["apiVersion"].partition("/")[0] == OUR_GROUP
    return whole(content) if is_owned or is_applied_by_us(content) else None


def claim(content: Json) -> Json:
    """Return a claim that is ours; of others, that they are there."""
    identity = {key: content["metadata"][key] for key in ("name", "namespace", "uid", "resourceVersion")}
    return child(content) or {"apiVersion": content["apiVersion"], "kind": content["kind"], "metadata": identity}


def clique(content: Json) -> Json | None:
    """Return an object that Grove has made for a graph; None of others."""
    return whole(content) if graph_of(content) else None


def graph_of(content: Object) -> str:
    """Return the name of the graph that Grove has made an object for; empty where it is for none.

    Cliques carry the labels of their template. A scaling group has no template: its owner has the name of the graph.
    """
    named = (content["metadata"].get("labels") or {}).get(GRAPH_LABEL)
    owners = [
        each["name"] for each in content["metadata"].get("ownerReferences") or () if each.get("kind") == "PodCliqueSet"
    ]
    return str(named or (owners[0] if owners else ""))


def scaled_graph(content: Object) -> str:
    """Return the name of the graph that a scaling adapter passes a count on to."""
    return str(((content.get("spec") or {}).get("dgdRef") or {}).get("name") or "")


def account(content: Json) -> Json | None:
    """Return a service account of ours, or one that is offered to component pods."""
    return whole(content) if offered_to(content) else child(content)


def offered_to(content: Object) -> str:
    """Return the label of the pods that a service account is offered to; empty where it is to none."""
    return POD_LABEL if (content["metadata"].get("labels") or {}).get(POD_LABEL) == "true" else ""


def endpoint_slice(content: Json) -> Json | None:
    """Return a slice of pods that serve a model, with what is called and told of them; None of others."""
    labels = content["metadata"].get("labels") or {}
    if MODEL_HASH_LABEL not in labels:
        return None
    metadata = {key: content["metadata"][key] for key in _IDENTITY if key in content["metadata"]}
    metadata["labels"] = {key: labels[key] for key in (MODEL_HASH_LABEL, SERVICE_LABEL) if key in labels}
    endpoints = [
        {key: endpoint[key] for key in _OF_ENDPOINTS if key in endpoint} for endpoint in content.get("endpoints") or ()
    ]
    return {**{key: content[key] for key in ("apiVersion", "kind")}, "metadata": metadata, "endpoints": endpoints}


def pull_secret(content: Json) -> Json | None:
    """Return a Secret with registry credentials as the registries that it names, without the credentials."""
    if content.get("type") != registries.PULL_SECRET_TYPE:
        return child(content)
    data = (content.get("data") or {}).get(registries.PULL_SECRET_KEY)
    kept = {**content, "metadata": {key: content["metadata"][key] for key in _METADATA if key in content["metadata"]}}
    kept["metadata"].pop("annotations", None)  # a client-side apply leaves the whole Secret there
    return {**kept, "data": {registries.PULL_SECRET_KEY: _without_credentials(data)}}


def is_our_apply(entry: Object) -> bool:
    """Whether an entry of managed fields is about what we have applied."""
    return entry.get("manager") == FIELD_MANAGER and entry.get("operation") == "Apply" and not entry.get("subresource")


def is_released_update(entry: Object) -> bool:
    """Whether an entry of managed fields is about what the released operator has written, statuses aside."""
    is_update = entry.get("operation") == "Update" and not entry.get("subresource")
    return entry.get("manager") == RELEASED_MANAGER and is_update


def is_applied_by_us(content: Object) -> bool:
    """Whether we have applied fields of an object."""
    return any(is_our_apply(entry) for entry in content["metadata"].get("managedFields") or ())


def _without_credentials(data: Any) -> Any:
    """Return the same text when it cannot be read: whoever asks for registries tells what is wrong with it."""
    try:
        content = json.loads(binascii.a2b_base64(data, strict_mode=True))
        auths = {key: value for key, value in content.items() if key.casefold() == "auths"}
        kept = {key: value if value is None else dict.fromkeys(value.keys()) for key, value in auths.items()}
    except (ValueError, TypeError, AttributeError):
        return data
    return base64.b64encode(json.dumps(kept).encode()).decode()

"""Whose an object is: what a pass may change, and the owner references that it writes. decisions.md section 3.

Pure.
"""

from __future__ import annotations

from typing import Any

from dynamo_controller import fields
from dynamo_controller.ports import Json, Object
from dynamo_controller.projection import OUR_GROUP, is_applied_by_us
from dynamo_controller.store import controller, controller_uid
from dynamo_render import Owner


def is_ours(live: Object, resource: Object) -> bool:
    """Whether a pass over *resource* may change *live*.

    It may when *resource* is its controller, or when nobody is and we have applied the object before: it is one that
    resources share, or one that was left behind when a resource of this name was deleted without what it owned.
    """
    uid = controller_uid(live)
    if uid:
        return uid == str(resource["metadata"]["uid"])
    return is_applied_by_us(live)


def serves(wanted: Object, live: Object, *, shared: bool) -> bool:
    """Whether an object of somebody else does for *wanted* as it is, without being touched.

    An account needs no more than to be there. Else it has to be exactly as wanted, and be shared by nature or be kept
    in place by another resource of ours, as the Service of a model that two components serve.
    """
    if shared and live["kind"] == "ServiceAccount":
        return True
    owner = controller(live)
    if not shared and (owner is None or owner["apiVersion"].partition("/")[0] != OUR_GROUP):
        return False
    theirs = live["metadata"].get("ownerReferences") or []
    return not fields.needs_apply({**wanted, "metadata": {**wanted["metadata"], "ownerReferences": theirs}}, live)


def owner_of(resource: Object) -> Owner:
    """Return *resource* as the renderer names owners."""
    return Owner(resource["apiVersion"], resource["kind"], resource["metadata"]["name"])


def with_owner(content: Object, resource: Object) -> Json:
    """Return *content* with *resource* as its controller, which is deleted after it."""
    reference: dict[str, Any] = {
        "apiVersion": resource["apiVersion"],
        "kind": resource["kind"],
        "name": resource["metadata"]["name"],
        "uid": resource["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    return {**content, "metadata": {**content["metadata"], "ownerReferences": [reference]}}

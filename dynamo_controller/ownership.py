"""Whose an object is: what a pass may change, and the owner references that it writes. decisions.md section 3.

Pure.
"""

from __future__ import annotations

from typing import Any

from dynamo_controller.ports import Json, Object
from dynamo_controller.projection import is_applied_by_us
from dynamo_controller.store import controller_uid
from dynamo_render import Owner


def is_ours(live: Object, resource: Object, *, shared: bool) -> bool:
    """Whether a pass over *resource* may change *live*.

    It may when *resource* is its controller. An object that nobody owns, which resources *shared*, is ours when we have
    applied it before.
    """
    uid = controller_uid(live)
    if uid:
        return uid == str(resource["metadata"]["uid"])
    return shared and is_applied_by_us(live)


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

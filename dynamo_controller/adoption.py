"""Taking over from the released operator: which fields it has written become ours, in the server's own record of them.

Pure. Nothing of an object changes by it but that record; the next apply then gives up what we do not want, as it does
with everything that we have applied before. decisions.md section 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dynamo_controller.ports import FIELD_MANAGER, Json, Object
from dynamo_controller.projection import is_our_apply, is_released_update, recorded_fields

BOOKKEEPING = "nvidia.com/last-applied-"
OUR_PREFIX = "nvidia.com/"

Fields = dict[str, Any]


def handed_over(live: Object, wanted: Object) -> list[Json] | None:
    """Return the managed fields of *live* after the hand-over; None where there is nothing to hand over.

    Content goes over as a whole; labels and annotations where we want them too or where their key is Dynamo's own, for
    other controllers write under the same name; the released operator's bookkeeping stays, so that it can come back.
    """
    entries = list(live["metadata"].get("managedFields") or ())
    theirs = [entry for entry in entries if _is_theirs(entry, live)]
    going: Fields = {}
    kept: list[Json] = []
    for entry in theirs:
        goes, stays = _parted(recorded_fields(entry), wanted)
        going = joined(going, goes)
        if stays:
            kept.append({**entry, "fieldsV1": stays})
    if not going:
        return None
    ours = [entry for entry in entries if is_our_apply(entry)]
    mine: Json = dict(ours[0]) if ours else {"manager": FIELD_MANAGER, "operation": "Apply", "fieldsType": "FieldsV1"}
    mine |= {"apiVersion": live["apiVersion"], "fieldsV1": joined(recorded_fields(mine), going)}
    others = [entry for entry in entries if entry not in theirs and entry not in ours]
    return [mine, *others, *kept]


def joined(one: Mapping[str, Any], other: Mapping[str, Any]) -> Fields:
    """Return the fields that are in either of two records."""
    both = {key: joined(one[key], other[key]) for key in one.keys() & other.keys()}
    return {**one, **other, **both}


def _is_theirs(entry: Object, live: Object) -> bool:
    return is_released_update(entry) and entry.get("apiVersion") == live["apiVersion"]


def _parted(fields: Mapping[str, Any], wanted: Object) -> tuple[Fields, Fields]:
    """Return which fields of a record go over, and which stay."""
    goes = {key: inner for key, inner in fields.items() if key not in {"f:metadata", "f:status"}}
    stays = {key: inner for key, inner in fields.items() if key == "f:status"}
    of_metadata: Fields = {}
    rest: Fields = {}
    for key, inner in (fields.get("f:metadata") or {}).items():
        if key in {"f:labels", "f:annotations"}:
            asked = wanted["metadata"].get(key[2:]) or {}
            mine = {name: leaf for name, leaf in inner.items() if _goes(name, asked)}
            left = {name: leaf for name, leaf in inner.items() if name not in mine and name != "."}
        else:
            is_mine = key == "f:ownerReferences"
            mine, left = (inner, {}) if is_mine else ({}, inner)
            if not is_mine:
                rest[key] = inner
        if mine:
            of_metadata[key] = mine
        if left:
            rest[key] = left
    goes |= {"f:metadata": of_metadata} if of_metadata else {}
    stays |= {"f:metadata": rest} if rest else {}
    return goes, stays


def _goes(name: str, asked: Mapping[str, Any]) -> bool:
    key = name.removeprefix("f:")
    return name != "." and not key.startswith(BOOKKEEPING) and (key in asked or key.startswith(OUR_PREFIX))

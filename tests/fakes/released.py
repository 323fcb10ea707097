"""Objects as the released operator leaves them: its managed fields, its bookkeeping, and nothing of ours."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from dynamo_controller.ports import FIELD_MANAGER, Kind
from dynamo_controller.store import controller
from tests.fakes import managed_fields
from tests.fakes.cluster import FakeCluster

Json = dict[str, Any]
MANAGER = "manager"
BOOKKEEPING = {"nvidia.com/last-applied-hash": "44136fa355b3678a", "nvidia.com/last-applied-generation": "1"}


def hand_back(cluster: FakeCluster, *, leftovers: Mapping[str, Json] | None = None) -> None:
    """Make every object that we have applied one that the released operator has written.

    *leftovers* are fields, by kind, that it writes and nobody wants.
    """
    for place, live in list(cluster.objects.items()):
        entries = live["metadata"].get("managedFields") or ()
        if any(entry["manager"] == FIELD_MANAGER for entry in entries):
            content = managed_fields.merged(live, (leftovers or {}).get(place[0].kind, {}))
            cluster.objects[place] = as_released(content)


def as_released(content: Json) -> Json:
    """Return an object with the released operator as its only manager; a status is somebody else's."""
    written = copy.deepcopy(content)
    owner = controller(written)
    if owner is not None:
        written["metadata"]["annotations"] = {**(written["metadata"].get("annotations") or {}), **BOOKKEEPING}
    record = managed_fields.record(managed_fields.paths(written))
    entry = {
        "manager": MANAGER,
        "operation": "Update",
        "apiVersion": written["apiVersion"],
        "fieldsType": "FieldsV1",
        "fieldsV1": record,
    }
    written["metadata"]["managedFields"] = [entry]
    return written


def templates(cluster: FakeCluster) -> dict[str, Any]:
    """Return everything in the cluster whose change replaces pods, by kind and name."""
    found: dict[str, Any] = {}
    for (kind, _namespace, name), live in cluster.objects.items():
        if kind == Kind("apps/v1", "Deployment"):
            found[f"{kind.kind}/{name}"] = copy.deepcopy(live["spec"]["template"])
        elif kind.kind == "PodCliqueSet":
            found[f"{kind.kind}/{name}"] = copy.deepcopy(live["spec"]["template"]["cliques"])
        elif kind.kind == "LeaderWorkerSet":
            found[f"{kind.kind}/{name}"] = copy.deepcopy(live["spec"]["leaderWorkerTemplate"])
    return found

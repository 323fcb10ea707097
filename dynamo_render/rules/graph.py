"""Rules of admission for a graph as a whole."""

from __future__ import annotations

from dynamo_render.rules.contract import Json, Rule, rule

_SECTION = "api.md 9.4"
_CLAIM: Json = {
    "name": "models",
    "create": True,
    "storageClass": "fast",
    "size": "100Gi",
    "volumeAccessMode": "ReadWriteMany",
}


def _claim(**fields: object) -> Json:
    return {"spec": {"pvcs": [{**_CLAIM, **fields}]}}


def _restart(order: list[str], kind: str = "Sequential") -> Json:
    return {"spec": {"restart": {"id": "1", "strategy": {"type": kind, "order": order}}}}


_GOOD_ORDER = _restart(["Worker", "Frontend"])

RULES: tuple[Rule, ...] = (
    rule("DGD-V01", "A graph has at least one service.", _SECTION, bad={"spec": {"services": None}}),
    rule("DGD-V02", "A claim has a name.", _SECTION, bad=_claim(name=""), good=_claim()),
    rule(
        "DGD-V03",
        "A claim to be created has a storage class.",
        _SECTION,
        bad=_claim(storageClass=""),
        good=_claim(),
    ),
    rule("DGD-V04", "A claim to be created has a size.", _SECTION, bad=_claim(size="0"), good=_claim()),
    rule(
        "DGD-V05",
        "A claim to be created has an access mode.",
        _SECTION,
        bad=_claim(volumeAccessMode=""),
        good=_claim(),
    ),
    rule(
        "DGD-V07",
        "A parallel restart has no order.",
        _SECTION,
        bad=_restart(["Worker", "Frontend"], "Parallel"),
        good=_GOOD_ORDER,
    ),
    rule(
        "DGD-V08",
        "A restart order names no service twice.",
        _SECTION,
        bad=_restart(["Worker", "Frontend", "Worker"]),
        good=_GOOD_ORDER,
    ),
    rule("DGD-V09", "A restart order names every service.", _SECTION, bad=_restart(["Worker"]), good=_GOOD_ORDER),
    rule(
        "DGD-V10",
        "A restart order names services of the graph only, in their spelling.",
        _SECTION,
        bad=_restart(["worker", "Frontend"]),
        good=_GOOD_ORDER,
    ),
)

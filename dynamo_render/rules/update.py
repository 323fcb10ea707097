"""Rules for changes of what is stored already."""

from __future__ import annotations

from dynamo_render.rules.contract import GROVE, Json, Rule, rule, warning, worker

_SECTION = "api.md 9.4"
_NO_ENGINE: Json = {"extraPodSpec": {"mainContainer": {"command": ["run"]}}}
_OLD_ENGINE: Json = {"spec": {"backendFramework": "sglang", "services": {"Worker": _NO_ENGINE}}}


def _held(replicas: int) -> Json:
    return worker(scalingAdapter={"enabled": True}, replicas=replicas)


RULES: tuple[Rule, ...] = (
    rule(
        "update/identity",
        "An update keeps name and namespace; with another one it is another resource.",
        "api.md 9.2",
        old={"metadata": {"name": "other"}},
        bad={},
        good={"metadata": {"name": "other"}},
    ),
    rule(
        "DGD-U01",
        "The backend framework of a graph cannot be changed.",
        _SECTION,
        old=_OLD_ENGINE,
        bad={},
        good=_OLD_ENGINE,
    ),
    warning(
        "DGD-W01",
        "Changing the backend framework of what runs may leave pods of both behind.",
        _SECTION,
        old=_OLD_ENGINE,
        bad={},
        good=_OLD_ENGINE,
    ),
    rule(
        "DGD-U02",
        "A service stays on one node or on several.",
        _SECTION,
        old=worker(multinode={"nodeCount": 2}),
        bad={},
        good=worker(multinode={"nodeCount": 4}),
        facts=GROVE,
    ),
    rule(
        "DGD-U03",
        "The services of a graph cannot be added, removed or renamed.",
        _SECTION,
        old={},
        bad={"spec": {"services": {"Frontend": None}}},
    ),
    rule(
        "DGD-U04",
        "Replicas that a scaling adapter owns are changed by the operator and planners only.",
        "api.md 9.5",
        old=_held(1),
        bad=_held(3),
        good=_held(1),
        user="alice",
    ),
)

"""Rules of Grove and LeaderWorkerSet."""

from __future__ import annotations

from dynamo_render.rules.contract import GROVE, LEADER_WORKER_SET, Json, Rule, rule, worker, worker_pod

_SECTION = "api.md 9.7"
_NODES: Json = {"multinode": {"nodeCount": 2}}
_SPREAD = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]

RULES: tuple[Rule, ...] = (
    rule(
        "provider/grove-replicas",
        "A service on several nodes has at least one replica on Grove.",
        _SECTION,
        bad=worker(**_NODES, replicas=0),
        good=worker(**_NODES),
        facts=GROVE,
    ),
    rule(
        "provider/grove-scheduler",
        "All pods of a graph on Grove have one scheduler.",
        _SECTION,
        bad=worker_pod(schedulerName="mine"),
        facts=GROVE,
    ),
    rule(
        "provider/grove-pod",
        "Pods on Grove have no node and no topology spread of their own.",
        _SECTION,
        bad=worker_pod(topologySpreadConstraints=_SPREAD),
        facts=GROVE,
    ),
    rule(
        "provider/lws-name",
        "The name of a LeaderWorkerSet leaves room for what its StatefulSets append.",
        "api.md 12",
        bad={"metadata": {"name": "a" * 43}, **worker(**_NODES)},
        good={"metadata": {"name": "a" * 41}, **worker(**_NODES)},
        facts=LEADER_WORKER_SET,
    ),
)

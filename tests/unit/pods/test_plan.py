from __future__ import annotations

from typing import Any

import pytest

from dynamo_render.components import component_type
from dynamo_render.plans.launch import Addressing
from dynamo_render.plans.pod import PodPlan
from dynamo_render.pods.plan import planned
from dynamo_render.scope import ComponentScope
from tests.scopes import component_scope

ADDRESSING = Addressing(
    leader="leader", hosts=("leader", "worker"), rank="1", rank_in_sum="1", needs_shell=False, waits_for_names=False
)


def plan(scope: ComponentScope) -> PodPlan:
    return planned(scope, component_type(scope.component_type), ADDRESSING if scope.is_multinode else None)


def worker(line: str, **fields: Any) -> ComponentScope:
    return component_scope({"componentType": "worker", "extraPodSpec": {"mainContainer": {"args": [line]}}, **fields})


@pytest.mark.parametrize(("line", "backend"), [("python3 -m dynamo.vllm", "vllm"), ("./run", "none")])
def test_the_backend_of_a_worker_is_read_from_its_command(line: str, backend: str) -> None:
    assert plan(worker(line)).launch.backend == backend


def test_other_types_have_no_backend_whatever_they_run() -> None:
    spec = {"componentType": "frontend", "extraPodSpec": {"mainContainer": {"args": ["python3 -m dynamo.vllm"]}}}
    assert plan(component_scope(spec)).launch.backend == "none"


def test_two_engines_in_one_command_are_a_problem() -> None:
    scope = worker("python3 -m dynamo.vllm; python3 -m dynamo.sglang")
    assert plan(scope).launch.backend == "none"
    assert [problem.rule for problem in scope.graph.problems] == ["CTL-03"]


def test_a_security_context_is_planned_unless_the_user_gives_one() -> None:
    given = component_scope({"extraPodSpec": {"securityContext": {}}})
    assert (plan(component_scope()).security_context, plan(given).security_context) == ({"fsGroup": 1000}, None)


@pytest.mark.parametrize("where", ["livenessProbe", "mainContainer"])
def test_probes_that_workers_lose_are_pointed_out_where_they_stand(where: str) -> None:
    probe = {"tcpSocket": {"port": 1}}
    container: dict[str, Any] = {"args": ["python3 -m dynamo.sglang"]}
    fields: dict[str, Any] = {"multinode": {"nodeCount": 2}}
    if where == "mainContainer":
        container["livenessProbe"] = probe
    else:
        fields["livenessProbe"] = probe
    scope = component_scope({"componentType": "worker", **fields, "extraPodSpec": {"mainContainer": container}})
    plan(scope)
    (warning,) = scope.graph.problems
    assert (warning.rule, warning.severity, warning.path[-1]) == ("probe/dropped", "warning", "livenessProbe")
    assert ("mainContainer" in warning.path) == (where == "mainContainer")


def test_processes_are_nodes_times_gpus() -> None:
    scope = worker("python3 -m dynamo.trtllm", multinode={"nodeCount": 3}, resources={"limits": {"gpu": "4"}})
    assert (plan(scope).launch.nodes, plan(scope).launch.gpus, plan(scope).launch.processes) == (3, 4, 12)

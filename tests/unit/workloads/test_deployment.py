from __future__ import annotations

from typing import Any

import pytest

from dynamo_render.plans.workload import DeploymentPlan
from dynamo_render.workloads.deployment import DEPLOYMENT, planned_strategy
from tests.scopes import component_scope, pod_plan

SURGE = "nvidia.com/deployment-rolling-update-max-surge"


def plan(**changes: Any) -> DeploymentPlan:
    plain: dict[str, Any] = {
        "name": "demo-it",
        "namespace": "team-a",
        "labels": {"a": "b"},
        "annotations": {},
        "replicas": 2,
        "selector": {"nvidia.com/selector": "demo-it"},
        "strategy": {"type": "Recreate"},
        "pod_labels": {"nvidia.com/selector": "demo-it"},
        "pod_annotations": {},
        "pod": pod_plan(),
    }
    return DeploymentPlan(**{**plain, **changes})


def test_a_deployment_holds_what_its_plan_says() -> None:
    (made,) = DEPLOYMENT.build(plan())
    assert made["metadata"] == {"name": "demo-it", "namespace": "team-a", "labels": {"a": "b"}}
    assert made["spec"]["selector"]["matchLabels"] == made["spec"]["template"]["metadata"]["labels"]
    assert (made["spec"]["replicas"], made["spec"]["strategy"]) == (2, {"type": "Recreate"})


def test_a_count_that_is_not_known_is_left_out() -> None:
    (made,) = DEPLOYMENT.build(plan(replicas=None))
    assert "replicas" not in made["spec"]


def test_building_twice_gives_two_objects_without_shared_state() -> None:
    same = plan()
    (first,), (second,) = DEPLOYMENT.build(same), DEPLOYMENT.build(same)
    first["spec"]["template"]["spec"]["containers"].clear()
    assert len(second["spec"]["template"]["spec"]["containers"]) == 1


def test_one_pod_stands_for_all() -> None:
    (made,) = DEPLOYMENT.build(plan())
    assert DEPLOYMENT.pods is not None
    (found,) = DEPLOYMENT.pods(made)
    assert (found.role, found.rank, found.spec) == ("main", 0, made["spec"]["template"]["spec"])


@pytest.mark.parametrize(("text", "limit"), [("3", 3), ("-1", -1), ("30%", "30%"), ("3.5", "3.5"), ("", "25%")])
def test_a_limit_is_a_number_if_its_text_is_an_integer(text: str, limit: object) -> None:
    strategy = planned_strategy(component_scope(annotations={SURGE: text}))
    assert strategy["rollingUpdate"]["maxSurge"] == limit

from __future__ import annotations

from dynamo_render.plans.workload import ComponentResourcePlan
from dynamo_render.workloads.component_resource import COMPONENT_RESOURCE

PLAN = ComponentResourcePlan(
    name="demo-it", namespace="team-a", labels={"a": "b"}, annotations={}, spec={"envs": [{"name": "A"}]}
)


def test_a_component_deployment_holds_what_its_plan_says() -> None:
    (made,) = COMPONENT_RESOURCE.build(PLAN)
    assert made == {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoComponentDeployment",
        "metadata": {"name": "demo-it", "namespace": "team-a", "labels": {"a": "b"}},
        "spec": {"envs": [{"name": "A"}]},
    }


def test_it_runs_no_pods_itself() -> None:
    assert COMPONENT_RESOURCE.pods is None

from __future__ import annotations

import pytest

from dynamo_render.satellites.scaling_adapters import SCALING_ADAPTERS, AdapterPlan
from tests.scopes import component_scope, whole_graph


def test_an_adapter_points_at_the_service_of_its_graph() -> None:
    plan = AdapterPlan(name="demo-it", namespace="n", graph="demo", service="It", replicas=3)
    (made,) = SCALING_ADAPTERS.build(plan)
    assert made["spec"] == {"replicas": 3, "dgdRef": {"name": "demo", "serviceName": "It"}}


@pytest.mark.parametrize(
    ("spec", "replicas"),
    [
        ({"scalingAdapter": {"enabled": True}}, [1]),
        ({"scalingAdapter": {"enabled": True}, "replicas": 0}, [0]),
        ({"scalingAdapter": {}}, []),
        ({}, []),
    ],
)
def test_an_adapter_exists_where_it_is_enabled(spec: dict, replicas: list[int]) -> None:
    graph = whole_graph(component_scope(spec))
    assert [plan.replicas for plan in SCALING_ADAPTERS.planned(graph)] == replicas

from __future__ import annotations

import pytest

from dynamo_render.satellites.services import SERVICES, ServicePlan
from tests.scopes import component_scope, graph_scope

STEALING = {"nvidia.com/enable-stealing-traffic-debug-mode": "true"}


def test_a_service_has_one_port_and_one_selector() -> None:
    plan = ServicePlan(name="s", namespace="n", labels={}, annotations={}, selector={"a": "b"}, port={"port": 1})
    (made,) = SERVICES.build(plan)
    assert made == {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s", "namespace": "n"},
        "spec": {"selector": {"a": "b"}, "ports": [{"port": 1}]},
    }


@pytest.mark.parametrize(("kind", "count"), [("frontend", 1), ("worker", 0)])
def test_on_grove_with_etcd_only_frontends_have_one(kind: str, count: int) -> None:
    assert len(list(SERVICES.planned(component_scope({"componentType": kind})))) == count


def test_on_grove_the_backend_of_the_graph_counts_not_that_of_the_service() -> None:
    graph = graph_scope(discovery_backend="kubernetes")
    scope = component_scope(graph=graph, annotations={"nvidia.com/dynamo-discovery-backend": "etcd"})
    assert len(list(SERVICES.planned(scope))) == 1


@pytest.mark.parametrize(
    ("profile", "annotations", "suffixes"),
    [("0.9", {}, [""]), ("0.9", STEALING, ["", "-p", "-d"]), ("0.9-shipped", {}, ["", "-p", "-d"])],
)
def test_without_grove_debug_services_are_for_debug_mode(
    profile: str, annotations: dict[str, str], suffixes: list[str]
) -> None:
    scope = component_scope(
        {"componentType": "frontend"}, graph=graph_scope(profile=profile), pathway="component", annotations=annotations
    )
    assert [plan.name for plan in SERVICES.planned(scope)] == [f"demo-it{suffix}" for suffix in suffixes]

from __future__ import annotations

from typing import Any

import pytest

from dynamo_render.satellites.ingress import INGRESS, VIRTUAL_SERVICE, default_ingress
from tests.scopes import component_scope, graph_scope

NGINX = {"enabled": True, "host": "chat", "ingressControllerClassName": "nginx"}
MESH = {"enabled": True, "host": "chat", "useVirtualService": True}


def test_the_default_is_off_without_class_and_gateway() -> None:
    found = default_ingress(graph_scope())
    assert (found.enabled, found.host, found.use_virtual_service) == (False, "demo", False)


def test_the_default_takes_over_what_the_operator_sets() -> None:
    settings: dict[str, Any] = {"ingress_class_name": "nginx", "ingress_host_suffix": "s", "ingress_tls_secret": "t"}
    found = default_ingress(graph_scope(**settings))
    assert (found.enabled, found.ingress_controller_class_name, found.host_suffix) == (True, "nginx", "s")
    assert found.tls is not None
    assert found.tls.secret_name == settings["ingress_tls_secret"]


@pytest.mark.parametrize(
    ("kind", "pathway", "count"), [("frontend", "grove", 1), ("worker", "grove", 0), ("worker", "component", 1)]
)
def test_on_grove_only_frontends_are_exposed(kind: str, pathway: str, count: int) -> None:
    scope = component_scope({"componentType": kind, "ingress": NGINX}, pathway=pathway)
    assert len(list(INGRESS.planned(scope))) == count


def test_an_ingress_routes_its_host_to_port_8000() -> None:
    (plan,) = INGRESS.planned(component_scope({"componentType": "frontend", "ingress": NGINX}))
    (made,) = INGRESS.build(plan)
    (rule,) = made["spec"]["rules"]
    assert rule["host"] == "chat.local"
    assert rule["http"]["paths"][0]["backend"] == {"service": {"name": "demo-it", "port": {"number": 8000}}}
    assert "tls" not in made["spec"]


def test_a_certificate_without_a_name_still_covers_the_host() -> None:
    ingress = {**NGINX, "tls": {}}
    (plan,) = INGRESS.planned(component_scope({"componentType": "frontend", "ingress": ingress}))
    assert plan.tls == {"hosts": ["chat.local"]}


@pytest.mark.parametrize(
    ("own", "operators", "gateway"),
    [("own", "", ["own"]), ("own", "op", ["own"]), (None, "op", ["op"]), (None, "", [])],
)
def test_a_virtual_service_takes_its_own_gateway_before_the_operators(
    own: str | None, operators: str, gateway: list[str]
) -> None:
    ingress = {**MESH, **({} if own is None else {"virtualServiceGateway": own})}
    graph = graph_scope(virtual_service_gateway=operators)
    scope = component_scope({"componentType": "frontend", "ingress": ingress}, graph=graph)
    assert [plan.gateway for plan in VIRTUAL_SERVICE.planned(scope)] == gateway


def test_a_mesh_without_any_gateway_is_pointed_out() -> None:
    scope = component_scope({"componentType": "frontend", "ingress": MESH})
    assert list(VIRTUAL_SERVICE.planned(scope)) == []
    assert [problem.rule for problem in scope.graph.problems] == ["ingress/no-gateway"]


def test_labels_of_the_ingress_lie_over_those_of_the_component() -> None:
    scope = component_scope(
        {"componentType": "frontend", "ingress": {**NGINX, "labels": {"a": "ingress"}}}, labels={"a": "own", "b": "own"}
    )
    (plan,) = INGRESS.planned(scope)
    assert plan.labels == {"a": "ingress", "b": "own"}

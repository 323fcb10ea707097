from __future__ import annotations

from typing import Any

import pytest

from dynamo_render import ClusterFacts
from dynamo_render.satellites.access import DISCOVERY_ACCESS, EPP_ACCESS, PLANNER_ACCESS, AccessPlan
from tests.scopes import component_scope, graph_scope, whole_graph

ROLE: dict[str, Any] = {"restricted_namespace": "", "planner_cluster_role": "p"}


def test_access_by_rules_is_a_role_of_its_own() -> None:
    rules = ({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]},)
    made = DISCOVERY_ACCESS.build(AccessPlan(account="a", namespace="n", rules=rules))
    assert [found["kind"] for found in made] == ["ServiceAccount", "Role", "RoleBinding"]
    assert (made[1]["rules"], made[2]["roleRef"]["name"]) == (list(rules), "a-role")


def test_access_without_rules_binds_a_cluster_role() -> None:
    made = PLANNER_ACCESS.build(AccessPlan(account="a", namespace="n", cluster_role="p"))
    assert [found["kind"] for found in made] == ["ServiceAccount", "RoleBinding"]
    assert made[1]["roleRef"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "p"}


@pytest.mark.parametrize(("annotation", "count"), [("kubernetes", 1), ("etcd", 0), ("Kubernetes", 0)])
def test_discovery_access_follows_the_graphs_own_backend(annotation: str, count: int) -> None:
    scope = graph_scope(annotations={"nvidia.com/dynamo-discovery-backend": annotation})
    assert len(list(DISCOVERY_ACCESS.planned(whole_graph(scope=scope)))) == count


def test_planner_access_is_for_planners() -> None:
    scope = graph_scope(**ROLE)
    planner = component_scope({"componentType": "planner"}, graph=scope)
    assert [plan.cluster_role for plan in PLANNER_ACCESS.planned(whole_graph(planner, scope=scope))] == ["p"]
    assert list(PLANNER_ACCESS.planned(whole_graph(scope=scope))) == []


def test_shared_accounts_have_no_owner() -> None:
    assert (PLANNER_ACCESS.owned, EPP_ACCESS.owned, DISCOVERY_ACCESS.owned) == (False, False, True)


def test_a_cluster_role_that_is_not_there_is_a_problem() -> None:
    scope = graph_scope(facts=ClusterFacts(cluster_roles=frozenset({"other"})), **ROLE)
    planner = component_scope({"componentType": "planner"}, graph=scope)
    assert list(PLANNER_ACCESS.planned(whole_graph(planner, scope=scope))) == []
    assert [problem.rule for problem in scope.problems] == ["CTL-13"]


def test_it_asks_for_the_roles_that_it_would_bind() -> None:
    assert PLANNER_ACCESS.needs(whole_graph(scope=graph_scope(**ROLE))).cluster_roles == {"p"}
    assert PLANNER_ACCESS.needs(whole_graph(scope=graph_scope())).cluster_roles == frozenset()

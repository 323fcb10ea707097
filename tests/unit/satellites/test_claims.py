from __future__ import annotations

import pytest

from dynamo_render import NamespaceFacts
from dynamo_render.satellites.claims import CLAIMS, ClaimPlan
from tests.scopes import graph_scope, whole_graph

CREATED = {"create": True, "storageClass": "fast", "size": "1Gi", "volumeAccessMode": "ReadWriteOnce"}


def test_a_claim_holds_what_its_plan_says() -> None:
    plan = ClaimPlan(name="c", namespace="n", access_mode="ReadWriteMany", size="1Gi", storage_class="")
    (made,) = CLAIMS.build(plan)
    assert made["metadata"] == {"name": "c", "namespace": "n"}
    assert made["spec"] == {
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "",
    }


def test_claims_come_in_the_order_of_the_list_and_once() -> None:
    pvcs = [{"name": name, **CREATED} for name in ("b", "a", "b")]
    assert [plan.name for plan in CLAIMS.planned(whole_graph(pvcs=pvcs))] == ["b", "a"]


@pytest.mark.parametrize(("known", "rules"), [(None, []), (frozenset({"c"}), []), (frozenset(), ["CTL-09"])])
def test_an_expected_claim_is_a_problem_only_if_it_is_known_to_be_missing(
    known: frozenset[str] | None, rules: list[str]
) -> None:
    scope = graph_scope(namespace_facts=NamespaceFacts(pvcs=known))
    assert list(CLAIMS.planned(whole_graph(scope=scope, pvcs=[{"name": "c"}]))) == []
    assert [problem.rule for problem in scope.problems] == rules


def test_it_asks_for_every_claim_by_name() -> None:
    assert CLAIMS.needs(whole_graph(pvcs=[{"name": "c"}])).claims == {("team-a", "c")}

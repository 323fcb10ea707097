from __future__ import annotations

from dynamo_render.components.planner import ACCOUNT, PLANNER
from tests.scopes import component_scope


def test_a_planner_has_an_account_of_its_own() -> None:
    assert PLANNER.account == ACCOUNT == "planner-serviceaccount"
    assert PLANNER.base(component_scope()).pod["serviceAccountName"] == ACCOUNT


def test_it_offers_metrics_and_has_no_probes() -> None:
    base = PLANNER.base(component_scope())
    assert [port["name"] for port in base.container["ports"]] == ["metrics"]
    assert base.env == {"PLANNER_PROMETHEUS_PORT": "9085"}
    assert base.probes == {}

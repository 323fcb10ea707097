from __future__ import annotations

from dynamo_render.components.frontend import FRONTEND
from tests.scopes import component_scope


def test_a_frontend_starts_the_http_entry_on_port_8000() -> None:
    base = FRONTEND.base(component_scope())
    assert (base.container["command"], base.container["args"]) == (["python3"], ["-m", "dynamo.frontend"])
    assert [port["containerPort"] for port in base.container["ports"]] == [8000]
    assert base.env == {"DYNAMO_PORT": "8000", "DYN_HTTP_PORT": "8000"}


def test_its_service_leads_to_the_named_port() -> None:
    assert FRONTEND.port.manifest() == {"name": "http", "port": 8000, "targetPort": "http", "protocol": "TCP"}


def test_it_runs_no_engine() -> None:
    assert not FRONTEND.runs_engine


def test_two_frontends_share_no_state() -> None:
    first, second = FRONTEND.base(component_scope()), FRONTEND.base(component_scope())
    first.container["args"].append("changed")
    assert second.container["args"] == ["-m", "dynamo.frontend"]

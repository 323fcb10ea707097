from __future__ import annotations

from dynamo_render.components import COMPONENTS
from dynamo_render.components.worker import WORKER
from tests.scopes import component_scope


def test_a_worker_runs_an_engine_through_a_shell() -> None:
    base = WORKER.base(component_scope())
    assert WORKER.runs_engine
    assert base.container["command"] == ["/bin/sh", "-c"]
    assert "args" not in base.container


def test_its_system_port_is_told_by_a_variable() -> None:
    base = WORKER.base(component_scope())
    assert [str(port["containerPort"]) for port in base.container["ports"]] == [base.env["DYN_SYSTEM_PORT"]]


def test_prefill_and_decode_are_workers() -> None:
    assert COMPONENTS["prefill"] is COMPONENTS["decode"] is WORKER

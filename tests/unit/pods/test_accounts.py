from __future__ import annotations

from typing import Any

import pytest

from dynamo_render import NamespaceFacts
from dynamo_render.pods import accounts
from tests.scopes import component_scope, graph_scope


@pytest.mark.parametrize(
    ("pathway", "discovery", "labelled", "account"),
    [
        ("grove", "kubernetes", "found", "demo-k8s-service-discovery"),
        ("component", "kubernetes", "found", "demo-k8s-service-discovery"),
        ("grove", "etcd", "found", None),
        ("component", "etcd", "found", "found"),
        ("component", "etcd", None, "default"),
    ],
)
def test_which_account_fills_an_empty_one(
    pathway: Any, discovery: str, labelled: str | None, account: str | None
) -> None:
    facts = NamespaceFacts(component_service_account=labelled)
    graph = graph_scope(discovery_backend=discovery, namespace_facts=facts)
    assert accounts.planned(component_scope(graph=graph, pathway=pathway)) == account

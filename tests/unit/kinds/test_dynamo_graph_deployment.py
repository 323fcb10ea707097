from __future__ import annotations

import pytest

from dynamo_render import ClusterFacts, needs
from dynamo_render.kinds.dynamo_graph_deployment.plan import uses_grove
from dynamo_render.kinds.dynamo_graph_deployment.restart import next_status
from dynamo_render.observed import RestartStatus
from dynamo_render.spec.component import ComponentSpec
from dynamo_render.spec.graph import GraphSpec, Restart, RestartStrategy
from tests.scopes import graph_scope
from tests.small import GROVE, graph, rendered, service, the


@pytest.mark.parametrize("value", ["false", "FALSE", "False"])
def test_grove_is_turned_off_in_any_case(value: str) -> None:

    facts = ClusterFacts.from_mapping(GROVE)
    assert uses_grove(graph_scope(facts=facts))
    assert not uses_grove(graph_scope(facts=facts, annotations={"nvidia.com/enable-grove": value}))


def test_a_graph_without_a_namespace_is_in_the_default_one() -> None:
    resource = graph(It=service())
    del resource["metadata"]["namespace"]
    assert the(rendered(resource), "PodCliqueSet")["metadata"]["namespace"] == "default"


def test_a_graph_asks_for_what_its_plan_will_use() -> None:
    query = needs(graph(spec={"pvcs": [{"name": "c"}]}, It=service()))
    assert query.claims == {("team-a", "c")}
    assert query.pull_secret_namespaces == query.service_account_namespaces == {"team-a"}
    assert {"grove.io", "leaderworkerset.x-k8s.io"} <= query.api_groups
    assert query.restart_stamps == {("team-a", "demo")}


def spec(*order: str, kind: str = "Sequential") -> GraphSpec:
    strategy = RestartStrategy(type=kind, order=list(order) or None)
    return GraphSpec(services={name: ComponentSpec() for name in "ABC"}, restart=Restart(id="r", strategy=strategy))


def test_a_sequence_goes_on_one_service_at_a_time() -> None:
    """Pass by pass, each with the services that have come back so far."""
    wanted = spec("B", "A", "C")
    seen, status = [], None
    for done in ("", "", "B", "BA", "BAC"):
        status = next_status(wanted, status, frozenset(done))
        seen.append((status.phase, status.in_progress) if status else None)
    assert seen == [
        ("Restarting", ("B",)),
        ("Restarting", ("B",)),
        ("Restarting", ("A",)),
        ("Restarting", ("C",)),
        ("Completed", ()),
    ]


def test_a_parallel_restart_begins_with_all_and_waits_for_all() -> None:
    """A new request is not done because the old pods are still healthy."""
    first = next_status(spec(kind="Parallel"), None, frozenset("ABC"))
    assert first == RestartStatus("r", "Restarting", ("A", "B", "C"))
    second = next_status(spec(kind="Parallel"), first, frozenset("AC"))
    assert second == RestartStatus("r", "Restarting", ("B",))
    assert next_status(spec(kind="Parallel"), second, frozenset("B")) == RestartStatus("r", "Completed")

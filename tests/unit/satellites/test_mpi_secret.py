from __future__ import annotations

import pytest

from dynamo_render import ClusterFacts, NamespaceFacts
from dynamo_render.satellites.contract import Graph
from dynamo_render.satellites.mpi_secret import MPI_SECRET, SecretPlan
from tests.scopes import component_scope, graph_scope, whole_graph

SOURCE = {"type": "Opaque", "data": {"private.key": "a2V5"}, "immutable": True}


def graph(line: str, *, nodes: int = 2, present: bool | None = None, profile: str = "0.9", **source: object) -> Graph:
    namespaces = {"team-a": NamespaceFacts(mpi_secret=present)}
    facts = ClusterFacts(mpi_source=source.get("source", SOURCE), namespaces=namespaces)  # type: ignore[arg-type]
    scope = graph_scope(profile=profile, facts=facts)
    spec = {"componentType": "worker", "extraPodSpec": {"mainContainer": {"args": [line]}}}
    spread = {"multinode": {"nodeCount": nodes}} if nodes > 1 else {}
    return whole_graph(component_scope({**spec, **spread}, graph=scope), scope=scope)


TRT = "python3 -m dynamo.trtllm"


@pytest.mark.parametrize(
    ("case", "copies"),
    [
        (graph(TRT), 1),
        (graph(TRT, present=False), 1),
        (graph(TRT, present=True), 0),
        (graph(TRT, source=None), 0),
        (graph(TRT, nodes=1), 0),
        (graph("python3 -m dynamo.vllm"), 0),
        (graph("python3 -m dynamo.vllm", profile="0.9-shipped"), 1),
    ],
    ids=["unknown", "missing", "present", "no source", "one node", "other engine", "shipped copies always"],
)
def test_the_keys_are_copied_where_they_are_wanted_and_missing(case: Graph, copies: int) -> None:
    assert len(list(MPI_SECRET.planned(case))) == copies


def test_type_and_data_are_copied_and_nothing_else() -> None:
    (plan,) = MPI_SECRET.planned(graph(TRT))
    assert plan.content == {"type": "Opaque", "data": {"private.key": "a2V5"}}


def test_the_copy_shares_no_state_with_the_facts() -> None:
    plan = SecretPlan(name="s", namespace="n", content={"data": {"k": "v"}})
    (made,) = MPI_SECRET.build(plan)
    made["data"].clear()
    assert plan.content == {"data": {"k": "v"}}


def test_it_asks_only_where_the_secret_is_wanted() -> None:
    assert MPI_SECRET.needs(graph(TRT)).mpi_secret_namespaces == {"team-a"}
    assert MPI_SECRET.needs(graph(TRT, nodes=1)).mpi_secret_namespaces == frozenset()

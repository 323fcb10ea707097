"""A graph that becomes anything and comes back leaves nothing of what it was in between: fault F34 on the fake."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given

from dynamo_controller.store import controller_uid
from tests.controller.test_crashes import _masked
from tests.fakes.cluster import FakeCluster
from tests.fakes.stage import Stage, graph
from tests.strategies.graphs import graphs

Json = dict[str, Any]
GRAPH = "DynamoGraphDeployment"
KEPT = "PersistentVolumeClaim"
"""Claims stay when nobody mentions them any more: they hold their user's data."""


def children(cluster: FakeCluster) -> Json:
    return {
        f"{kind.kind}/{name}": _masked(live)
        for (kind, _, name), live in cluster.objects.items()
        if kind.kind not in ("Event", KEPT)
    }


def collect_garbage(cluster: FakeCluster) -> None:
    """Remove what belongs to objects that are gone, as a cluster does by itself."""
    uids = {live["metadata"]["uid"] for (kind, _, _), live in cluster.objects.items() if kind.kind != "Event"}
    orphans = [live for live in cluster.objects.values() if (uid := controller_uid(live)) and uid not in uids]
    for orphan in orphans:
        cluster.remove(orphan)


@given(graphs())
def test_whatever_a_graph_becomes_its_children_come_back_to_what_they_were(drawn: Json) -> None:
    async def play() -> None:
        async with Stage("leaderworkerset.x-k8s.io") as stage:
            await stage.add(graph())
            await stage.later(1)
            wanted = children(stage.cluster)
            # What was restarted says so for good: to take that back would replace its pods once more.
            without_restart = {key: value for key, value in drawn["spec"].items() if key != "restart"}
            for spec in (without_restart, graph()["spec"]):
                stage.cluster.edit(stage.cluster.find(GRAPH, "chat"), {"spec": None})
                stage.cluster.edit(stage.cluster.find(GRAPH, "chat"), {"spec": spec})
                await stage.later(1)
                collect_garbage(stage.cluster)
            await stage.later(120)
            assert children(stage.cluster) == wanted

    asyncio.run(play())

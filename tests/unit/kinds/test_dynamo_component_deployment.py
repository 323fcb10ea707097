from __future__ import annotations

from typing import Any

import pytest

from dynamo_render import needs
from tests.small import LEADER_WORKER_SET, NOTHING, Json, component, graph, of_kind, rendered, service, worker

GRAPH: Json = {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", "name": "demo", "uid": "u"}


def test_it_asks_for_what_its_plan_will_use() -> None:
    query = needs(component({**service(), "dynamoNamespace": "x"}))
    assert query.api_groups == {"leaderworkerset.x-k8s.io", "scheduling.volcano.sh"}
    assert query.pull_secret_namespaces == {"team-a"}


def test_it_owns_what_it_leads_to() -> None:
    result = rendered(component({**service(), "dynamoNamespace": "x"}), facts=NOTHING)
    assert {(owner.kind, owner.name) for owner in result.owners if owner} == {("DynamoComponentDeployment", "solo")}


@pytest.mark.parametrize("profile", ["0.9", "0.9-shipped"])
@pytest.mark.parametrize(
    "written",
    [
        service("frontend", ingress={"enabled": True, "host": "h", "ingressControllerClassName": "c"}),
        worker(multinode={"nodeCount": 2}, resources={"limits": {"gpu": "1"}}, replicas=2),
        service("planner", labels={"a": "b"}, annotations={"c": "d"}, modelRef={"name": "m"}),
        service("frontend", main={"command": [], "args": ["x"]}, pod={"terminationGracePeriodSeconds": 0}),
    ],
    ids=["frontend", "several nodes", "metadata", "explicit zeros"],
)
def test_a_component_of_a_graph_leads_to_what_the_graph_said(profile: str, written: dict[str, Any]) -> None:
    """The graph's render shows the objects of its component deployments; those alone must lead to the same."""
    whole = rendered(graph(It=written), profile, facts=LEADER_WORKER_SET)
    (resource,) = of_kind(whole, "DynamoComponentDeployment")
    owned = {**resource, "metadata": {**resource["metadata"], "ownerReferences": [GRAPH]}}
    alone = rendered(owned, profile, facts=LEADER_WORKER_SET)
    theirs = [
        made
        for made, owner in zip(whole.objects, whole.owners, strict=True)
        if owner and owner.kind == "DynamoComponentDeployment"
    ]
    assert list(alone.objects) == theirs

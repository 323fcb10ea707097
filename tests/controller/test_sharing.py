"""Stories of objects that more than one resource wants, that nobody owns, or that are somebody else's."""

from __future__ import annotations

from typing import Any

from tests.fakes.stage import Stage, graph, worker

Json = dict[str, Any]
COMPONENT = "DynamoComponentDeployment"
SERVED = {"modelRef": {"name": "acme/large"}}
AVAILABLE = ("True", "DeploymentReady")
IN_THE_WAY = ("False", "Reconciling")


def serving_graph() -> Json:
    return graph(Decode=worker(**SERVED), Prefill=worker(**SERVED))


def the_model_service(stage: Stage) -> Json:
    (name,) = [name for name in stage.cluster.names("Service") if name.startswith("dynamo-model-")]
    return stage.cluster.find("Service", name)


def owner_of(content: Json) -> str:
    (owner,) = content["metadata"]["ownerReferences"]
    return str(owner["name"])


async def test_components_that_serve_one_model_share_its_service() -> None:
    async with Stage() as stage:
        await stage.add(serving_graph())
        await stage.roll_out()
        assert the_model_service(stage)["spec"]["clusterIP"] == "None"
        assert stage.condition("chat-decode", COMPONENT, "Available") == AVAILABLE
        assert stage.condition("chat-prefill", COMPONENT, "Available") == AVAILABLE


async def test_the_service_of_a_model_outlives_the_component_that_made_it() -> None:
    async with Stage() as stage:
        await stage.add(serving_graph())
        first = owner_of(the_model_service(stage))
        gone = "Decode" if first == "chat-decode" else "Prefill"
        await stage.edit("DynamoGraphDeployment", "chat", {"spec": {"services": {gone: None}}})
        for content in list(stage.cluster.objects.values()):
            if any(owner["name"] == first for owner in content["metadata"].get("ownerReferences") or ()):
                stage.cluster.remove(content)  # as garbage collection does
        await stage.settle()
        assert owner_of(the_model_service(stage)) != first


async def test_an_object_in_the_way_is_noticed_as_soon_as_it_goes() -> None:
    foreign = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "chat-worker", "namespace": "team"},
        "spec": {"ports": [{"port": 1}]},
    }
    async with Stage() as stage:
        stage.cluster.put(foreign)
        await stage.add(graph())
        assert stage.condition("chat-worker", COMPONENT, "Available") == IN_THE_WAY
        await stage.remove("Service", "chat-worker")
        assert owner_of(stage.cluster.find("Service", "chat-worker")) == "chat-worker"


async def test_what_an_orphaning_deletion_left_behind_is_taken_up_again() -> None:
    async with Stage() as stage:
        await stage.add(graph())
        left = stage.cluster.find(COMPONENT, "chat-worker")
        stage.cluster._remove(stage.cluster.find("DynamoGraphDeployment", "chat"))
        stage.cluster.edit(left, {"metadata": {"ownerReferences": None}})
        await stage.settle()
        uid = (await stage.add(graph()))["metadata"]["uid"]
        taken = stage.cluster.find(COMPONENT, "chat-worker")
        assert taken["metadata"]["uid"] == left["metadata"]["uid"]
        assert [owner["uid"] for owner in taken["metadata"]["ownerReferences"]] == [uid]


async def test_an_account_that_is_there_already_does_for_a_planner() -> None:
    theirs = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "planner-serviceaccount", "namespace": "team", "labels": {"made-by": "somebody"}},
    }
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "planner", "namespace": ""},
    }
    async with Stage(restricted_namespace="", planner_cluster_role="planner") as stage:
        stage.cluster.put(theirs)
        stage.cluster.put(role)
        await stage.add(graph(Planner=worker(componentType="planner")))
        assert stage.status()["state"] == "pending"
        assert stage.cluster.names("RoleBinding") == [
            "chat-k8s-service-discovery-binding",
            "planner-serviceaccount-binding",
        ]
        kept = stage.cluster.find("ServiceAccount", "planner-serviceaccount")
        assert kept["metadata"]["labels"] == {"made-by": "somebody"}

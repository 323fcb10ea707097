"""Stories of counts that belong to adapters, of Grove, and of restarts."""

from __future__ import annotations

from typing import Any

from tests.fakes.stage import Stage, graph, worker

Json = dict[str, Any]
READY = ("True", "all_resources_are_ready")
GRAPH, ADAPTER = "DynamoGraphDeployment", "DynamoGraphDeploymentScalingAdapter"
COMPONENT = "DynamoComponentDeployment"


def replicas(stage: Stage, kind: str, name: str) -> int:
    return int(stage.cluster.find(kind, name)["spec"]["replicas"])


def stamp(stage: Stage, name: str) -> str | None:
    template = stage.cluster.find("Deployment", name)["spec"]["template"]
    return (template["metadata"].get("annotations") or {}).get("nvidia.com/restartAt")


def scaled_by_adapter() -> Json:
    return graph(Worker=worker(replicas=2, scalingAdapter={"enabled": True}))


async def test_an_adapter_starts_with_the_count_of_its_service_and_then_owns_it() -> None:
    async with Stage() as stage:
        await stage.add(scaled_by_adapter())
        assert replicas(stage, ADAPTER, "chat-worker") == 2
        await stage.edit(ADAPTER, "chat-worker", {"spec": {"replicas": 5}})
        assert stage.cluster.find(GRAPH, "chat")["spec"]["services"]["Worker"]["replicas"] == 5
        assert replicas(stage, "Deployment", "chat-worker") == 5
        assert replicas(stage, ADAPTER, "chat-worker") == 5


async def test_an_adapter_tells_its_count_and_who_its_pods_are() -> None:
    async with Stage() as stage:
        await stage.add(scaled_by_adapter())
        await stage.edit(ADAPTER, "chat-worker", {"spec": {"replicas": 5}})
        status = stage.status("chat-worker", ADAPTER)
        assert status["replicas"] == 5
        assert "nvidia.com/dynamo-component=Worker" in status["selector"]
        assert status["lastScaleTime"] == stage.clock.timestamp()
        assert stage.event_reasons().count("Scaled") == 1


async def test_a_count_in_the_graph_does_not_overrule_the_adapter() -> None:
    async with Stage() as stage:
        await stage.add(scaled_by_adapter())
        await stage.edit(GRAPH, "chat", {"spec": {"services": {"Worker": {"replicas": 9}}}})
        await stage.later(1)  # both are written to at once, and one of the writes is repeated
        assert replicas(stage, ADAPTER, "chat-worker") == 2
        assert replicas(stage, "Deployment", "chat-worker") == 2
        assert stage.cluster.find(GRAPH, "chat")["spec"]["services"]["Worker"]["replicas"] == 2


async def test_an_adapter_that_is_disabled_goes_away_and_leaves_its_count() -> None:
    async with Stage() as stage:
        await stage.add(scaled_by_adapter())
        await stage.edit(ADAPTER, "chat-worker", {"spec": {"replicas": 5}})
        await stage.edit(GRAPH, "chat", {"spec": {"services": {"Worker": {"scalingAdapter": None}}}})
        assert stage.cluster.names(ADAPTER) == []
        assert replicas(stage, "Deployment", "chat-worker") == 5


async def test_services_restart_one_after_the_other_and_once() -> None:
    async with Stage() as stage:
        await stage.add(graph())
        await stage.roll_out()
        await stage.edit(GRAPH, "chat", {"spec": {"restart": {"id": "r1"}}})
        assert stage.status()["restart"] == {"observedID": "r1", "phase": "Restarting", "inProgress": ["Frontend"]}
        assert (stamp(stage, "chat-frontend"), stamp(stage, "chat-worker")) == ("r1", None)
        await stage.roll_out("chat-frontend")
        assert stage.status()["restart"]["inProgress"] == ["Worker"]
        assert stamp(stage, "chat-worker") == "r1"
        await stage.roll_out("chat-worker")
        assert stage.status()["restart"] == {"observedID": "r1", "phase": "Completed"}
        stage.cluster.writes.clear()
        stage.manager.wake_everything()
        await stage.settle()
        assert stage.cluster.writes == []


async def test_services_restart_together_when_asked_to() -> None:
    async with Stage() as stage:
        await stage.add(graph())
        await stage.roll_out()
        await stage.edit(GRAPH, "chat", {"spec": {"restart": {"id": "r1", "strategy": {"type": "Parallel"}}}})
        assert stage.status()["restart"]["inProgress"] == ["Frontend", "Worker"]
        assert {stamp(stage, name) for name in stage.cluster.names("Deployment")} == {"r1"}
        await stage.roll_out()
        assert stage.status()["restart"]["phase"] == "Completed"


async def test_a_restart_goes_on_where_a_controller_that_died_has_left_it() -> None:
    first = await Stage().__aenter__()
    await first.add(graph())
    await first.roll_out()
    await first.edit(GRAPH, "chat", {"spec": {"restart": {"id": "r1"}}})
    await first.roll_out("chat-frontend")
    await first.end()
    async with Stage(cluster=first.cluster) as second:
        await second.roll_out("chat-worker")
        assert second.status()["restart"] == {"observedID": "r1", "phase": "Completed"}


async def test_a_newer_restart_takes_the_place_of_one_that_is_under_way() -> None:
    async with Stage() as stage:
        await stage.add(graph())
        await stage.roll_out()
        await stage.edit(GRAPH, "chat", {"spec": {"restart": {"id": "r1"}}})
        await stage.edit(GRAPH, "chat", {"spec": {"restart": {"id": "r2"}}})
        assert stage.status()["restart"] == {"observedID": "r2", "phase": "Restarting", "inProgress": ["Frontend"]}
        assert stamp(stage, "chat-frontend") == "r2"


async def test_a_graph_on_grove_becomes_ready_with_its_cliques() -> None:
    async with Stage("grove.io") as stage:
        await stage.add(graph())
        assert stage.cluster.names("Deployment") == []
        await stage.grow("chat", ready=False)
        assert stage.condition() == ("False", "some_resources_are_not_ready")
        await stage.grow("chat")
        assert stage.condition() == READY
        assert stage.status()["services"]["Worker"]["componentName"] == "chat-0-worker"


async def test_grove_gets_a_new_count_through_the_scale_of_the_clique() -> None:
    async with Stage("grove.io") as stage:
        await stage.add(graph())
        await stage.grow("chat")
        await stage.edit(GRAPH, "chat", {"spec": {"services": {"Worker": {"replicas": 4}}}})
        assert replicas(stage, "PodClique", "chat-0-worker") == 4


async def test_a_graph_moves_to_grove_when_grove_is_installed() -> None:
    async with Stage() as stage:
        await stage.add(graph())
        await stage.roll_out()
        stage.cluster.served.add("grove.io")
        stage.cluster.put(
            {
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": {"name": "podcliquesets.grove.io"},
            }
        )
        await stage.later(10)
        assert stage.cluster.names("PodCliqueSet") == ["chat"]
        assert stage.cluster.names(COMPONENT) == []


async def test_a_pull_secret_that_comes_later_reaches_the_pods() -> None:
    async with Stage() as stage:
        await stage.add(graph())
        data = "eyJhdXRocyI6IHsicmVnaXN0cnkudGVzdCI6IHt9fX0="  # {"auths": {"registry.test": {}}}
        await stage.add(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": "pull", "namespace": "team"},
                "type": "kubernetes.io/dockerconfigjson",
                "data": {".dockerconfigjson": data},
            }
        )
        pod = stage.cluster.find("Deployment", "chat-worker")["spec"]["template"]["spec"]
        assert pod["imagePullSecrets"] == [{"name": "pull"}]


async def test_a_graph_that_waits_for_a_claim_goes_on_when_it_comes() -> None:
    async with Stage() as stage:
        content = graph()
        content["spec"]["pvcs"] = [{"name": "models", "create": False}]
        await stage.add(content)
        await stage.later(600)
        assert stage.status()["state"] == "failed"
        claim: Json = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "models"}, "spec": {}}
        claim["metadata"]["namespace"] = "team"
        await stage.add(claim)
        assert stage.status()["state"] == "pending"
        assert stage.cluster.find("PersistentVolumeClaim", "models")["metadata"].get("ownerReferences") is None


async def test_a_claim_is_made_once_and_outlives_its_mention() -> None:
    async with Stage() as stage:
        content = graph()
        claim = {
            "name": "models",
            "create": True,
            "size": "1Gi",
            "storageClass": "fast",
            "volumeAccessMode": "ReadWriteMany",
        }
        content["spec"]["pvcs"] = [claim]
        await stage.add(content)
        assert stage.cluster.find("PersistentVolumeClaim", "models")["spec"]["storageClassName"] == "fast"
        await stage.edit(GRAPH, "chat", {"spec": {"pvcs": None}})
        assert stage.cluster.names("PersistentVolumeClaim") == ["models"]


async def test_an_adapter_writes_no_count_where_the_one_that_goes_without_saying_is_right() -> None:
    async with Stage() as stage:
        service = {key: value for key, value in worker(scalingAdapter={"enabled": True}).items() if key != "replicas"}
        await stage.add(graph(Worker=service))
        stage.cluster.edit(stage.cluster.find(GRAPH, "chat"), {"metadata": {"labels": {"look": "again"}}})
        await stage.settle()
        assert "replicas" not in stage.cluster.find("DynamoComponentDeployment", "chat-worker")["spec"]


async def test_the_adapter_of_a_removed_service_is_told_to_go_with_it() -> None:
    async with Stage() as stage:
        await stage.add(graph(Worker=worker(scalingAdapter={"enabled": True})))
        await stage.edit(GRAPH, "chat", {"spec": {"services": {"Worker": None}}})
        assert "AdapterDeleted" in stage.event_reasons()

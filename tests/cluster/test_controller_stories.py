"""Stories of users on a real cluster: what they do to a graph, and what its pods and its status make of it.

Those about edited children, deletions, dying namespaces and several controllers are with the faults.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import attrs

from tests.cluster.bench import Bench
from tests.fakes import real
from tests.fakes.real import Running
from tests.fakes.stage import graph, worker

Json = dict[str, Any]
OURS, GRAPH, COMPONENT = "nvidia.com/v1alpha1", "DynamoGraphDeployment", "DynamoComponentDeployment"
ADAPTER = "DynamoGraphDeploymentScalingAdapter"
LWS = "leaderworkerset.x-k8s.io/v1"
NO_GROVE = {"nvidia.com/enable-grove": "false"}


@attrs.frozen(eq=False)
class Scene:
    """A namespace of a *cluster* in which a controller is *at work*."""

    cluster: Bench
    namespace: str
    at_work: Running

    async def wish(self, content: Json) -> int:
        """Apply a graph as a user does, and return its generation."""
        metadata = {**content["metadata"], "namespace": self.namespace, "annotations": NO_GROVE}
        stored = self.cluster.client.apply({**content, "metadata": metadata})
        return int(stored["metadata"]["generation"])

    async def ready(self, content: Json) -> None:
        """Apply a graph, and wait until it is ready."""
        generation = await self.wish(content)
        await self.until(lambda: self.condition() == ("True", "all_resources_are_ready", generation))

    async def until(self, is_true: Callable[[], Any]) -> None:
        """Wait until something is so."""
        await self.at_work.until(is_true, seconds=60.0)

    def condition(self) -> tuple[str, str, int]:
        """Return status, reason and generation of the graph's readiness."""
        conditions = self.status().get("conditions") or [{}]
        (told,) = [each for each in conditions if each.get("type", "Ready") == "Ready"]
        return told.get("status", ""), told.get("reason", ""), told.get("observedGeneration", 0)

    def status(self) -> Json:
        found: Json = self.cluster.client.get(OURS, GRAPH, "chat", self.namespace).get("status", {})
        return found

    def names(self, api_version: str, kind: str) -> list[str]:
        found = self.cluster.client.get(api_version, kind, namespace=self.namespace)["items"]
        return [each["metadata"]["name"] for each in found]

    def template(self, name: str) -> Json:
        found: Json = self.cluster.client.get("apps/v1", "Deployment", name, self.namespace)["spec"]["template"]
        return found


@contextlib.asynccontextmanager
async def scene(cluster: Bench, namespace: str) -> AsyncIterator[Scene]:
    cluster.ensure_namespaces([namespace])
    async with real.running(cluster.kubeconfig, namespace) as at_work:
        yield Scene(cluster, namespace, at_work)


def test_a_service_is_added_and_removed_again(cluster: Bench) -> None:
    async def story() -> None:
        async with scene(cluster, "story-services") as on:
            await on.ready(graph())
            await on.ready(graph(Decode=worker()))
            assert on.names("apps/v1", "Deployment") == ["chat-decode", "chat-frontend", "chat-worker"]
            await on.ready(graph())
            await on.until(lambda: on.names("apps/v1", "Deployment") == ["chat-frontend", "chat-worker"])
            assert sorted(on.status()["services"]) == ["Frontend", "Worker"]

    asyncio.run(story())


def test_a_graph_moves_to_another_backend(cluster: Bench) -> None:
    async def story() -> None:
        async with scene(cluster, "story-backend") as on:
            await on.ready(graph())
            content = graph()
            content["spec"]["backendFramework"] = "sglang"
            main = content["spec"]["services"]["Worker"]["extraPodSpec"]["mainContainer"]
            main |= {"image": "registry.test/sglang:1", "command": ["python3", "-m", "dynamo.sglang"]}
            await on.ready(content)
            container = on.template("chat-worker")["spec"]["containers"][0]
            assert (container["image"], container["command"][-1]) == ("registry.test/sglang:1", "dynamo.sglang")

    asyncio.run(story())


def test_an_adapter_is_enabled_takes_the_count_over_and_leaves_it_when_it_goes(cluster: Bench) -> None:
    async def story() -> None:
        async with scene(cluster, "story-adapter") as on:
            await on.ready(graph())
            assert on.names(OURS, ADAPTER) == []
            await on.ready(graph(Worker=worker(scalingAdapter={"enabled": True})))
            path = cluster.client.path(OURS, ADAPTER, "chat-worker", on.namespace)
            cluster.client.send("PATCH", f"{path}/scale", {"spec": {"replicas": 2}}, "application/merge-patch+json")
            await on.until(lambda: on.status()["services"]["Worker"].get("readyReplicas") == 2)
            await on.ready(graph(Worker=worker(replicas=2)))
            await on.until(lambda: on.names(OURS, ADAPTER) == [])
            assert on.status()["services"]["Worker"]["readyReplicas"] == 2

    asyncio.run(story())


def test_a_graph_that_contradicts_itself_keeps_its_pods_and_is_mended(cluster: Bench) -> None:
    async def story() -> None:
        async with scene(cluster, "story-invalid") as on:
            await on.ready(graph())
            before = on.template("chat-worker")
            broken = graph(Worker=worker(envs=[{"name": "A", "value": "1"}], ingress={"enabled": True}))
            generation = await on.wish(broken)
            await on.until(lambda: on.condition() == ("False", "ValidationFailed", generation))
            assert on.template("chat-worker") == before
            await on.ready(graph(Worker=worker(envs=[{"name": "A", "value": "1"}])))
            assert {"name": "A", "value": "1"} in on.template("chat-worker")["spec"]["containers"][0]["env"]

    asyncio.run(story())


def test_a_pull_secret_that_comes_later_finds_its_way_into_pods(cluster: Bench) -> None:
    async def story() -> None:
        async with scene(cluster, "story-secret") as on:
            await on.ready(graph())
            assert "imagePullSecrets" not in on.template("chat-worker")["spec"]
            known = base64.b64encode(json.dumps({"auths": {"registry.test": {"auth": "bm9ib2R5"}}}).encode()).decode()
            metadata = {"name": "pull", "namespace": on.namespace}
            secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {".dockerconfigjson": known}}
            cluster.client.create({**secret, "type": "kubernetes.io/dockerconfigjson"})
            await on.until(lambda: on.template("chat-worker")["spec"].get("imagePullSecrets") == [{"name": "pull"}])
            await on.until(lambda: on.condition()[0] == "True")

    asyncio.run(story())


def test_a_parallel_restart_replaces_all_pods_and_completes(cluster: Bench) -> None:
    def pods(on: Scene) -> set[str]:
        return set(on.names("v1", "Pod"))

    async def story() -> None:
        async with scene(cluster, "story-restart") as on:
            await on.ready(graph())
            before = pods(on)
            content = graph()
            content["spec"]["restart"] = {"id": "r1", "strategy": {"type": "Parallel"}}
            await on.wish(content)
            await on.until(lambda: on.status().get("restart", {}).get("phase") == "Completed")
            assert on.status()["restart"]["observedID"] == "r1"
            await on.until(lambda: len(pods(on)) == len(before) and not pods(on) & before)

    asyncio.run(story())


def test_a_component_over_two_nodes_comes_to_ready_with_its_leader_worker_set(cluster: Bench) -> None:
    """Nobody here plays the controller of LeaderWorkerSets but the test."""

    def play(on: Scene) -> None:
        for live in cluster.client.get(LWS, "LeaderWorkerSet", namespace=on.namespace)["items"]:
            counts = dict.fromkeys(("replicas", "readyReplicas", "updatedReplicas"), 1)
            told = {"status": "True", "reason": "Played", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
            cluster.client.patch_status(live, {**counts, "conditions": [{"type": "Available", **told}]})

    async def story() -> None:
        async with scene(cluster, "story-lws") as on:
            several = {"multinode": {"nodeCount": 2}, "resources": {"limits": {"gpu": "4"}}, "replicas": 2}
            generation = await on.wish(graph(Worker=worker(**several)))
            await on.until(lambda: on.names(LWS, "LeaderWorkerSet") == ["chat-worker-0", "chat-worker-1"])
            assert on.condition()[0] == "False"
            play(on)
            await on.until(lambda: on.condition() == ("True", "all_resources_are_ready", generation))
            told = on.status()["services"]["Worker"]
            assert (told["componentKind"], told["readyReplicas"]) == ("LeaderWorkerSet", 2)
            await on.wish(graph(Worker=worker(**{**several, "replicas": 1})))
            await on.until(lambda: on.names(LWS, "LeaderWorkerSet") == ["chat-worker-0"])

    asyncio.run(story())

"""The controller on a real cluster with Grove's definitions; the test plays Grove's own part."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.cluster.bench import Bench
from tests.fakes import real
from tests.fakes.stage import clique_status, graph, pod_clique, worker

Json = dict[str, Any]
OURS, GROVE = "nvidia.com/v1alpha1", "grove.io/v1alpha1"


def in_namespace(namespace: str, content: Json) -> Json:
    return {**content, "metadata": {**content["metadata"], "namespace": namespace}}


def grow(cluster: Bench, namespace: str, name: str = "chat") -> None:
    """Make the cliques that a PodCliqueSet asks for, and say that their pods are ready."""
    live = cluster.client.get(GROVE, "PodCliqueSet", name, namespace)
    there = [each["metadata"]["name"] for each in cluster.client.get(GROVE, "PodClique", namespace=namespace)["items"]]
    for template in live["spec"]["template"]["cliques"]:
        clique = f"{name}-0-{template['name']}"
        if clique not in there:
            content = in_namespace(namespace, pod_clique(clique, template))
            content["spec"] = {**template["spec"]}
            cluster.client.create(content)
        made = cluster.client.get(GROVE, "PodClique", clique, namespace)
        cluster.client.patch_status(made, clique_status(made, ready=True))
    cluster.client.patch_status(live, {"observedGeneration": live["metadata"]["generation"]})


def told(cluster: Bench, namespace: str) -> Json:
    status: Json = cluster.client.get(OURS, "DynamoGraphDeployment", "chat", namespace).get("status", {})
    return status


def is_ready(cluster: Bench, namespace: str, generation: int) -> bool:
    conditions = told(cluster, namespace).get("conditions") or [{}]
    return conditions[0].get("status") == "True" and conditions[0].get("observedGeneration") == generation


def test_a_graph_on_grove_comes_to_ready_is_scaled_and_then_rests(cluster: Bench) -> None:
    namespace = "controller-grove"
    cluster.ensure_namespaces([namespace])

    def sets() -> list[Json]:
        return cluster.client.get(GROVE, "PodCliqueSet", namespace=namespace)["items"]

    def replicas(clique: str) -> int:
        return int(cluster.client.get(GROVE, "PodClique", clique, namespace)["spec"]["replicas"])

    async def story() -> None:
        async with real.running(cluster.kubeconfig, namespace) as at_work:
            cluster.client.create(in_namespace(namespace, graph()))
            await at_work.until(sets)
            assert told(cluster, namespace).get("state") != "successful"
            grow(cluster, namespace)
            await at_work.until(lambda: is_ready(cluster, namespace, 1))
            assert cluster.client.get(OURS, "DynamoComponentDeployment", namespace=namespace)["items"] == []
            cluster.client.apply(in_namespace(namespace, graph(Worker=worker(replicas=2))))
            await at_work.until(lambda: replicas("chat-0-worker") == 2)
            grow(cluster, namespace)
            await at_work.until(lambda: is_ready(cluster, namespace, 2))
            await at_work.quiet()
            writes = list(at_work.cluster.writes)
            at_work.manager.wake_everything()
            await at_work.quiet()
            assert at_work.cluster.writes == writes
        async with real.running(cluster.kubeconfig, namespace) as second:
            await second.quiet()
            assert second.cluster.writes == []

    asyncio.run(story())


def test_a_graph_that_turns_away_from_grove_leaves_nothing_of_it(cluster: Bench) -> None:
    namespace = "controller-turn"
    cluster.ensure_namespaces([namespace])

    def names(api_version: str, kind: str) -> list[str]:
        return [
            each["metadata"]["name"] for each in cluster.client.get(api_version, kind, namespace=namespace)["items"]
        ]

    async def story() -> None:
        async with real.running(cluster.kubeconfig, namespace) as at_work:
            cluster.client.create(in_namespace(namespace, graph()))
            await at_work.until(lambda: names(GROVE, "PodCliqueSet"))
            turned = in_namespace(namespace, graph())
            turned["metadata"]["annotations"] = {"nvidia.com/enable-grove": "false"}
            cluster.client.apply(turned)
            await at_work.until(lambda: is_ready(cluster, namespace, 1))
            assert names(GROVE, "PodCliqueSet") == []
            assert names("apps/v1", "Deployment") == ["chat-frontend", "chat-worker"]

    asyncio.run(story())

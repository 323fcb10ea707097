"""The controller on a real cluster: adapters and restarts."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.cluster.bench import Bench
from tests.fakes import real
from tests.fakes.stage import graph, worker

Json = dict[str, Any]
OURS, GRAPH = "nvidia.com/v1alpha1", "DynamoGraphDeployment"
ADAPTER = "DynamoGraphDeploymentScalingAdapter"


def in_namespace(namespace: str, content: Json) -> Json:
    annotations = {"nvidia.com/enable-grove": "false"}
    return {**content, "metadata": {**content["metadata"], "namespace": namespace, "annotations": annotations}}


def test_a_scaled_adapter_leads_to_pods_and_is_not_written_back(cluster: Bench) -> None:
    namespace = "controller-adapter"
    cluster.ensure_namespaces([namespace])

    def pods() -> int:
        live = cluster.client.get("apps/v1", "Deployment", namespace=namespace)["items"]
        counts = {each["metadata"]["name"]: each.get("status", {}).get("readyReplicas", 0) for each in live}
        return int(counts.get("chat-worker", 0))

    async def story() -> None:
        async with real.running(cluster.kubeconfig, namespace) as at_work:
            cluster.client.create(in_namespace(namespace, graph(Worker=worker(scalingAdapter={"enabled": True}))))
            await at_work.until(lambda: pods() == 1)
            path = cluster.client.path(OURS, ADAPTER, "chat-worker", namespace)
            answer = cluster.client.send(
                "PATCH", f"{path}/scale", {"spec": {"replicas": 3}}, "application/merge-patch+json"
            )
            assert not answer.is_refusal, answer.message
            await at_work.until(lambda: pods() == 3)
            await at_work.quiet()
            adapter = cluster.client.get(OURS, ADAPTER, "chat-worker", namespace)
            assert (adapter["spec"]["replicas"], adapter["status"]["replicas"]) == (3, 3)
            wanted = cluster.client.get(OURS, GRAPH, "chat", namespace)["spec"]["services"]["Worker"]
            assert wanted["replicas"] == 3

    asyncio.run(story())


def test_a_sequential_restart_reaches_every_service_and_completes(cluster: Bench) -> None:
    namespace = "controller-restarts"
    cluster.ensure_namespaces([namespace])

    def status() -> Json:
        found: Json = cluster.client.get(OURS, GRAPH, "chat", namespace).get("status", {})
        return found

    def stamps() -> set[str | None]:
        live = cluster.client.get("apps/v1", "Deployment", namespace=namespace)["items"]
        templates = [each["spec"]["template"]["metadata"] for each in live]
        return {(each.get("annotations") or {}).get("nvidia.com/restartAt") for each in templates}

    async def story() -> None:
        async with real.running(cluster.kubeconfig, namespace) as at_work:
            cluster.client.create(in_namespace(namespace, graph()))
            await at_work.until(lambda: status().get("state") == "successful")
            content = in_namespace(namespace, graph())
            content["spec"]["restart"] = {"id": "r1"}
            cluster.client.apply(content)
            await at_work.until(lambda: status().get("restart", {}).get("phase") == "Completed")
            assert stamps() == {"r1"}
            await at_work.until(lambda: status().get("state") == "successful")

    asyncio.run(story())

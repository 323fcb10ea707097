"""The controller on a real cluster: graphs without Grove, with Deployments, a scheduler and simulated nodes."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.cluster.bench import Bench
from tests.fakes import real
from tests.fakes.real import Running
from tests.fakes.stage import graph, worker

Json = dict[str, Any]
OURS = "nvidia.com/v1alpha1"
NO_GROVE = {"nvidia.com/enable-grove": "false"}


def without_grove(namespace: str, content: Json) -> Json:
    metadata = {**content["metadata"], "namespace": namespace, "annotations": NO_GROVE}
    return {**content, "metadata": metadata}


def told(cluster: Bench, namespace: str, name: str = "chat") -> Json:
    status: Json = cluster.client.get(OURS, "DynamoGraphDeployment", name, namespace).get("status", {})
    return status


def is_ready(cluster: Bench, namespace: str, generation: int) -> bool:
    conditions = told(cluster, namespace).get("conditions") or [{}]
    return conditions[0].get("status") == "True" and conditions[0].get("observedGeneration") == generation


def versions(cluster: Bench, namespace: str) -> dict[str, str]:
    kinds = (
        (OURS, "DynamoGraphDeployment"),
        (OURS, "DynamoComponentDeployment"),
        ("apps/v1", "Deployment"),
        ("v1", "Service"),
        ("v1", "ServiceAccount"),
        ("rbac.authorization.k8s.io/v1", "Role"),
        ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    )
    return {
        f"{kind}/{live['metadata']['name']}": live["metadata"]["resourceVersion"]
        for api_version, kind in kinds
        for live in cluster.client.get(api_version, kind, namespace=namespace)["items"]
    }


async def ready(cluster: Bench, at_work: Running, namespace: str) -> None:
    cluster.client.create(without_grove(namespace, graph()))
    await at_work.until(lambda: is_ready(cluster, namespace, 1))


def test_a_graph_comes_to_ready_is_changed_and_then_rests(cluster: Bench) -> None:
    namespace = "controller-rest"
    cluster.ensure_namespaces([namespace])

    async def story() -> None:
        async with real.running(cluster.kubeconfig, namespace) as at_work:
            await ready(cluster, at_work, namespace)
            assert told(cluster, namespace)["state"] == "successful"
            changed = without_grove(namespace, graph(Worker=worker(replicas=3)))
            cluster.client.apply(changed)
            await at_work.until(lambda: is_ready(cluster, namespace, 2))
            assert told(cluster, namespace)["services"]["Worker"]["readyReplicas"] == 3
            await at_work.quiet()
            before, writes = versions(cluster, namespace), list(at_work.cluster.writes)
            at_work.manager.wake_everything()
            await at_work.quiet()
            assert at_work.cluster.writes == writes
            assert versions(cluster, namespace) == before

    asyncio.run(story())


def test_a_new_controller_on_a_converged_cluster_writes_nothing(cluster: Bench) -> None:
    namespace = "controller-restart"
    cluster.ensure_namespaces([namespace])

    async def story() -> None:
        async with real.running(cluster.kubeconfig, namespace) as at_work:
            await ready(cluster, at_work, namespace)
            await at_work.quiet()
        async with real.running(cluster.kubeconfig, namespace) as second:
            await second.quiet()
            assert second.cluster.writes == []

    asyncio.run(story())


def test_children_are_restored_and_pruned_and_foreign_ones_are_left_alone(cluster: Bench) -> None:
    namespace = "controller-children"
    cluster.ensure_namespaces([namespace])
    foreign = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "chat-decode", "namespace": namespace},
        "spec": {"ports": [{"name": "theirs", "port": 1}]},
    }

    def deployment(name: str) -> Json:
        return cluster.client.get("apps/v1", "Deployment", name, namespace)

    def uids() -> dict[str, str]:
        found = cluster.client.get("apps/v1", "Deployment", namespace=namespace)["items"]
        return {each["metadata"]["name"]: each["metadata"]["uid"] for each in found}

    def components() -> list[str]:
        found = cluster.client.get(OURS, "DynamoComponentDeployment", namespace=namespace)["items"]
        return [each["metadata"]["name"] for each in found]

    def is_told() -> bool:
        found = cluster.client.get(OURS, "DynamoComponentDeployment", namespace=namespace)["items"]
        told = [each.get("status", {}).get("conditions", ()) for each in found]
        return any('Service "chat-decode"' in each["message"] for conditions in told for each in conditions)

    async def story() -> None:
        async with real.running(cluster.kubeconfig, namespace) as at_work:
            await ready(cluster, at_work, namespace)
            uid = deployment("chat-worker")["metadata"]["uid"]
            cluster.client.delete(deployment("chat-worker"))
            cluster.client.apply(
                {
                    "apiVersion": "apps/v1",
                    "kind": "Deployment",
                    "metadata": {"name": "chat-frontend", "namespace": namespace},
                    "spec": {"replicas": 4},
                }
            )
            await at_work.until(lambda: uids().get("chat-worker", uid) != uid)
            await at_work.until(lambda: deployment("chat-frontend")["spec"]["replicas"] == 1)
            await at_work.until(lambda: is_ready(cluster, namespace, 1))
            theirs = cluster.client.create(foreign)
            cluster.client.apply(without_grove(namespace, graph(Decode=worker())))
            await at_work.until(is_told)
            assert cluster.client.get("v1", "Service", "chat-decode", namespace)["spec"] == theirs["spec"]
            cluster.client.apply(without_grove(namespace, graph()))
            await at_work.until(lambda: components() == ["chat-frontend", "chat-worker"])

    asyncio.run(story())

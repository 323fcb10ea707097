"""The controller in front of what others have made: the released operator, and itself under another profile (F30)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dynamo_controller.shell import Policy
from tests.cluster import released_objects
from tests.cluster.bench import Bench
from tests.fakes import real
from tests.fakes.stage import graph, worker

Json = dict[str, Any]
OURS, GRAPH = "nvidia.com/v1alpha1", "DynamoGraphDeployment"
SETTINGS: Json = {
    "discovery_backend": "kubernetes",
    "nats_address": "nats://nats:4222",
    "etcd_address": "",
    "ingress_class_name": "nginx",
    "ingress_host_suffix": "example.test",
}
STORIES = ("component-basic", "lws-basic", "grove-basic", "grove-multinode")
NO_GROVE = {"nvidia.com/enable-grove": "false"}
GROUPS = {"component": [], "grove": ["grove.io"], "lws": ["leaderworkerset.x-k8s.io", "scheduling.volcano.sh"]}


def of_path(path: str, namespace: str) -> Json:
    """Return a graph that goes one of the three ways."""
    content = graph("chat")
    if path == "lws":
        several = {"multinode": {"nodeCount": 2}, "resources": {"limits": {"gpu": "4"}}}
        content = graph("chat", Worker=worker(**several))
    content["metadata"] |= {"namespace": namespace, "annotations": {} if path == "grove" else NO_GROVE}
    return content


def running_deployments(cluster: Bench, namespace: str) -> bool:
    found = cluster.client.get("apps/v1", "Deployment", namespace=namespace)["items"]
    return all(each.get("status", {}).get("readyReplicas") for each in found)


def conditions(cluster: Bench, namespace: str, name: str) -> dict[str, tuple[str, str]]:
    status = cluster.client.get(OURS, GRAPH, name, namespace).get("status", {})
    return {each["type"]: (each["status"], each["reason"]) for each in status.get("conditions", ())}


def take_over(cluster: Bench, namespace: str, name: str, profile: str) -> None:
    """Let a controller take over, and hold what is there against what was there before."""
    before = released_objects.templates(cluster, namespace)
    assert before

    async def story() -> dict[str, str]:
        settings = {**SETTINGS, "profile": profile}
        async with real.running(cluster.kubeconfig, namespace, Policy(adopt=True), **settings) as at_work:
            await at_work.until(lambda: running_deployments(cluster, namespace))
            pods = released_objects.pods(cluster, namespace)
            await at_work.until(lambda: "Ready" in conditions(cluster, namespace, name))
            await at_work.quiet()
            return pods

    async def rest() -> list[tuple[str, str, str]]:
        settings = {**SETTINGS, "profile": profile}
        async with real.running(cluster.kubeconfig, namespace, Policy(adopt=True), **settings) as second:
            await second.quiet()
            return [write for write in second.cluster.writes if write[0] != "status"]

    pods = asyncio.run(story())
    assert released_objects.templates(cluster, namespace) == before
    assert released_objects.pods(cluster, namespace) == pods
    assert asyncio.run(rest()) == []


@pytest.mark.parametrize("profile", ["0.9-shipped", "0.9"])
@pytest.mark.parametrize("path", GROUPS)
def test_a_take_over_replaces_no_pod_and_leaves_the_released_operator_nothing(
    cluster: Bench, path: str, profile: str
) -> None:
    namespace = f"take-over-{path}-{profile.replace('.', '-')}"
    cluster.ensure_namespaces([namespace])
    content = of_path(path, namespace)
    facts = {"api_groups": GROUPS[path], "namespaces": {namespace: {"pull_secrets": {}}}}
    settings = {**SETTINGS, "restricted_namespace": namespace}
    released_objects.store(cluster, namespace, content, released_objects.rendered(content, settings, facts))
    take_over(cluster, namespace, "chat", profile)
    assert released_objects.foreign_fields(cluster, namespace) == {}


@pytest.mark.skipif(not released_objects.RECORDINGS.is_file(), reason="the recordings are not in this folder")
@pytest.mark.parametrize("story", STORIES)
def test_a_take_over_of_recorded_objects_replaces_no_pod(cluster: Bench, story: str) -> None:
    namespace = f"recorded-{story}"
    cluster.ensure_namespaces([namespace])
    resource, contents = released_objects.recorded(story, namespace)
    released_objects.store(cluster, namespace, resource, contents)
    take_over(cluster, namespace, resource["metadata"]["name"], "0.9-shipped")


@pytest.mark.parametrize("path", ["component", "grove"])
def test_a_newer_profile_waits_until_it_is_allowed(cluster: Bench, path: str) -> None:
    namespace = f"profile-{path}"
    cluster.ensure_namespaces([namespace])
    content = of_path(path, namespace)

    async def older() -> None:
        async with real.running(cluster.kubeconfig, namespace, profile="0.9-shipped") as at_work:
            cluster.client.create(content)
            await at_work.until(lambda: "Ready" in conditions(cluster, namespace, "chat"))
            await at_work.until(lambda: running_deployments(cluster, namespace))
            await at_work.quiet()

    async def newer(before: Json) -> None:
        async with real.running(cluster.kubeconfig, namespace, profile="0.9") as at_work:
            await at_work.until(lambda: "ProfileRollout" in conditions(cluster, namespace, "chat"))
            await at_work.quiet()
            assert conditions(cluster, namespace, "chat")["ProfileRollout"] == ("False", "Held")
            assert released_objects.templates(cluster, namespace) == before
            live = cluster.client.get(OURS, GRAPH, "chat", namespace)
            allowed = {**(live["metadata"].get("annotations") or {}), "nvidia.com/allow-profile-rollout": "0.9"}
            cluster.client.apply({**content, "metadata": {**content["metadata"], "annotations": allowed}})
            held = ("False", "Held")
            await at_work.until(lambda: conditions(cluster, namespace, "chat")["ProfileRollout"] != held)
            await at_work.quiet()

    asyncio.run(older())
    before = released_objects.templates(cluster, namespace)
    asyncio.run(newer(before))
    after = released_objects.templates(cluster, namespace)
    assert {name: after[name] != before[name] for name in before} == dict.fromkeys(before, True)

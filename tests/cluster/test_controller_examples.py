"""Every example of the repository on a real cluster: it comes to ready, and is applied once and never again.

This is where a difference between what a render says and what a server stores would show as an endless write.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dynamo_render import read_documents
from tests.cluster import bench
from tests.cluster.bench import Bench
from tests.fakes import real

Json = dict[str, Any]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
OURS = "nvidia.com/v1alpha1"
KINDS = ("DynamoGraphDeployment", "DynamoComponentDeployment")
CLAIM = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "none"}
STATES = {"pending", "successful"}
MORE_NODES = 12
GROVE, LWS = "grove.io/v1alpha1", "leaderworkerset.x-k8s.io/v1"
AVAILABLE = {"type": "Available", "status": "True", "reason": "Played", "message": ""}


def examples(namespace: str, *, grove: bool) -> Iterator[Json]:
    """Yield the graphs and component deployments of all examples, in one namespace and on one path."""
    for path in sorted(EXAMPLES.glob("*/graph.yaml")):
        for content in read_documents(path.read_text("utf-8"), path.name):
            if not isinstance(content, dict) or content["kind"] not in KINDS:
                continue
            metadata: Json = {"name": f"{path.parent.name}"[:20].strip("-"), "namespace": namespace}
            if not grove:
                metadata["annotations"] = {"nvidia.com/enable-grove": "false"}
            yield {**content, "metadata": {**content["metadata"], **metadata}}


def claims(wanted: list[Json]) -> set[str]:
    """Return the claims that the examples expect to find."""
    listed = [claim for content in wanted for claim in content["spec"].get("pvcs") or ()]
    return {claim["name"] for claim in listed if not claim.get("create")}


@pytest.mark.parametrize("grove", [True, False], ids=["grove", "component"])
def test_after_all_examples_are_applied_the_next_controller_writes_nothing(cluster: Bench, *, grove: bool) -> None:
    namespace = f"controller-examples-{'grove' if grove else 'component'}"
    cluster.ensure_namespaces([namespace])
    wanted = list(examples(namespace, grove=grove))
    assert len(wanted) >= 8

    for name in claims(wanted):
        metadata = {"name": name, "namespace": namespace}
        cluster.client.create(
            {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": CLAIM}
        )

    async def story() -> None:
        async with real.running(cluster.kubeconfig, namespace) as at_work:
            for content in wanted:
                cluster.client.create(content)
            await at_work.quiet(seconds=4.0)
            problems = {
                content["metadata"]["name"]: live["status"]["conditions"]
                for content in wanted
                if (live := cluster.client.get(OURS, content["kind"], content["metadata"]["name"], namespace))
                and live["status"].get("state", "pending") not in STATES
            }
            assert problems == {}
            assert len({write[1:] for write in at_work.cluster.writes}) > 5 * len(wanted)
        async with real.running(cluster.kubeconfig, namespace) as second:
            await second.quiet()
            assert second.cluster.writes == []

    asyncio.run(story())


@pytest.mark.parametrize("grove", [True, False], ids=["grove", "component"])
def test_every_example_comes_to_ready(cluster: Bench, *, grove: bool) -> None:
    """Pods run on simulated nodes; the test plays the controllers of Grove and of LeaderWorkerSets."""
    namespace = f"ready-examples-{'grove' if grove else 'component'}"
    cluster.ensure_namespaces([namespace])
    wanted = list(examples(namespace, grove=grove))

    def available(content: Json) -> list[Json]:
        status = cluster.client.get(OURS, content["kind"], content["metadata"]["name"], namespace).get("status", {})
        return [each for each in status.get("conditions", ()) if each["type"] in ("Ready", "Available")]

    def is_ready(content: Json) -> bool:
        conditions = available(content)
        return bool(conditions) and all(each["status"] == "True" for each in conditions)

    def all_ready() -> bool:
        play(cluster, namespace)
        return all(is_ready(content) for content in wanted)

    async def story() -> None:
        async with real.running(cluster.kubeconfig, namespace) as at_work:
            for content in wanted:
                cluster.client.create(content)
            with contextlib.suppress(TimeoutError):
                await at_work.until(all_ready, seconds=120.0)
            waiting = {each["metadata"]["name"]: available(each) for each in wanted if not is_ready(each)}
            assert waiting == {}
            for content in wanted:
                cluster.client.delete(content)
            await at_work.until(lambda: cluster.client.get("v1", "Pod", namespace=namespace)["items"] == [])

    with room_for(cluster, namespace, wanted):
        asyncio.run(story())


@contextlib.contextmanager
def room_for(cluster: Bench, namespace: str, wanted: list[Json]) -> Iterator[None]:
    """Have volumes for all claims and nodes that all pods accept, until the block ends."""
    listed = {claim["name"]: claim for content in wanted for claim in content["spec"].get("pvcs") or ()}
    expected: dict[str, Json] = {name: {} for name in claims(wanted) | (mounted(wanted) - listed.keys())}
    made = [cluster.client.create(volume(namespace, name, claim)) for name, claim in {**listed, **expected}.items()]
    for name in expected:
        metadata = {"name": name, "namespace": namespace}
        cluster.client.create(
            {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": CLAIM}
        )
    for index in range(MORE_NODES):
        node = bench.gpu_node(f"{namespace}-{index}")
        node["metadata"]["labels"] |= selected(wanted)
        made.append(cluster.client.create(node))
    try:
        yield
    finally:
        for each in made:
            cluster.client.delete(each)


def mounted(wanted: list[Json]) -> set[str]:
    """Return the claims that services mount by name."""
    services = [service for content in wanted for service in content["spec"].get("services", {}).values()]
    return {mount["name"] for service in services for mount in service.get("volumeMounts", ())}


def selected(value: Any) -> Json:
    """Return all labels of nodes that pods in *value* ask for."""
    found: Json = {}
    if isinstance(value, dict):
        found |= value["nodeSelector"] if isinstance(value.get("nodeSelector"), dict) else {}
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        found |= selected(inner)
    return found


def volume(namespace: str, name: str, claim: Json) -> Json:
    """Return a volume for one claim of an example, and no other: claims of other tests may wait for one, too."""
    modes = ["ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany"]
    storage = claim.get("storageClass", CLAIM["storageClassName"])
    bound = {"namespace": namespace, "name": name}
    spec = {"capacity": {"storage": "100Ti"}, "accessModes": modes, "storageClassName": storage, "claimRef": bound}
    metadata = {"name": f"{namespace}-{name}".lower()}
    path = {"hostPath": {"path": "/played"}}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": {**spec, **path}}


def play(cluster: Bench, namespace: str) -> None:
    """Do what Grove and the controller of LeaderWorkerSets would do, as far as statuses tell it."""
    for live in cluster.client.get(LWS, "LeaderWorkerSet", namespace=namespace)["items"]:
        counts = dict.fromkeys(("replicas", "readyReplicas", "updatedReplicas"), 1)
        told = {**AVAILABLE, "lastTransitionTime": "2026-01-01T00:00:00Z"}
        cluster.client.patch_status(live, {**counts, "conditions": [told]})
    for live in cluster.client.get(GROVE, "PodCliqueSet", namespace=namespace)["items"]:
        for kind, content in grown(live):
            there = cluster.client.get(GROVE, kind, namespace=namespace)["items"]
            found = [each for each in there if each["metadata"]["name"] == content["metadata"]["name"]]
            each = found[0] if found else cluster.client.create(content)
            count = each["spec"].get("replicas", 1)
            serving = "availableReplicas" if kind == "PodCliqueScalingGroup" else "readyReplicas"
            counts = dict.fromkeys(("replicas", "updatedReplicas", serving), count)
            status = {"observedGeneration": each["metadata"]["generation"], **counts}
            if each.get("status", {}).get("observedGeneration") != status["observedGeneration"]:
                cluster.client.patch_status(each, status)
        status = {"observedGeneration": live["metadata"]["generation"]}
        if live.get("status", {}).get("observedGeneration") != status["observedGeneration"]:
            cluster.client.patch_status(live, status)


def grown(cliques: Json) -> Iterator[tuple[str, Json]]:
    """Yield the scaling groups and the cliques outside of them that Grove makes of a PodCliqueSet."""
    metadata, template = cliques["metadata"], cliques["spec"]["template"]
    groups = template.get("podCliqueScalingGroups") or ()
    owner = {"apiVersion": GROVE, "kind": "PodCliqueSet", "name": metadata["name"], "uid": metadata["uid"]}
    base = {"namespace": metadata["namespace"], "ownerReferences": [{**owner, "controller": True}]}
    for group in groups:
        named = {**base, "name": f"{metadata['name']}-0-{group['name']}"}
        spec = {key: group[key] for key in ("replicas", "minAvailable", "cliqueNames") if key in group}
        yield (
            "PodCliqueScalingGroup",
            {"apiVersion": GROVE, "kind": "PodCliqueScalingGroup", "metadata": named, "spec": spec},
        )
    grouped = {name for group in groups for name in group["cliqueNames"]}
    for clique in template["cliques"]:
        if clique["name"] not in grouped:
            named = {**base, "name": f"{metadata['name']}-0-{clique['name']}", "labels": clique["labels"]}
            yield "PodClique", {"apiVersion": GROVE, "kind": "PodClique", "metadata": named, "spec": clique["spec"]}

"""Every example of the repository on a real cluster: a controller applies all of it once, and the next one nothing.

This is where a difference between what a render says and what a server stores would show as an endless write.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dynamo_render import read_documents
from tests.cluster.bench import Bench
from tests.fakes import real

Json = dict[str, Any]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
OURS = "nvidia.com/v1alpha1"
KINDS = ("DynamoGraphDeployment", "DynamoComponentDeployment")
CLAIM = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "none"}
STATES = {"pending", "successful"}


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

"""A controller that runs against a fake cluster, and the other controllers' parts for a test to play."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from random import Random
from types import TracebackType
from typing import Any, Self

from dynamo_controller.events import ClusterEvents
from dynamo_controller.manager import Manager, Outside
from dynamo_controller.ports import DiscoveryKeys, Keys
from dynamo_controller.shell import Policy
from dynamo_render import OperatorSettings
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeCluster
from tests.fakes.endpoints import FakeEndpoints

Json = dict[str, Any]
OURS = "nvidia.com/v1alpha1"
QUIET_TURNS = 12


class RecordingLog:
    """`dynamo_controller.ports.Log` as a list."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    def write(self, level: str, message: str, **_fields: object) -> None:
        self.lines.append((level, message))

    def mistakes(self) -> list[str]:
        """Return what was logged as an error: only mistakes of ours are."""
        return [message for level, message in self.lines if level == "error"]


class Stage:
    """The controller, from `async with` on. A story that ends with a mistake of the controller in the log fails."""

    def __init__(
        self,
        *groups: str,
        cluster: FakeCluster | None = None,
        clock: FakeClock | None = None,
        policy: Policy | None = None,
        endpoints: FakeEndpoints | None = None,
        keys: Keys | None = None,
        discovery: DiscoveryKeys | None = None,
        **settings: Any,
    ) -> None:
        self.cluster = cluster or FakeCluster(*groups)
        self.clock = clock or FakeClock()
        self.log = RecordingLog()
        self.endpoints = endpoints or FakeEndpoints()
        given = {"etcd_address": "etcd:2379", "nats_address": "nats://nats:4222", "restricted_namespace": "team"}
        outside = Outside(
            cluster=self.cluster,
            clock=self.clock,
            events=ClusterEvents(self.cluster, self.clock, self.log),
            log=self.log,
            chance=Random(1),  # noqa: S311 - spreads delays
            endpoints=self.endpoints,
            keys=keys,
            discovery=discovery,
        )
        self.manager = Manager(outside, OperatorSettings.from_mapping({**given, **settings}), workers=4, policy=policy)
        self._stop = asyncio.Event()

    async def __aenter__(self) -> Self:
        self.running = asyncio.create_task(self.manager.run(self._stop))
        await self.settle()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.end()
        if error is None:
            mistakes = self.log.mistakes()
            assert mistakes == [], mistakes

    async def end(self) -> None:
        """Stop the controller as a signal would."""
        self._stop.set()
        await self.running

    async def settle(self) -> None:
        """Return when the controller has nothing to do until time passes."""
        quiet = 0
        while quiet < QUIET_TURNS:
            if self.running.done():
                await self.running
            await asyncio.sleep(0)
            quiet = quiet + 1 if self.manager.is_idle else 0

    async def later(self, seconds: float) -> None:
        """Let time pass, one waking of a sleeper after the other."""
        await self.settle()
        end = self.clock.now + seconds
        while (wait := self.clock.next_waking()) is not None and self.clock.now + wait <= end:
            self.clock.advance(wait)
            await self.settle()
        self.clock.advance(end - self.clock.now)
        await self.settle()

    async def add(self, content: Json) -> Json:
        """Create an object as a user does, and let the controller do its part."""
        stored = self.cluster.put(content)
        await self.settle()
        return stored

    async def edit(self, kind: str, name: str, patch: Mapping[str, Any]) -> None:
        """Edit an object as a user does, and let the controller do its part."""
        self.cluster.edit(self.cluster.find(kind, name), patch)
        await self.settle()

    async def remove(self, kind: str, name: str) -> None:
        """Delete an object as a user does, and let the controller do its part."""
        self.cluster.remove(self.cluster.find(kind, name))
        await self.settle()

    async def roll_out(self, *names: str) -> None:
        """Play the Deployment controller: all pods of these Deployments, or of all, are there and ready."""
        for name in names or self.cluster.names("Deployment"):
            live = self.cluster.find("Deployment", name)
            self.cluster.set_status(live, rolled_out(live))
            await self.settle()

    async def grow(self, graph: str, *, ready: bool = True) -> None:
        """Play Grove: make what the PodCliqueSet of a graph asks for, with all pods ready or none."""
        cliques = self.cluster.find("PodCliqueSet", graph)
        for clique in cliques["spec"]["template"]["cliques"]:
            name = f"{graph}-0-{clique['name']}"
            if name not in self.cluster.names("PodClique"):
                self.cluster.put(pod_clique(name, clique))
            live = self.cluster.find("PodClique", name)
            self.cluster.set_status(live, clique_status(live, ready=ready))
        status = {"observedGeneration": cliques["metadata"]["generation"]}
        self.cluster.set_status(self.cluster.find("PodCliqueSet", graph), status)
        await self.settle()

    def status(self, name: str = "chat", kind: str = "DynamoGraphDeployment") -> Json:
        """Return the status of a resource."""
        found: Json = self.cluster.find(kind, name).get("status", {})
        return found

    def condition(self, name: str = "chat", kind: str = "DynamoGraphDeployment", of: str = "Ready") -> tuple[str, str]:
        """Return status and reason of a condition."""
        (found,) = [each for each in self.status(name, kind)["conditions"] if each["type"] == of]
        return found["status"], found["reason"]

    def event_reasons(self) -> list[str]:
        """Return the reasons of all events, sorted."""
        return sorted(live["reason"] for (kind, _, _), live in self.cluster.objects.items() if kind.kind == "Event")


def graph(name: str = "chat", **services: Json) -> Json:
    """Return a graph with a Frontend and a Worker, changed and completed by *services*."""
    own: Json = {
        "Frontend": {"componentType": "frontend", "replicas": 1, **_image("frontend:1")},
        "Worker": {"componentType": "worker", "replicas": 1, **_image("vllm:1")},
    }
    return {
        "apiVersion": OURS,
        "kind": "DynamoGraphDeployment",
        "metadata": {"name": name, "namespace": "team"},
        "spec": {"backendFramework": "vllm", "services": {**own, **services}},
    }


def worker(**more: Any) -> Json:
    """Return a worker service."""
    return {"componentType": "worker", "replicas": 1, **_image("vllm:1"), **more}


def _image(tag: str) -> Json:
    container = {"image": f"registry.test/{tag}", "command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", "m"]}
    return {"extraPodSpec": {"mainContainer": container}}


def rolled_out(deployment: Json) -> Json:
    """Return the status of a Deployment whose pods are all ready."""
    count = deployment["spec"].get("replicas", 1)
    counts = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), count)
    available = {"type": "Available", "status": "True"}
    return {"observedGeneration": deployment["metadata"]["generation"], "conditions": [available], **counts}


def pod_clique(name: str, template: Json) -> Json:
    """Return the PodClique that Grove makes of a template in a PodCliqueSet."""
    metadata = {"name": name, "namespace": "team", "labels": template["labels"]}
    spec = {"replicas": template["spec"]["replicas"], "podSpec": template["spec"]["podSpec"]}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "metadata": metadata, "spec": spec}


def clique_status(clique: Json, *, ready: bool) -> Json:
    """Return the status of a PodClique with all pods ready, or none."""
    count = clique["spec"]["replicas"]
    counts = {"replicas": count, "updatedReplicas": count, "readyReplicas": count if ready else 0}
    return {"observedGeneration": clique["metadata"]["generation"], **counts}

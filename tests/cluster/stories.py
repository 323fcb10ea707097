"""Plays recorded stories on a real cluster: the steps, and what their namespaces hold when everything is at rest again.

What the built-in controllers and simulated nodes do is theirs; Grove and LeaderWorkerSet are played by the steps. Pods,
ReplicaSets and EndpointSlices are not looked at, as the recordings hold none: their names are made up at random and
everything that leads to them is in the objects above. Knows nothing about who keeps the objects in place.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from random import Random
from typing import Any

import attrs

from dynamo_controller.adapters.clock import SystemClock
from dynamo_controller.adapters.kubernetes import KubernetesCluster
from dynamo_controller.kinds import WATCHED
from dynamo_controller.ports import Kind, Object, Selection
from dynamo_controller.store import Store
from dynamo_controller.watch import Reflector, Surroundings
from dynamo_controller.watching import is_served
from tests.cluster.bench import Bench
from tests.cluster.client import APPLY_PATCH, MERGE_PATCH
from tests.conformance import story_states
from tests.conformance.story_states import State
from tests.fakes.stage import RecordingLog

Json = dict[str, Any]

MORE_KINDS = (
    Kind("v1", "Secret"),
    Kind("v1", "ServiceAccount"),
    Kind("batch/v1", "Job"),
    Kind("autoscaling/v2", "HorizontalPodAutoscaler"),
    Kind("nvidia.com/v1alpha1", "DynamoModel"),
    Kind("nvidia.com/v1alpha1", "DynamoGraphDeploymentRequest"),
)
"""Namespaced kinds that stories may hold beside those that the controller watches."""

OF_THE_NAMESPACE = {"ServiceAccount/default", "ConfigMap/kube-root-ca.crt"}
"""What Kubernetes itself puts into every namespace."""

QUIET = 1.5
"""Seconds without any change after which a namespace is at rest, unless the step of a story asks for more."""

PATIENCE = 90.0
"""Seconds until a step counts as never coming to rest: the recordings had 40 on a machine that did nothing else."""

POLL = 0.1
CONFLICT = 409
INVALID, MISSING = 422, 404
"""What a server answers to an object that its schema refuses, which may be what a step is about, and to one that is not
there, where only the released operator has it: what comes of either is compared."""


class Mirror:
    """All objects of a cluster of the kinds that stories hold, and when each namespace last changed."""

    def __init__(self, kinds: list[Kind]) -> None:
        """Know nothing yet."""
        self.stores = {kind: Store(kind, lambda content: content, self._noted) for kind in kinds}
        self._changed: dict[str, float] = {}

    def contents(self, namespace: str) -> list[Json]:
        """Return all objects of *namespace* but those that Kubernetes puts into each."""
        mine = [dict(live) for store in self.stores.values() for live in store.inside(namespace)]
        return [live for live in mine if story_states.place(live) not in OF_THE_NAMESPACE]

    def quiet_for(self, namespace: str) -> float:
        """Return the seconds since anything in *namespace* changed."""
        return time.monotonic() - self._changed.get(namespace, 0.0)

    def touch(self, namespace: str) -> None:
        """Count *namespace* as changed now."""
        self._changed[namespace] = time.monotonic()

    def _noted(self, before: Object | None, now: Object | None) -> None:
        for each in (before, now):
            if each is not None:
                self.touch(each["metadata"].get("namespace", ""))


@contextlib.asynccontextmanager
async def mirror(bench: Bench) -> AsyncIterator[Mirror]:
    """Mirror the cluster of *bench* until the block ends."""
    cluster = await KubernetesCluster.connected(str(bench.kubeconfig))
    listed = dict.fromkeys((*(watched.kind for watched in WATCHED), *MORE_KINDS))
    groups = await cluster.groups()
    seen = Mirror([kind for kind in listed if kind.kind not in _LEFT_OUT and is_served(kind, groups)])
    around = Surroundings(cluster, SystemClock(), RecordingLog(), Random(1))  # noqa: S311 - spreads delays
    reflectors = [Reflector(Selection(kind), store, around) for kind, store in seen.stores.items()]
    tasks = [asyncio.create_task(reflector.run()) for reflector in reflectors]
    try:
        async with asyncio.timeout(PATIENCE):
            for reflector in reflectors:
                await reflector.synced.wait()
        yield seen
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await cluster.close()


_LEFT_OUT = ("ClusterRole", "Queue", "EndpointSlice")
"""Kinds that the controller watches and that are in no namespace, or have names made up at random."""


def namespace_of(story: Json) -> str:
    """Return the namespace in which a story is played."""
    return f"story-{story['id']}"


@attrs.frozen(eq=False)
class Player:
    """Plays stories on a *bench*. *is_idle* says whether the controller has nothing to do at the moment.

    Where no built-in controller adds to the statuses of steps, a status *replaces* the one before, as in recordings.
    """

    bench: Bench
    mirror: Mirror
    is_idle: Callable[[], bool]
    replaces_statuses: bool = False

    async def play(self, story: Json, agrees: Callable[[list[State]], bool]) -> list[State]:
        """Return what the namespace of *story* held after each step.

        A step ends when everything is at rest and the states so far *agree* with what was recorded, or when its time
        is over: a busy machine may rest before all has been done.
        """
        namespace = namespace_of(story)
        await asyncio.to_thread(self.bench.ensure_namespaces, [namespace])
        states: list[State] = []
        for entry in story["trace"]:
            step = entry["step"]
            await self._act(step, namespace)
            self.mirror.touch(namespace)
            states.append(await self._rest(step, namespace, lambda state: agrees([*states, state])))
        return states

    async def _rest(self, step: Json, namespace: str, agrees: Callable[[State], bool]) -> State:
        end = time.monotonic() + PATIENCE
        wanted = max(QUIET, float(step.get("quiet") or 0.0))
        at_rest = False
        while time.monotonic() < end:
            await asyncio.sleep(POLL)
            if self.mirror.quiet_for(namespace) < wanted or not self.is_idle():
                continue
            at_rest = True
            state = story_states.live_state(step, self.mirror.contents(namespace), namespace)
            if agrees(state):
                return state
            await asyncio.sleep(QUIET)
        return story_states.live_state(step, self.mirror.contents(namespace), namespace, settled=at_rest)

    async def _act(self, step: Json, namespace: str) -> None:
        await asyncio.to_thread(self._acts, step, namespace)

    def _acts(self, step: Json, namespace: str) -> None:
        action, target = next((key, value) for key, value in step.items() if key != "quiet")
        if action == "apply":
            content = {**target, "metadata": {**target["metadata"], "namespace": namespace}}
            path = self._path(target["kind"], target["metadata"]["name"], namespace, target["apiVersion"])
            self._send("PATCH", f"{path}?fieldManager=user&force=true", content, APPLY_PATCH)
            return
        path = self._path(target["kind"], target["name"], namespace)
        if action == "merge":
            self._send("PATCH", f"{path}?fieldManager=user", target["patch"], MERGE_PATCH)
        elif action == "status":
            status = dict(target["status"])
            if status.get("observedGeneration") == "current":
                status["observedGeneration"] = self.bench.client.send("GET", path).body["metadata"].get("generation", 1)
            if self.replaces_statuses:
                told = self.bench.client.send("GET", path).body.get("status") or {}
                status = {**dict.fromkeys(told), **status}
            self._send("PATCH", f"{path}/status?fieldManager=player", {"status": status}, MERGE_PATCH)
        elif action == "scale":
            patch = {"spec": {"replicas": target["replicas"]}}
            self._send("PATCH", f"{path}/scale?fieldManager=user", patch, MERGE_PATCH)
        elif action == "delete":
            self._send("DELETE", f"{path}?propagationPolicy={target.get('propagation', 'Background')}")
        else:
            raise ValueError(f"a story has the step {action}, which nobody knows")

    def _send(self, method: str, path: str, body: Json | None = None, content: str = "application/json") -> None:
        answer = self.bench.client.send(method, path, body, content)
        if answer.is_refusal and answer.status not in (INVALID, MISSING):
            raise RuntimeError(f"{method} {path}: {answer.message}")

    def _path(self, kind: str, name: str, namespace: str, api_version: str = "") -> str:
        versions = (known.api_version for known in self.mirror.stores if known.kind == kind)
        return self.bench.client.path(api_version or next(versions), kind, name, namespace)

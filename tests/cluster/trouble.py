"""A story with a fault in it, and the same one without: a controller behind a proxy, and what must hold in the end.

A story is a row of specs of one graph, one after the other. The controller runs in the test; faults that need a process
of its own are elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import attrs

from dynamo_controller.adapters.kubernetes import Limits
from tests.cluster import oracles
from tests.cluster.bench import Bench
from tests.cluster.harms import Harm
from tests.cluster.oracles import GRAPH, OURS
from tests.cluster.proxy import Proxy
from tests.fakes import real
from tests.fakes.real import Running
from tests.fakes.stage import graph

Json = dict[str, Any]
Story = tuple[Json, ...]
"""The contents of one graph, in the order in which a user applies them."""

READY_LIMIT = 60.0
QUIET = 0.8


def placed(namespace: str, content: Json, *, grove: bool = False) -> Json:
    """Return a copy of *content* in *namespace*, on the component path unless *grove*."""
    metadata: Json = {**content["metadata"], "namespace": namespace}
    if not grove:
        metadata["annotations"] = {**metadata.get("annotations", {}), "nvidia.com/enable-grove": "false"}
    return copy.deepcopy({**content, "metadata": metadata})


CREATED: Story = (graph(),)


@attrs.frozen(eq=False)
class Sound:
    """How a story ends, and which writes it takes, where nothing goes wrong."""

    state: Mapping[str, Json]
    writes: Counter[str]


@attrs.frozen(eq=False)
class Trouble:
    """A controller *at_work* behind a *proxy* in one *namespace* of a *bench*, with objects of others beside it."""

    bench: Bench
    namespace: str
    proxy: Proxy
    at_work: Running
    theirs: Mapping[str, Json]

    def apply(self, content: Json) -> Json:
        """Apply a graph as a user does."""
        return self.bench.client.apply(placed(self.namespace, content))

    def find(self, kind: str, name: str = "chat", api_version: str = OURS) -> Json:
        """Return a live object; raises where there is none."""
        return self.bench.client.get(api_version, kind, name, self.namespace)

    def names(self, kind: str, api_version: str = OURS) -> list[str]:
        """Return the names of all objects of a kind but those of others."""
        found = self.bench.client.get(api_version, kind, namespace=self.namespace)["items"]
        names = [each["metadata"]["name"] for each in found]
        return [name for name in names if not name.startswith(oracles.BYSTANDER)]

    def is_ready(self, name: str = "chat") -> bool:
        """Whether a graph is ready as it stands."""
        found = self.find(GRAPH, name)
        ready = (found.get("status", {}).get("conditions") or [{}])[0]
        return ready.get("status") == "True" and ready["observedGeneration"] == found["metadata"]["generation"]

    async def until(self, is_true: Callable[[], Any], *, seconds: float = READY_LIMIT) -> None:
        """Return when *is_true*; raise TimeoutError with the end of the log otherwise."""
        await self.at_work.until(is_true, seconds=seconds)

    async def ready(self, name: str = "chat") -> None:
        """Return when a graph is ready as it stands."""
        await self.until(lambda: self.is_ready(name))

    async def play(self, story: Story) -> None:
        """Apply what a story has, each when the one before is ready."""
        for content in story:
            await asyncio.to_thread(self.apply, content)
            await self.ready(content["metadata"]["name"])
        await self.at_work.quiet(seconds=QUIET)

    async def holds(self, sound: Sound, *, factor: int = 2, templates: int = 1) -> None:
        """Hold the cluster, and what was written, to a *sound* run: all five oracles."""
        await self.ready()
        await self.at_work.quiet(seconds=QUIET)
        require_none("O1", oracles.differences(oracles.end_state(self.bench.client, self.namespace), sound.state))
        require_none("O2", oracles.excess(self.proxy.writes(), sound.writes, factor=factor))
        await self.rests()
        self.keeps_templates(templates)
        require_none("O5", oracles.touched(self.bench.client, self.theirs))

    async def rests(self) -> None:
        """See that another pass over everything writes nothing (O3)."""
        before = len(self.proxy.writes())
        self.at_work.manager.wake_everything()
        await self.at_work.quiet(seconds=QUIET)
        require_none("O3", [each.target for each in self.proxy.writes()[before:]])

    def keeps_templates(self, count: int = 1) -> None:
        """See that no workload has had more than *count* pod templates (O4)."""
        written = oracles.templates(self.proxy.writes())
        require_none("O4, written", {name: found for name, found in written.items() if found > count})
        rolled = oracles.rollouts(self.bench.client, self.namespace)
        require_none("O4, rolled out", {name: found for name, found in rolled.items() if found > count})


def require_none(oracle: str, found: Collection[Any]) -> None:
    """Fail with what an oracle has *found*, if it is anything."""
    assert not found, f"{oracle}: {found}"


@contextlib.asynccontextmanager
async def troubled(
    bench: Bench, folder: Path, namespace: str, *harms: Harm, limits: Limits | None = None, **settings: Any
) -> AsyncIterator[Trouble]:
    """Run a controller for *namespace* behind a proxy that does *harms*."""
    bench.ensure_namespaces([namespace])
    theirs = oracles.bystanders(bench.client, namespace)
    with Proxy(bench, folder, *harms) as proxy:
        async with real.running(proxy.kubeconfig, namespace, limits=limits, **settings) as at_work:
            yield Trouble(bench, namespace, proxy, at_work, theirs)


class SoundRuns:
    """Plays each story once without faults, when it is first asked for."""

    def __init__(self, bench: Bench, folder: Path) -> None:
        """Play nothing yet."""
        self._bench = bench
        self._folder = folder
        self._known: dict[str, Sound] = {}

    async def of(self, story: Story = CREATED) -> Sound:
        """Return how *story* ends without faults."""
        text = json.dumps(story, sort_keys=True)
        if text not in self._known:
            namespace = f"sound-{len(self._known)}"
            async with troubled(self._bench, self._folder, namespace) as trouble:
                await trouble.play(story)
                state = oracles.end_state(self._bench.client, namespace)
                self._known[text] = Sound(state, oracles.sorts(trouble.proxy.writes()))
        return self._known[text]

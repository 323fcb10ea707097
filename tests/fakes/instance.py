"""Whole controller processes against one fake cluster, each with its own clock, and the time that passes for all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import attrs

from dynamo_controller.events import ClusterEvents
from dynamo_controller.manager import Outside
from dynamo_controller.process import Process
from dynamo_controller.settings import ControllerSettings
from dynamo_controller.telling import BREATH
from dynamo_render import OperatorSettings
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeCluster
from tests.fakes.stage import RecordingLog

QUIET_TURNS, MOST_TURNS = 25, 5000
STEP = 0.5

ELECTING = ControllerSettings(leader_elect=True, leader_election_namespace="system")


class Instance:
    """One process, from its start on. Asleep, its clock goes on and none of its sleepers wakes."""

    def __init__(self, cluster: FakeCluster, name: str, own: ControllerSettings, **settings: Any) -> None:
        self.clock, self.log = FakeClock(), RecordingLog()
        self.cluster = cluster
        self.is_awake = True
        outside = Outside(
            cluster=cluster,
            clock=self.clock,
            events=ClusterEvents(cluster, self.clock, self.log),
            log=self.log,
            chance=Random(1),  # noqa: S311 - spreads delays
        )
        self.metrics = outside.metrics
        given = {"planner_cluster_role": "planner", **settings}
        self.process = Process(outside, OperatorSettings.from_mapping(given), own, name)
        self.stop = asyncio.Event()
        self.task = asyncio.create_task(self.process.run(self.stop))

    def value(self, name: str, **labels: str) -> float | None:
        """Return one value of the metrics."""
        return self.metrics.registry.get_sample_value(name, labels)

    @property
    def is_quiet(self) -> bool:
        """Whether there is nothing to do until something happens."""
        return self.process.manager.is_idle and self.process.events.is_idle

    @property
    def makes_no_pass(self) -> bool:
        """Whether there is nothing but events left to do; after the stop, what waits is not begun."""
        return self.process.manager.is_idle or self.stop.is_set()


@attrs.frozen(eq=False)
class World:
    """A cluster and the processes that look after it."""

    cluster: FakeCluster = attrs.field(factory=FakeCluster)
    instances: list[Instance] = attrs.field(factory=list)

    async def start(self, name: str, own: ControllerSettings = ELECTING, **settings: Any) -> Instance:
        """Start a process and let it do what it can."""
        instance = Instance(self.cluster, name, own, **settings)
        instance.clock.now = max((each.clock.now for each in self.instances), default=0.0)
        self.instances.append(instance)
        await self.settle()
        return instance

    async def end(self, instance: Instance) -> None:
        """Stop a process as a signal would."""
        instance.stop.set()
        await instance.task
        self.instances.remove(instance)

    async def settle(self) -> None:
        """Return when all have done what they can without time passing, but for a breath before an event."""
        quiet = resting = 0
        for _ in range(MOST_TURNS):
            await asyncio.sleep(0)
            quiet = quiet + 1 if all(each.is_quiet for each in self.instances) else 0
            if quiet > QUIET_TURNS:
                return
            resting = resting + 1 if all(each.makes_no_pass for each in self.instances) else 0
            if resting > QUIET_TURNS:
                for each in self.instances:
                    each.clock.advance(BREATH if each.is_awake else 0.0)
                resting = 0
        raise TimeoutError("the controllers never come to rest")

    async def later(self, seconds: float) -> None:
        """Let time pass."""
        for _ in range(int(seconds / STEP)):
            for each in self.instances:
                if each.is_awake:
                    each.clock.advance(STEP)
                else:
                    each.clock.now += STEP
            await self.settle()


@asynccontextmanager
async def world(*groups: str) -> AsyncIterator[World]:
    """Give a world to a story, and end all its processes."""
    made = World(FakeCluster(*groups))
    try:
        yield made
    finally:
        for each in made.instances:
            each.task.cancel()
        await asyncio.gather(*(each.task for each in made.instances), return_exceptions=True)
    for each in made.instances:
        assert each.log.mistakes() == []

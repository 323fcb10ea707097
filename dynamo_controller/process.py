"""The whole process around the passes: who may write when, what others can ask it, and an orderly stop. Wiring only."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from typing import Any

import attrs

from dynamo_controller.adapters.serving import serving
from dynamo_controller.admission import Surroundings
from dynamo_controller.admitting import admitting
from dynamo_controller.events import ClusterEvents
from dynamo_controller.forwarding import Fenced
from dynamo_controller.health import Check, Health, Reachability
from dynamo_controller.leases import Candidacy, Election
from dynamo_controller.manager import STARTING, Manager, Outside
from dynamo_controller.markers import Mark, MarkerWriter
from dynamo_controller.ports import Address, Handler, Object
from dynamo_controller.settings import ControllerSettings
from dynamo_controller.shell import Policy
from dynamo_controller.telemetry import Counted
from dynamo_controller.telling import ToldLater
from dynamo_render import OperatorSettings

NOT_LEADING = "another process leads"
NOT_MARKED = "others may not know that the namespace is ours"
LEFT_OUT = "the namespace is left to a restricted controller"


def policy_of(own: ControllerSettings) -> Policy:
    """Return what the settings of the program let it do."""
    return Policy(adopt=own.adopt, allow_profile_rollouts=own.allow_profile_rollouts)


class Process:
    """A controller with everything around it, from `run` until the stop."""

    def __init__(self, outside: Outside, render: OperatorSettings, own: ControllerSettings, identity: str) -> None:
        """Start nothing yet; *identity* is what other processes see in the Lease."""
        self._own = own
        self._render = render
        self._counted = Counted(outside.cluster, outside.metrics, outside.clock)
        fenced = Fenced(self._counted, self._objection)
        recorder = ClusterEvents(fenced, outside.clock, outside.log, outside.metrics, identity)
        self.events = ToldLater(recorder, outside.clock, outside.log, outside.metrics, self._is_work)
        self._outside = attrs.evolve(outside, cluster=fenced, events=self.events)
        self.manager = Manager(self._outside, render, workers=own.workers, policy=policy_of(own))
        self._election = self._candidate(identity) if own.leader_elect else None
        self._marker = self._marker_writer() if render.restricted_namespace else None
        self._reachability = Reachability(self._counted, outside.clock, outside.log)
        self._stopping = ""
        self.health = Health(self._checks(lambda: False))
        self._measure()

    async def run(self, stop: asyncio.Event) -> None:
        """Keep all resources in place, and answer whoever asks, until *stop*. Raises CannotListen."""
        around = Surroundings(
            settings=self._render,
            groups=lambda: self.manager.shell.groups.names,
            is_excluded=lambda namespace: namespace in self.manager.marked,
        )
        told = self._outside.metrics.reviewed
        async with admitting(self._own, around, attrs.evolve(self._outside, cluster=self._counted), told) as admits:
            self.health = Health(self._checks(admits))
            async with (
                self._served("health", self._own.health_address, self._probes()),
                self._served("metrics", self._own.metrics_address, {"/metrics": self._outside.metrics.exposed}),
            ):
                await self._until(stop)

    async def _until(self, stop: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as tasks:
            background = [tasks.create_task(each.run()) for each in self._parts()]
            await self.manager.run(stop)
            self._stopping = "the process stops"
            await self.events.flush()
            for task in background:
                task.cancel()
        # Only now that nothing is written any more others may take over, and then they should not have to wait.
        await asyncio.gather(*self._farewells())

    def _parts(self) -> list[Reachability | ToldLater | Election | MarkerWriter]:
        optional = [part for part in (self._election, self._marker) if part is not None]
        return [self._reachability, self.events, *optional]

    def _farewells(self) -> Iterator[Coroutine[Any, Any, None]]:
        if self._marker is not None:
            yield self._marker.end()
        if self._election is not None:
            yield self._election.release()

    # Who may write

    def _candidate(self, identity: str) -> Election:
        own = self._own
        candidacy = Candidacy(
            namespace=own.leader_election_namespace,
            name=own.leader_election_id,
            identity=identity,
            lease_duration=own.leader_election_lease_duration,
            renew_deadline=own.leader_election_renew_deadline,
            retry_period=own.leader_election_retry_period,
        )
        self.manager.hold(NOT_LEADING)
        outside = self._outside
        return Election(self._counted, outside.clock, outside.log, outside.chance, candidacy, self._lead)

    def _marker_writer(self) -> MarkerWriter:
        own = self._own
        mark = Mark(
            namespace=self._render.restricted_namespace,
            version=own.operator_version,
            duration=own.namespace_scope_lease_duration,
            interval=own.namespace_scope_lease_renew_interval,
        )
        self.manager.hold(NOT_MARKED)
        return MarkerWriter(self._counted, self._outside.clock, self._outside.log, mark, self._be_marked)

    def _lead(self, is_leading: bool) -> None:  # noqa: FBT001 - a callback
        self._let(NOT_LEADING, may_work=is_leading)

    def _be_marked(self, is_marked: bool) -> None:  # noqa: FBT001 - a callback
        self._let(NOT_MARKED, may_work=is_marked)

    def _let(self, reason: str, *, may_work: bool) -> None:
        """Let passes begin or not; after a time without them, what they would have found is looked at anew."""
        if may_work:
            self.manager.resume(reason)
            self.manager.wake_everything()
        else:
            self.manager.hold(reason)
            self.events.drop()

    def _objection(self, target: Object) -> str:
        """Say why *target* must not be written now; asked at the last moment before each write of a pass."""
        if self._election is not None and not self._election.is_leading():
            return NOT_LEADING
        if self._marker is not None and not self._marker.is_marked():
            return NOT_MARKED
        if not self._render.restricted_namespace and target["metadata"].get("namespace", "") in self.manager.marked:
            return LEFT_OUT
        return ""

    def _is_work(self) -> bool:
        """Whether passes wait for their turn."""
        return len(self.manager.queue) > 0

    # What others can ask

    def _measure(self) -> None:
        metrics, manager = self._outside.metrics, self.manager
        metrics.leading.set_function(lambda: float(self._election is None or self._election.is_leading()))
        metrics.ready.set_function(lambda: float(not self.health.reasons()))
        metrics.marked.set_function(lambda: len(manager.marked))
        metrics.count_resources(lambda: manager.tally.counts(manager.leaves_out))

    def _checks(self, admits: Callable[[], bool]) -> Mapping[str, Check]:
        return {
            "stop": lambda: self._stopping,
            "watches": lambda: "" if self.manager.ready.is_set() else STARTING,
            "server": self._reachability.check,
            "webhook": lambda: "" if admits() else "there is no certificate yet",
        }

    def _probes(self) -> Mapping[str, Handler]:
        return {"/healthz": self.health.alive, "/readyz": self.health.ready}

    @contextlib.asynccontextmanager
    async def _served(self, purpose: str, address: str, routes: Mapping[str, Handler]) -> AsyncIterator[None]:
        wanted = Address.parsed(address)
        if wanted is None:
            yield
            return
        async with serving(purpose, wanted, routes, self._outside.log) as port:
            self._outside.log.write("info", f"serving {purpose}", port=port, paths=sorted(routes))
            yield

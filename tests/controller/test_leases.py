"""Leader election: who may write when, whatever happens to the lease, the clocks and the API server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from dynamo_controller.leases import LEASE, Candidacy, Election
from dynamo_controller.ports import ClusterError, Object
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeCluster
from tests.fakes.stage import RecordingLog

Json = dict[str, Any]
TURNS = 30


class Candidate:
    """One process that takes part, with a clock of its own."""

    def __init__(self, cluster: FakeCluster, name: str, clock: FakeClock) -> None:
        self.clock = clock
        self.log = RecordingLog()
        self.changes: list[bool] = []
        chance = Random(1)  # noqa: S311 - spreads delays
        candidacy = Candidacy(namespace="system", name="lease", identity=name)
        self.election = Election(cluster, clock, self.log, chance, candidacy, self.changes.append)
        self.task = asyncio.create_task(self.election.run())

    @property
    def leads(self) -> bool:
        return self.election.is_leading()


class Place:
    """A cluster in which candidates meet; what `later` passes over is checked for two leaders all the time."""

    def __init__(self) -> None:
        self.cluster = FakeCluster()
        self.candidates: list[Candidate] = []

    async def join(self, name: str, clock: FakeClock | None = None) -> Candidate:
        candidate = Candidate(self.cluster, name, clock or FakeClock())
        self.candidates.append(candidate)
        await self.settle()
        return candidate

    async def settle(self) -> None:
        for _ in range(TURNS):
            await asyncio.sleep(0)
            assert sum(each.leads for each in self.candidates) <= 1

    async def later(self, seconds: float, *awake: Candidate) -> None:
        """Let time pass; candidates that are not *awake* sleep through it, as a paused process does."""
        for _ in range(int(seconds * 4)):
            for each in self.candidates:
                if not awake or each in awake:
                    each.clock.advance(0.25)
                else:
                    each.clock.now += 0.25
            await self.settle()

    def lease(self) -> Json:
        return self.cluster.find("Lease", "lease", "system")

    def edit(self, **spec: Any) -> None:
        self.cluster.edit(self.lease(), {"spec": spec})


@asynccontextmanager
async def place() -> AsyncIterator[Place]:
    made = Place()
    try:
        yield made
    finally:
        for each in made.candidates:
            each.task.cancel()


def of_leases(error: ClusterError) -> Any:
    def fault(_verb: str, target: Json) -> ClusterError | None:
        return error if target.get("kind") == "Lease" else None

    return fault


async def test_the_first_candidate_leads_and_its_lease_says_so() -> None:
    async with place() as here:
        first = await here.join("first")
        assert first.leads
        assert first.changes == [True]
        assert here.lease()["spec"] == {
            "holderIdentity": "first",
            "leaseDurationSeconds": 15,
            "acquireTime": "2026-01-01T00:00:00.000000Z",
            "renewTime": "2026-01-01T00:00:00.000000Z",
            "leaseTransitions": 0,
        }


async def test_a_leader_renews_and_the_second_candidate_waits() -> None:
    async with place() as here:
        first, second = await here.join("first"), await here.join("second")
        await here.later(120)
        assert (first.leads, second.leads) == (True, False)
        assert first.changes == [True]
        spec = here.lease()["spec"]
        assert spec["renewTime"] > "2026-01-01T00:01:57"
        assert spec["acquireTime"] == "2026-01-01T00:00:00.000000Z"


async def test_a_leader_that_stops_hands_over_without_a_wait() -> None:
    async with place() as here:
        first, second = await here.join("first"), await here.join("second")
        first.task.cancel()
        await first.election.release()
        assert not first.leads
        assert here.lease()["spec"]["holderIdentity"] == ""
        await here.later(3)
        assert second.leads
        assert here.lease()["spec"]["leaseTransitions"] == 1


async def test_whoever_does_not_lead_releases_nothing() -> None:
    async with place() as here:
        await here.join("first")
        second = await here.join("second")
        await second.election.release()
        assert here.lease()["spec"]["holderIdentity"] == "first"


async def test_a_leader_that_dies_is_followed_when_its_lease_is_over() -> None:
    async with place() as here:
        first, second = await here.join("first"), await here.join("second")
        first.task.cancel()
        await here.later(14, second)
        assert not second.leads
        await here.later(5, second)
        assert second.leads


async def test_a_leader_that_was_paused_may_not_write_before_it_has_looked() -> None:
    """Nothing of the process has run since its lead was over: the question itself must know."""
    async with place() as here:
        first, second = await here.join("first"), await here.join("second")
        await here.later(20, second)
        assert first.changes == [True]
        assert (first.leads, second.leads) == (False, True)
        await here.later(5)
        assert (first.leads, second.leads) == (False, True)
        assert first.changes == [True, False]
        assert any("no longer leading" in message for _, message in first.log.lines)


async def test_a_leader_that_cannot_reach_the_server_gives_up_before_its_lease_is_over_and_leads_again_later() -> None:
    async with place() as here:
        first = await here.join("first")
        here.cluster.faults.append(of_leases(ClusterError(0, "Unreachable", "no route")))
        await here.later(9)
        assert first.leads
        await here.later(1.25)
        assert not first.leads
        assert first.changes == [True, False]
        here.cluster.faults.clear()
        await here.later(3)
        assert first.leads


async def test_a_request_that_hangs_does_not_make_the_lead_longer() -> None:
    async with place() as here:
        first = await here.join("first")
        plain = here.cluster.merge

        async def hanging(target: Object, patch: Object) -> Json:
            await asyncio.Event().wait()
            return await plain(target, patch)

        here.cluster.merge = hanging  # type: ignore[method-assign]
        await here.later(11)
        assert first.changes == [True, False]
        here.cluster.merge = plain  # type: ignore[method-assign]
        await here.later(3)
        assert first.leads


async def test_trouble_is_told_once_however_often_it_is_met() -> None:
    async with place() as here:
        first = await here.join("first")
        here.cluster.faults.append(of_leases(ClusterError(403, "Forbidden", 'cannot patch resource "leases"')))
        await here.later(60)
        told = [message for _, message in first.log.lines if 'cannot patch resource "leases"' in message]
        assert len(told) == 1


async def test_whoever_waits_says_once_for_whom() -> None:
    async with place() as here:
        await here.join("first")
        second = await here.join("second")
        await here.later(30)
        assert second.log.lines == [("info", "waiting for the lease system/lease, held by first")]


async def test_a_lease_that_is_deleted_is_made_again_by_its_leader() -> None:
    async with place() as here:
        first, second = await here.join("first"), await here.join("second")
        here.cluster.remove(here.lease())
        await here.later(30)
        assert (first.leads, second.leads) == (True, False)
        assert first.changes == [True]
        assert here.lease()["spec"]["holderIdentity"] == "first"


async def test_a_lease_that_somebody_gives_to_another_is_given_up() -> None:
    async with place() as here:
        first = await here.join("first")
        here.edit(holderIdentity="somebody", renewTime="2030-01-01T00:00:00.000000Z")
        await here.later(2)
        assert not first.leads
        assert first.changes == [True, False]
        await here.later(20)
        assert first.leads
        assert here.lease()["spec"]["leaseTransitions"] == 1


async def test_a_holder_that_was_wiped_out_is_nobodys_invitation() -> None:
    """The holder believes to lead until its next renewal; only a lease that was given up is free at once."""
    async with place() as here:
        first = await here.join("first")
        second = await here.join("second")
        here.edit(holderIdentity="")
        await here.later(20)
        assert (first.leads, second.leads) == (True, False)


async def test_other_edits_of_the_lease_change_nothing() -> None:
    async with place() as here:
        first = await here.join("first")
        for _ in range(10):
            here.cluster.edit(here.lease(), {"metadata": {"labels": {"seen": str(first.clock.now)}}})
            await here.later(2)
        assert first.leads
        assert first.changes == [True]


async def test_clocks_that_disagree_by_hours_do_no_harm() -> None:
    async with place() as here:
        ahead, behind = FakeClock(), FakeClock()
        ahead.now = 36_000.0
        first, second = await here.join("first", behind), await here.join("second", ahead)
        await here.later(60)
        assert (first.leads, second.leads) == (True, False)
        first.task.cancel()
        await here.later(19, second)
        assert second.leads


async def test_many_candidates_have_one_leader_whatever_happens() -> None:
    """Leaders die, pause, release, and the lease is edited and deleted, in a mixture that can be repeated."""
    chance = Random(5)  # noqa: S311 - a repeatable mixture
    async with place() as here:
        for name in "abc":
            await here.join(name)
        terms = 0
        for _ in range(60):
            paused = [each for each in here.candidates if chance.random() < 0.2]
            match chance.randrange(4):
                case 0 if here.cluster.names("Lease"):
                    here.edit(renewTime=None)
                case 1 if here.cluster.names("Lease"):
                    here.cluster.remove(here.lease())
                case _:
                    pass
            await here.later(6, *(each for each in here.candidates if each not in paused))
            terms += sum(each.leads for each in here.candidates)
        assert terms > 30


def test_the_kind_is_the_one_of_kubernetes() -> None:
    assert (LEASE.api_version, LEASE.kind) == ("coordination.k8s.io/v1", "Lease")

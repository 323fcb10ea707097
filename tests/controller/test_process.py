"""Whole processes: which of them writes, what they say of themselves, and how they stop."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from dynamo_controller.adapters.authority import SystemAuthority
from dynamo_controller.adapters.certificate_files import CertificateFiles
from dynamo_controller.ports import ClusterError, Object, Request
from dynamo_controller.settings import ControllerSettings
from tests.cluster.processes import free_ports, is_open
from tests.controller.test_admission import review
from tests.controller.test_admitting import answer
from tests.fakes.instance import Instance, world
from tests.fakes.stage import graph, worker

Json = dict[str, Any]
GRAPH = "DynamoGraphDeployment"
ALONE = ControllerSettings()


def unreachable(verb: str, _target: Json) -> ClusterError | None:
    return ClusterError(0, "Unreachable", f"{verb}: no route to host")


async def readiness(instance: Instance) -> tuple[int, str]:
    answer = await instance.process.health.ready(Request("GET", "/readyz"))
    return answer.status, answer.body.decode()


async def test_without_an_election_a_process_writes_at_once() -> None:
    async with world() as here:
        here.cluster.put(graph())
        only = await here.start("only", ALONE)
        assert "chat-worker" in here.cluster.names("Deployment")
        assert here.cluster.names("Lease") == []
        assert only.value("dynamo_controller_leader") == 1


async def test_of_two_processes_one_writes_and_the_other_is_warm() -> None:
    async with world() as here:
        first, second = await here.start("first"), await here.start("second")
        here.cluster.put(graph())
        await here.later(2)
        assert "chat-worker" in here.cluster.names("Deployment")
        assert second.value("dynamo_controller_queue_depth") != 0
        assert [each.value("dynamo_controller_leader") for each in (first, second)] == [1, 0]
        assert await readiness(second) == (200, "ok\n")
        wrote = second.value("dynamo_controller_api_writes_total", verb="apply", kind="Deployment", result="ok")
        assert wrote is None


async def test_the_other_process_goes_on_where_a_stopped_one_ended() -> None:
    async with world() as here:
        first, second = await here.start("first"), await here.start("second")
        here.cluster.put(graph())
        await here.settle()
        await here.end(first)
        here.cluster.writes.clear()
        await here.later(4)
        assert second.value("dynamo_controller_leader") == 1
        assert [name for _verb, kind, name in here.cluster.writes if kind != "Lease"] == []
        here.cluster.edit(here.cluster.find(GRAPH, "chat"), {"spec": {"services": {"Decode": worker()}}})
        await here.settle()
        assert "chat-decode" in here.cluster.names("Deployment")


async def test_a_process_that_was_paused_writes_nothing_when_it_wakes_and_another_leads() -> None:
    async with world() as here:
        first, second = await here.start("first"), await here.start("second")
        here.cluster.put(graph())
        await here.settle()
        first.is_awake = False
        await here.later(20)
        assert second.value("dynamo_controller_leader") == 1
        before = first.value("dynamo_controller_api_writes_total", verb="apply", kind="Deployment", result="ok")
        # The graph changes while the first process still believes to lead: nothing of it has run yet.
        here.cluster.edit(here.cluster.find(GRAPH, "chat"), {"spec": {"services": {"Decode": worker()}}})
        await here.settle()
        first.is_awake = True
        await here.later(5)
        after = first.value("dynamo_controller_api_writes_total", verb="apply", kind="Deployment", result="ok")
        assert after == before
        assert "chat-decode" in here.cluster.names("Deployment")
        assert [each.value("dynamo_controller_leader") for each in (first, second)] == [0, 1]


async def test_a_pass_under_way_when_the_lead_ends_is_held_back_in_the_middle() -> None:
    """The pause falls between two writes of one pass."""
    async with world() as here:
        first = await here.start("first")

        def pause(verb: str, target: Json) -> ClusterError | None:
            if verb == "apply" and target["kind"] == "DynamoComponentDeployment":
                first.clock.now += 60
            return None

        here.cluster.faults.append(pause)
        here.cluster.put(graph())
        await here.settle()
        assert here.cluster.names("DynamoComponentDeployment") == ["chat-frontend"]
        assert any("held back" in message for _level, message in first.log.lines)
        here.cluster.faults.clear()
        await here.later(10)
        assert here.cluster.names("DynamoComponentDeployment") == ["chat-frontend", "chat-worker"]


async def test_a_server_that_is_away_makes_the_process_unready_and_nothing_has_to_be_restarted() -> None:
    async with world() as here:
        only = await here.start("only")
        assert await readiness(only) == (200, "ok\n")
        here.cluster.faults.append(unreachable)
        here.cluster.end_watches()
        await here.later(60)
        status, body = await readiness(only)
        assert status == 503
        assert "server: the API server is out of reach: reach: no route to host" in body
        assert only.value("dynamo_controller_ready") == 0
        assert (await only.process.health.alive(Request("GET", "/healthz"))).status == 200
        here.cluster.faults.clear()
        here.cluster.put(graph())
        await here.later(60)
        assert await readiness(only) == (200, "ok\n")
        assert "chat-worker" in here.cluster.names("Deployment")


async def test_a_server_that_is_away_is_not_asked_in_a_circle() -> None:
    async with world() as here:
        await here.start("only")
        asked: list[str] = []

        def count(verb: str, target: Json) -> ClusterError | None:
            asked.append(verb)
            return unreachable(verb, target)

        here.cluster.faults.append(count)
        here.cluster.end_watches()
        await here.later(60)
        by_verb = {verb: asked.count(verb) for verb in set(asked)}
        assert by_verb["reach"] <= 13
        assert by_verb["get"] + by_verb.get("merge", 0) <= 40
        # Some twenty kinds, each a few times.
        assert by_verb["watch"] + by_verb.get("list", 0) <= 250


async def test_before_everything_was_listed_once_a_process_is_not_ready() -> None:
    async with world() as here:
        here.cluster.faults.append(unreachable)
        only = await here.start("only", ALONE)
        status, body = await readiness(only)
        assert status == 503
        assert "watches: watches are not warm yet" in body


async def test_a_stop_takes_the_mark_off_and_gives_the_lease_up_after_the_last_write() -> None:
    async with world() as here:
        only = await here.start("only", restricted_namespace="team")
        here.cluster.put(graph())
        await here.settle()
        assert here.cluster.names("Lease") == ["dynamo-operator-namespace-scope", "dynamo.nvidia.com"]
        await here.end(only)
        assert here.cluster.names("Lease") == ["dynamo.nvidia.com"]
        assert here.cluster.find("Lease", "dynamo.nvidia.com", "system")["spec"]["holderIdentity"] == ""
        last = [kind for _verb, kind, _name in here.cluster.writes[-2:]]
        assert last == ["Lease", "Lease"]


@pytest.mark.parametrize("last", range(1, 15))
async def test_a_stop_at_any_write_ends_the_pass_and_then_gives_up_the_lease(last: int) -> None:
    """F18: nothing is written after the lease is free, and the next process completes what is missing."""
    async with world() as here:
        first = await here.start("first")
        seen: list[str] = []

        def stop(verb: str, target: Json) -> ClusterError | None:
            if verb in {"apply", "status"} and target["kind"] != "Lease":
                seen.append(target["kind"])
                if len(seen) == last:
                    first.stop.set()
            return None

        here.cluster.faults.append(stop)
        here.cluster.put(graph())
        await here.settle()
        assert len(seen) >= last, "there are fewer writes than this"
        await first.task
        here.instances.remove(first)
        assert here.cluster.writes[-1] == ("edit", "Lease", "dynamo.nvidia.com")
        assert here.cluster.find("Lease", "dynamo.nvidia.com", "system")["spec"]["holderIdentity"] == ""
        await here.start("second")
        await here.later(2)
        assert {"chat-frontend", "chat-worker"} <= set(here.cluster.names("Deployment"))


async def test_a_stop_before_anything_was_reached_ends_the_process() -> None:
    async with world() as here:
        here.cluster.faults.append(unreachable)
        only = await here.start("only")
        await here.end(only)
        assert only.log.mistakes() == []


async def test_a_restricted_process_writes_nothing_before_its_namespace_is_marked() -> None:
    async with world() as here:
        words = 'leases is forbidden: cannot create resource "leases"'

        def no_marks(verb: str, target: Object) -> ClusterError | None:
            is_mark = verb == "create" and target["kind"] == "Lease"
            return ClusterError(403, "Forbidden", words) if is_mark else None

        here.cluster.faults.append(no_marks)
        here.cluster.put(graph())
        only = await here.start("only", ALONE, restricted_namespace="team")
        await here.later(15)
        assert here.cluster.names("DynamoComponentDeployment") == []
        assert any(words in message for _level, message in only.log.lines)
        here.cluster.faults.clear()
        await here.later(15)
        assert here.cluster.names("DynamoComponentDeployment") == ["chat-frontend", "chat-worker"]


async def listening(port: int) -> None:
    """Return when somebody listens: a real port takes real time."""
    async with asyncio.timeout(10):
        while not is_open(port):  # noqa: ASYNC110 - a port has no event for it
            await asyncio.sleep(0.01)


async def test_a_process_whose_webhook_has_no_certificate_is_not_ready(tmp_path: Path) -> None:
    """A Service sends nothing to a pod that could not answer."""
    (port,) = free_ports(1)
    own = ControllerSettings(webhook_address=f"localhost:{port}", webhook_certificates=str(tmp_path))
    async with world() as here:
        only = await here.start("only", own)
        await listening(port)
        await here.later(1)
        assert await readiness(only) == (503, "webhook: there is no certificate yet\n")
        pair = SystemAuthority().issued(["localhost"])
        CertificateFiles(tmp_path).write(pair.certificate, pair.key)
        await here.later(2)
        assert await readiness(only) == (200, "ok\n")


async def test_in_a_marked_namespace_the_webhook_lets_everything_through(tmp_path: Path) -> None:
    """Another controller is responsible there, and has a webhook of its own."""
    (port,) = free_ports(1)
    pair = SystemAuthority().issued(["localhost"])
    CertificateFiles(tmp_path).write(pair.certificate, pair.key)
    own = ControllerSettings(webhook_address=f"localhost:{port}", webhook_certificates=str(tmp_path))
    refused = json.dumps(review(graph(Worker=worker(ingress={"enabled": True})))).encode()

    async def is_allowed() -> bool:
        status, body = await answer(port, refused, pair)
        assert status == 200
        return bool(json.loads(body)["response"]["allowed"])

    async with world() as here:
        await here.start("wide", own, restricted_namespace="")
        await listening(port)
        assert not await is_allowed()
        await here.start("near", ALONE, restricted_namespace="team")
        await here.later(11)
        assert await is_allowed()

"""Whether a process says that it is ready: by its checks, and by how long ago the API server was in reach."""

from __future__ import annotations

import asyncio

from dynamo_controller.health import Health, Reachability
from dynamo_controller.ports import ClusterError, Request
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeCluster, Json
from tests.fakes.stage import RecordingLog


class Asked:
    def __init__(self) -> None:
        self.cluster, self.clock, self.log = FakeCluster(), FakeClock(), RecordingLog()
        self.reachability = Reachability(self.cluster, self.clock, self.log)
        self.task = asyncio.create_task(self.reachability.run())

    async def later(self, seconds: float) -> None:
        for _ in range(int(seconds)):
            self.clock.advance(1.0)
            for _turn in range(10):
                await asyncio.sleep(0)


async def test_all_reasons_are_told_each_in_a_line() -> None:
    health = Health({"one": lambda: "no", "two": lambda: "", "three": lambda: "not yet"})
    answer = await health.ready(Request("GET", "/readyz"))
    assert (answer.status, answer.body) == (503, b"one: no\nthree: not yet\n")
    assert (await health.alive(Request("GET", "/healthz"))).status == 200


async def test_a_server_that_answers_is_in_reach_and_one_that_has_not_yet_is_not() -> None:
    asked = Asked()
    assert "has not answered yet" in asked.reachability.check()
    await asked.later(1)
    assert asked.reachability.check() == ""
    asked.task.cancel()


async def test_a_short_outage_is_no_reason_and_a_long_one_is() -> None:
    asked = Asked()
    await asked.later(1)
    asked.cluster.faults.append(lambda _verb, _target: ClusterError(500, "", "etcd failed"))
    await asked.later(12)
    assert asked.reachability.check() == ""
    await asked.later(10)
    assert asked.reachability.check() == "the API server is out of reach: etcd failed"
    asked.cluster.faults.clear()
    await asked.later(6)
    assert asked.reachability.check() == ""
    assert len([level for level, _message in asked.log.lines if level == "warning"]) == 1
    asked.task.cancel()


async def test_a_server_that_does_not_let_us_ask_has_answered() -> None:
    asked = Asked()
    asked.cluster.faults.append(lambda _verb, _target: ClusterError(403, "Forbidden", "no"))
    await asked.later(1)
    assert asked.reachability.check() == ""
    asked.task.cancel()


async def test_a_server_that_never_answers_is_out_of_reach() -> None:
    asked = Asked()
    await asked.later(1)

    async def silence() -> None:
        await asyncio.Event().wait()

    asked.cluster.reach = silence  # type: ignore[method-assign]
    await asked.later(30)
    assert asked.reachability.check() == "the API server is out of reach: no answer within 5 s"
    asked.task.cancel()


def test_the_fake_is_asked_as_the_real_one() -> None:
    """A fault of tests sees the question under this name."""
    cluster = FakeCluster()
    seen: list[str] = []

    def note(verb: str, _target: Json) -> None:
        seen.append(verb)

    cluster.faults.append(note)
    asyncio.run(cluster.reach())
    assert seen == ["reach"]

"""Events in the background: nobody waits for them, and none is lost without being counted."""

from __future__ import annotations

import asyncio
from typing import Any, Self

import pytest

from dynamo_controller import telling
from dynamo_controller.ports import Object
from dynamo_controller.telemetry import Metrics
from dynamo_controller.telling import FAREWELL, ToldLater
from tests.fakes.clock import FakeClock
from tests.fakes.stage import RecordingLog, graph

RESOURCE: dict[str, Any] = {**graph(), "metadata": {**graph()["metadata"], "uid": "u-1", "resourceVersion": "7"}}


class SlowRecorder:
    """Records one event for each `allow`."""

    def __init__(self) -> None:
        self.recorded: list[tuple[str, str]] = []
        self.subjects: list[Object] = []
        self._may = asyncio.Semaphore(0)

    def allow(self, count: int) -> None:
        for _ in range(count):
            self._may.release()

    async def record(self, resource: Object, _sort: str, reason: str, message: str, when: str) -> None:
        await self._may.acquire()
        if message == "broken":
            raise ValueError(message)
        self.subjects.append(resource)
        self.recorded.append((reason, when))


class Line:
    def __init__(self) -> None:
        self.recorder, self.clock, self.log, self.metrics = SlowRecorder(), FakeClock(), RecordingLog(), Metrics()
        self.is_work = False
        self.events = ToldLater(self.recorder, self.clock, self.log, self.metrics, lambda: self.is_work)

    async def __aenter__(self) -> Self:
        self.running = asyncio.create_task(self.events.run())
        return self

    async def __aexit__(self, *_error: object) -> None:
        self.running.cancel()
        await asyncio.gather(self.running, return_exceptions=True)

    async def tell(self, *reasons: str, message: str = "") -> None:
        for reason in reasons:
            await self.events.tell(RESOURCE, "Normal", reason, message)

    def dropped(self) -> float | None:
        return self.metrics.registry.get_sample_value("dynamo_controller_events_dropped_total")


async def turns() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_who_tells_does_not_wait_for_the_record() -> None:
    async with Line() as line:
        await line.tell("A", "B", "C", "D")
        await turns()
        assert line.recorder.recorded == []
        assert not line.events.is_idle


async def test_everything_that_is_told_is_recorded_in_its_order() -> None:
    async with Line() as line:
        await line.tell("A", "B", "C", "D", "E")
        line.recorder.allow(5)
        await turns()
        assert [reason for reason, _when in line.recorder.recorded] == ["A", "B", "C", "D", "E"]
        assert line.events.is_idle


async def test_an_event_has_the_time_at_which_it_was_told() -> None:
    async with Line() as line:
        await line.tell("A")
        line.clock.advance(60)
        line.recorder.allow(1)
        await turns()
        assert line.recorder.recorded == [("A", "2026-01-01T00:00:00Z")]


async def test_of_a_resource_that_waits_only_its_identity_is_kept() -> None:
    async with Line() as line:
        await line.tell("A")
        line.recorder.allow(1)
        await turns()
        identity = {"name": "chat", "namespace": "team", "uid": "u-1", "resourceVersion": "7"}
        assert line.recorder.subjects == [
            {"apiVersion": RESOURCE["apiVersion"], "kind": RESOURCE["kind"], "metadata": identity}
        ]


async def test_of_too_many_events_the_oldest_are_dropped_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "MOST", 3)
    line = Line()
    await line.tell("A", "B", "C", "D", "E")
    async with line:
        line.recorder.allow(3)
        await turns()
    assert [reason for reason, _when in line.recorder.recorded] == ["C", "D", "E"]
    assert line.dropped() == 2


async def test_a_mistake_about_one_event_goes_to_the_log_and_ends_no_other() -> None:
    async with Line() as line:
        await line.tell("A", message="broken")
        await line.tell("B")
        line.recorder.allow(2)
        await turns()
        assert [reason for reason, _when in line.recorder.recorded] == ["B"]
        assert line.log.mistakes() == ["mistake in an event: ValueError('broken')"]


async def test_what_waits_at_the_stop_is_recorded() -> None:
    async with Line() as line:
        await line.tell("A", "B", "C")
        flushing = asyncio.create_task(line.events.flush())
        await turns()
        assert not flushing.done()
        line.recorder.allow(3)
        await flushing
        assert len(line.recorder.recorded) == 3


async def test_a_stop_does_not_wait_for_ever_for_events() -> None:
    async with Line() as line:
        await line.tell("A", "B", "C")
        flushing = asyncio.create_task(line.events.flush())
        await turns()
        line.clock.advance(FAREWELL)
        await flushing
        assert line.recorder.recorded == []
        assert line.dropped() == 3 - telling.WRITERS


async def test_who_must_not_write_any_more_drops_what_waits_and_counts_it() -> None:
    async with Line() as line:
        await line.tell("A", "B", "C", "D")
        await turns()
        line.events.drop()
        line.recorder.allow(4)
        await turns()
        assert len(line.recorder.recorded) == telling.WRITERS
        assert line.dropped() == 4 - telling.WRITERS
        assert line.events.is_idle


async def test_while_there_is_work_events_are_recorded_one_after_a_while() -> None:
    async with Line() as line:
        line.is_work = True
        await line.tell("A", "B", "C", "D", "E")
        line.recorder.allow(5)
        await turns()
        assert line.recorder.recorded == []
        line.clock.advance(telling.BREATH)
        await turns()
        assert [reason for reason, _when in line.recorder.recorded] == ["A", "B"]
        line.is_work = False
        line.clock.advance(telling.BREATH)
        await turns()
        assert [reason for reason, _when in line.recorder.recorded] == ["A", "B", "C", "D", "E"]
        assert line.events.is_idle


async def test_what_is_dropped_while_a_writer_waits_is_not_recorded() -> None:
    async with Line() as line:
        line.is_work = True
        await line.tell("A")
        await turns()
        line.events.drop()
        line.clock.advance(telling.BREATH)
        line.recorder.allow(1)
        await turns()
        assert line.recorder.recorded == []


async def test_at_the_stop_events_no_longer_wait_for_work() -> None:
    async with Line() as line:
        line.is_work = True
        await line.tell("A", "B", "C", "D")
        await turns()
        flushing = asyncio.create_task(line.events.flush())
        line.recorder.allow(4)
        await turns()
        line.clock.advance(telling.BREATH)
        await flushing
        assert len(line.recorder.recorded) == 4

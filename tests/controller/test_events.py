"""Events: one object for the same words about the same resource, with a count."""

from __future__ import annotations

from typing import Any

from dynamo_controller.events import SILENCE, ClusterEvents
from dynamo_controller.ports import ClusterError
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeCluster
from tests.fakes.stage import RecordingLog, graph

Json = dict[str, Any]


class Teller:
    def __init__(self, cluster: FakeCluster | None = None, clock: FakeClock | None = None) -> None:
        self.cluster, self.clock, self.log = cluster or FakeCluster(), clock or FakeClock(), RecordingLog()
        self.events = ClusterEvents(self.cluster, self.clock, self.log, identity="host_1")
        self.resource = {**graph(), "metadata": {**graph()["metadata"], "uid": "u-1", "resourceVersion": "7"}}

    async def tell(self, reason: str = "ReconcileError", message: str = "no") -> None:
        await self.events.tell(self.resource, "Warning", reason, message)

    def stored(self) -> list[Json]:
        return [live for (kind, _, _), live in self.cluster.objects.items() if kind.kind == "Event"]


async def test_an_event_says_what_is_wrong_with_what_and_who_says_so() -> None:
    teller = Teller()
    await teller.tell()
    (event,) = teller.stored()
    assert event["involvedObject"] == {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoGraphDeployment",
        "name": "chat",
        "namespace": "team",
        "uid": "u-1",
        "resourceVersion": "7",
    }
    assert (event["type"], event["reason"], event["message"], event["count"]) == ("Warning", "ReconcileError", "no", 1)
    assert event["reportingInstance"] == "host_1"


async def test_the_same_words_are_not_written_again_for_a_while() -> None:
    teller = Teller()
    for _ in range(5):
        await teller.tell()
        teller.clock.advance(SILENCE / 10)
    (event,) = teller.stored()
    assert event["count"] == 1


async def test_after_a_while_the_count_says_how_often_it_happened() -> None:
    teller = Teller()
    for _ in range(5):
        await teller.tell()
    teller.clock.advance(SILENCE)
    await teller.tell()
    (event,) = teller.stored()
    assert event["count"] == 6
    assert (event["firstTimestamp"], event["lastTimestamp"]) == ("2026-01-01T00:00:00Z", "2026-01-01T00:10:00Z")


async def test_a_new_process_goes_on_with_the_count() -> None:
    first = Teller()
    await first.tell()
    second = Teller(first.cluster, first.clock)
    await second.tell()
    (event,) = second.stored()
    assert event["count"] == 2


async def test_other_words_are_another_event() -> None:
    teller = Teller()
    await teller.tell(message="no")
    await teller.tell(message="never")
    await teller.tell(reason="ForeignObject")
    teller.resource["metadata"]["uid"] = "u-2"
    await teller.tell()
    assert len(teller.stored()) == 4


async def test_an_event_that_the_server_has_forgotten_is_made_again() -> None:
    teller = Teller()
    await teller.tell()
    teller.cluster.objects.clear()
    teller.clock.advance(SILENCE)
    await teller.tell()
    (event,) = teller.stored()
    assert event["count"] == 1


async def test_a_name_that_is_long_and_a_message_that_is_long_fit() -> None:
    teller = Teller()
    teller.resource["metadata"]["name"] = "n" * 253
    await teller.tell(message="m" * 5000)
    (event,) = teller.stored()
    assert len(event["metadata"]["name"]) <= 253
    assert len(event["message"]) == 1024


async def test_an_event_that_is_refused_goes_to_the_log() -> None:
    teller = Teller()
    words = 'events is forbidden: cannot create resource "events"'
    teller.cluster.faults.append(lambda _verb, _target: ClusterError(403, "Forbidden", words))
    await teller.tell()
    assert teller.stored() == []
    assert [words in message for _level, message in teller.log.lines] == [True]

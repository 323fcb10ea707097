"""The queue of keys: one worker for one key, no wake-up lost, and delays."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from dynamo_controller.queue import FIRST_DELAY, LONGEST_DELAY, SPREAD, URGENT_IN_A_ROW, Closed, Queue
from tests.fakes.clock import FakeClock


def empty() -> tuple[Queue[str], FakeClock]:
    clock = FakeClock()
    return Queue(clock, Random(1)), clock  # noqa: S311 - spreads delays


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_key_that_is_added_twice_comes_once() -> None:
    queue, _clock = empty()
    for key in ("a", "b", "a"):
        queue.add(key)
    assert [await queue.next(), await queue.next(), len(queue)] == ["a", "b", 0]


async def test_a_key_that_a_worker_has_comes_again_when_the_worker_is_done() -> None:
    queue, _clock = empty()
    queue.add("a")
    key = await queue.next()
    queue.add("a")
    assert len(queue) == 0
    queue.done(key)
    assert await queue.next() == "a"


async def test_a_worker_that_waits_gets_what_comes() -> None:
    queue, _clock = empty()
    waiting = asyncio.create_task(queue.next())
    await turns()
    queue.add("a")
    assert await waiting == "a"


async def test_a_key_that_fails_comes_again_after_longer_and_longer() -> None:
    queue, _clock = empty()
    delays = []
    for _ in range(20):
        delays.append(queue.retry("a"))
        queue._later.pop("a")[1].cancel()
    assert FIRST_DELAY <= delays[0] <= FIRST_DELAY * (1 + SPREAD)
    assert delays[5] > 16 * delays[0]
    assert LONGEST_DELAY <= delays[-1] <= LONGEST_DELAY * (1 + SPREAD)


async def test_a_key_that_succeeded_starts_with_short_delays_again() -> None:
    queue, _clock = empty()
    for _ in range(6):
        queue.retry("a")
    queue.forget("a")
    assert queue.retry("a") <= FIRST_DELAY * (1 + SPREAD)


async def test_a_server_that_names_a_time_is_not_asked_before() -> None:
    queue, _clock = empty()
    assert queue.retry("a", 7.0) >= 7.0


async def test_of_several_times_for_one_key_the_earliest_counts() -> None:
    queue, clock = empty()
    queue.add_later("a", 10.0)
    queue.add_later("a", 2.0)
    queue.add_later("a", 30.0)
    await turns()
    clock.advance(2.0)
    await turns()
    assert len(queue) == 1
    assert await queue.next() == "a"
    queue.done("a")
    clock.advance(60.0)
    await turns()
    assert len(queue) == 0


async def test_a_closed_queue_lets_everybody_go() -> None:
    queue, clock = empty()
    waiting = [asyncio.create_task(queue.next()) for _ in range(3)]
    queue.add_later("a", 1.0)
    await turns()
    queue.close()
    answers = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(answer) for answer in answers] == [Closed] * 3
    clock.advance(5.0)
    queue.add("b")
    with pytest.raises(Closed):
        await queue.next()


async def test_a_line_that_is_held_gives_out_nothing_until_every_reason_is_gone() -> None:
    queue, _clock = empty()
    queue.hold("one")
    queue.hold("two")
    queue.add("a")
    waiting = asyncio.create_task(queue.next())
    await turns()
    queue.resume("one")
    await turns()
    assert not waiting.done()
    assert queue.is_idle
    queue.resume("two")
    assert await waiting == "a"


async def test_a_line_that_is_held_lets_everybody_go_when_it_is_closed() -> None:
    queue, _clock = empty()
    queue.hold("one")
    waiting = asyncio.create_task(queue.next())
    await turns()
    queue.close()
    with pytest.raises(Closed):
        await waiting


async def test_how_long_a_key_has_waited_is_told() -> None:
    clock = FakeClock()
    waits: list[float] = []
    queue: Queue[str] = Queue(clock, Random(1), waits.append)  # noqa: S311 - spreads delays
    queue.add("a")
    clock.advance(2.0)
    queue.add("a")
    await queue.next()
    assert waits == [2.0]


async def test_no_key_has_two_workers_and_no_wake_up_is_lost_however_they_fall() -> None:
    """Keys are added at random while four workers are at it; after the last add of a key, a pass must follow."""
    queue, _clock = empty()
    chance = Random(7)  # noqa: S311 - a repeatable mixture
    wanted = dict.fromkeys("abc", 0)
    seen = dict.fromkeys("abc", -1)
    at_work: set[str] = set()

    async def work() -> None:
        while True:
            try:
                key = await queue.next()
            except Closed:
                return
            assert key not in at_work
            at_work.add(key)
            version = wanted[key]
            for _ in range(chance.randrange(4)):
                await asyncio.sleep(0)
            seen[key] = version
            at_work.discard(key)
            queue.done(key)

    workers = [asyncio.create_task(work()) for _ in range(4)]
    for _ in range(500):
        key = chance.choice("abc")
        wanted[key] += 1
        queue.add(key)
        if chance.random() < 0.5:
            await asyncio.sleep(0)
    for _ in range(50):
        await asyncio.sleep(0)
    queue.close()
    await asyncio.gather(*workers)
    assert seen == wanted


async def test_an_urgent_key_goes_before_all_that_wait() -> None:
    queue, _clock = empty()
    queue.add("a")
    queue.add("b", urgent=True)
    assert [await queue.next(), await queue.next()] == ["b", "a"]


async def test_a_key_that_waits_and_becomes_urgent_overtakes_and_comes_once() -> None:
    queue, _clock = empty()
    for key in ("a", "b"):
        queue.add(key)
    queue.add("b", urgent=True)
    queue.add("b")
    assert [await queue.next(), await queue.next(), len(queue)] == ["b", "a", 0]


async def test_a_key_that_becomes_urgent_while_a_worker_has_it_is_next_when_the_worker_is_done() -> None:
    queue, _clock = empty()
    queue.add("a")
    key = await queue.next()
    queue.add("b")
    queue.add("a")
    queue.add("a", urgent=True)
    assert len(queue) == 1
    queue.done(key)
    assert [await queue.next(), await queue.next(), len(queue)] == ["a", "b", 0]


async def test_urgent_keys_without_end_do_not_keep_the_others_waiting_for_ever() -> None:
    queue, _clock = empty()
    queue.add("patient")
    given = []
    for number in range(2 * URGENT_IN_A_ROW):
        queue.add(f"urgent-{number}", urgent=True)
        given.append(await queue.next())
    assert given.index("patient") == URGENT_IN_A_ROW


async def test_a_key_is_urgent_once() -> None:
    queue, _clock = empty()
    queue.add("a", urgent=True)
    queue.done(await queue.next())
    queue.add("a")
    queue.add("b", urgent=True)
    assert await queue.next() == "b"

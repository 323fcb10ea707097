"""Keys that wait for a worker: each at most once in the line and with one worker at a time, no wake-up lost.

Urgent keys stand in a line of their own and go first, but never so that the others wait for ever.

Knows neither what a key stands for nor what a worker does.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from random import Random
from typing import Generic, TypeVar

from dynamo_controller.ports import Clock

Key = TypeVar("Key", bound=Hashable)

FIRST_DELAY, LONGEST_DELAY = 0.1, 120.0
"""Seconds until the first and between later attempts at a key that fails; they double in between."""

SPREAD = 0.25
"""The share of a delay that chance may add, so that keys that failed together do not come back together."""


URGENT_IN_A_ROW = 8
"""How many urgent keys go before one of the others, if one waits."""


class Closed(Exception):
    """The queue gives out no more keys."""


class Queue(Generic[Key]):
    """A line of keys. A key that is added while a worker has it comes again when that worker is done."""

    def __init__(self, clock: Clock, chance: Random, waited: Callable[[float], None] = lambda _seconds: None) -> None:
        """Start empty; *waited* hears how many seconds each key has stood in the line."""
        self._clock = clock
        self._chance = chance
        self._line: OrderedDict[Key, None] = OrderedDict()
        self._urgent: OrderedDict[Key, None] = OrderedDict()
        self._hurried: set[Key] = set()
        self._in_a_row = 0
        self._waited = waited
        self._holds: set[str] = set()
        self._waiting: dict[Key, float] = {}
        self._worked_on: set[Key] = set()
        self._failures: dict[Key, int] = {}
        self._later: dict[Key, tuple[float, asyncio.Task[None]]] = {}
        self._changed = asyncio.Event()
        self._is_closed = False

    def __len__(self) -> int:
        """Return how many keys wait, those with a worker not among them."""
        return len(self._line) + len(self._urgent)

    @property
    def is_idle(self) -> bool:
        """Whether no key can be given out or has a worker; keys that come later do not count."""
        return not self._worked_on and (bool(self._holds) or not self._waiting)

    def hold(self, reason: str) -> None:
        """Give out no keys until `resume` with the same *reason*, and with every other one there is."""
        self._holds.add(reason)

    def resume(self, reason: str) -> None:
        """Give out keys again, unless there are other reasons not to."""
        self._holds.discard(reason)
        self._changed.set()

    @property
    def holds(self) -> tuple[str, ...]:
        """Why no keys are given out."""
        return tuple(sorted(self._holds))

    def add(self, key: Key, *, urgent: bool = False) -> None:
        """Put *key* in the line, unless it stands there already; an *urgent* one goes before those that are not."""
        is_known = key in self._waiting
        if self._is_closed or (is_known and (not urgent or key in self._hurried)):
            return
        if urgent:
            self._hurried.add(key)
        self._waiting.setdefault(key, self._clock.monotonic())
        if key not in self._worked_on:
            self._stand(key)

    def add_later(self, key: Key, seconds: float) -> None:
        """Put *key* in the line after *seconds*; of several times for one key, the earliest counts."""
        due = self._clock.monotonic() + seconds
        planned = self._later.get(key)
        if self._is_closed or (planned is not None and planned[0] <= due):
            return
        if planned is not None:
            planned[1].cancel()
        self._later[key] = due, asyncio.ensure_future(self._wait_for(key, seconds))

    def retry(self, key: Key, at_least: float = 0.0) -> float:
        """Put *key* in the line later, each time after a longer delay, and return that many seconds."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        delay: float = max(at_least, min(LONGEST_DELAY, FIRST_DELAY * 2.0 ** min(failures, 32)))
        delay *= 1 + SPREAD * self._chance.random()
        self.add_later(key, delay)
        return delay

    def forget(self, key: Key) -> None:
        """Forget that *key* has failed before."""
        self._failures.pop(key, None)

    async def next(self) -> Key:
        """Return the key that waits longest, urgent ones first; from now on the caller has it. Raises `Closed`."""
        while (self._holds or not len(self)) and not self._is_closed:
            self._changed.clear()
            await self._changed.wait()
        if self._is_closed:
            raise Closed
        key, _ = self._line_to_serve().popitem(last=False)
        self._hurried.discard(key)
        self._waited(self._clock.monotonic() - self._waiting.pop(key))
        self._worked_on.add(key)
        return key

    def done(self, key: Key) -> None:
        """Give *key* back; if it was added meanwhile, it is in the line again."""
        self._worked_on.discard(key)
        if key in self._waiting and not self._is_closed:
            self._stand(key)

    def close(self) -> None:
        """Give out no more keys, now or later; workers keep the ones that they have."""
        self._is_closed = True
        for _due, task in self._later.values():
            task.cancel()
        self._later.clear()
        self._changed.set()

    def _stand(self, key: Key) -> None:
        if key in self._hurried:
            self._line.pop(key, None)
            self._urgent[key] = None
        else:
            self._line[key] = None
        self._changed.set()

    def _line_to_serve(self) -> OrderedDict[Key, None]:
        is_turn_of_others = self._line and self._in_a_row >= URGENT_IN_A_ROW
        if self._urgent and not is_turn_of_others:
            self._in_a_row += 1
            return self._urgent
        self._in_a_row = 0
        return self._line

    async def _wait_for(self, key: Key, seconds: float) -> None:
        await self._clock.sleep(seconds)
        del self._later[key]
        self.add(key)

"""Pods in memory that load adapters, refuse to, or never answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence

from dynamo_controller.ports import Endpoints
from dynamo_render import Outcome
from dynamo_render.kinds.shared.machine import HttpAnswer, HttpCall

LOADED = HttpAnswer(200, '{"status": "success"}')


class FakeEndpoints:
    """`dynamo_controller.ports.Endpoints` in memory.

    *calls* are method and URL of every call; *loaded* are the adapters that each pod has. *answers* are what pods say
    instead of doing it, by address without scheme and port; *silence* holds all calls back as long as it is set. With
    *real* ones, these are called instead.
    """

    def __init__(self, real: Endpoints | None = None) -> None:
        self._real = real
        self.calls: list[tuple[str, str]] = []
        self.loaded: dict[str, set[str]] = {}
        self.answers: dict[str, Outcome] = {}
        self.silence: asyncio.Event | None = None

    async def call(self, calls: Sequence[HttpCall]) -> Mapping[str, Outcome]:
        await asyncio.sleep(0)  # as every request, it lets others go on
        if self._real is not None:
            return await self._real.call(calls)
        if self.silence is not None:
            await self.silence.wait()
        return {call.id: self._answered(call) for call in calls}

    def _answered(self, call: HttpCall) -> Outcome:
        self.calls.append((call.method, call.url))
        address, _, path = call.url.removeprefix("http://").partition(":9090/v1/loras")
        if address in self.answers:
            return self.answers[address]
        adapters = self.loaded.setdefault(address, set())
        if call.method == "POST":
            adapters.add(json.loads(call.body)["lora_name"])
        elif path[1:] not in adapters:
            return Outcome("done", content=HttpAnswer(404, "no such adapter"))
        else:
            adapters.remove(path[1:])
        return Outcome("done", content=LOADED)


def saying(status: int, body: str = "") -> Outcome:
    """Return an answer."""
    return Outcome("done", content=HttpAnswer(status, body))

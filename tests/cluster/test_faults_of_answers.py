"""Answers that fail, get lost or make no sense, between the controller and a real API server: fault F14."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.cluster.bench import Bench
from tests.cluster.harms import Asked, Gateway, Harm, Loss, Refusal
from tests.cluster.trouble import CREATED, SoundRuns, troubled


def is_write(asked: Asked) -> bool:
    return asked.is_write


@pytest.mark.parametrize(
    "harm",
    [
        Refusal(where=is_write, status=429, reason="TooManyRequests", retry_after=1, times=3),
        Refusal(where=is_write, status=500, reason="InternalError", times=3),
        Refusal(where=is_write, status=503, reason="ServiceUnavailable", times=3),
        Refusal(where=is_write, status=504, reason="Timeout", times=3),
        Gateway(where=is_write, times=3),
    ],
    ids=["429", "500", "503", "504", "html"],
)
def test_writes_that_are_refused_for_a_while_are_made_later(
    cluster: Bench, sound: SoundRuns, tmp_path: Path, harm: Refusal | Gateway
) -> None:
    async def story() -> None:
        namespace = f"f14-{harm.status}"
        async with troubled(cluster, tmp_path, namespace, harm) as trouble:
            await trouble.play(CREATED)
            await trouble.holds(await sound.of(CREATED))
        assert harm.done == 3

    asyncio.run(story())


@pytest.mark.parametrize("harm", [Loss(where=is_write)], ids=["every-answer"])
def test_a_write_whose_answer_is_lost_is_not_made_twice(
    cluster: Bench, sound: SoundRuns, tmp_path: Path, harm: Harm
) -> None:
    seen: set[tuple[str, ...]] = set()

    def is_new(asked: Asked) -> bool:
        is_first = asked.is_write and asked.target not in seen
        seen.add(asked.target)
        return is_first

    async def story() -> None:
        harm.where = is_new
        async with troubled(cluster, tmp_path, "f14-lost", harm) as trouble:
            await trouble.play(CREATED)
            await trouble.holds(await sound.of(CREATED))
        assert harm.done > 10

    asyncio.run(story())

"""The fake cluster keeps what a real API server promises; tests/cluster holds the real one to the same list."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from dynamo_controller.ports import Cluster, Selection
from tests.contracts import suite
from tests.contracts.suite import CONTRACTS
from tests.fakes.cluster import FakeCluster


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.__name__)
async def test_the_fake_cluster_keeps_its_word(contract: Callable[[Cluster, str], Awaitable[None]]) -> None:
    await contract(FakeCluster(), "team")


async def test_a_watch_from_a_version_that_the_fake_has_forgotten_has_expired() -> None:
    """A young API server remembers everything, so that only the fake can be asked for this."""
    watched = suite.told(FakeCluster(), Selection(suite.CONFIG, "team"), "1", 1)
    assert (await suite.refusal(watched)).is_expired

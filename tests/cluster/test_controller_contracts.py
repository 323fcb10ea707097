"""A real API server keeps what the fake cluster of the controller's tests promises; the list is in tests/contracts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from dynamo_controller.adapters.kubernetes import KubernetesCluster
from dynamo_controller.ports import Cluster
from tests.cluster.bench import Bench
from tests.contracts.suite import CONTRACTS


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.__name__)
def test_the_api_server_keeps_its_word(api_server: Bench, contract: Callable[[Cluster, str], Awaitable[None]]) -> None:
    namespace = contract.__name__.replace("_", "-")[:63].strip("-")
    api_server.ensure_namespaces([namespace])

    async def hold() -> None:
        cluster = await KubernetesCluster.connected(str(api_server.kubeconfig))
        try:
            await contract(cluster, namespace)
        finally:
            await cluster.close()

    asyncio.run(hold())

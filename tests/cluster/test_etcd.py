"""Keys are deleted in a real etcd, over the gateway that every server offers."""

from __future__ import annotations

import asyncio
import base64
import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from dynamo_controller.adapters.etcd import EtcdKeys
from dynamo_controller.ports import DiscoveryError
from tests.cluster import bench, processes
from tests.cluster.bench import Bench
from tests.cluster.processes import Programs

START_LIMIT = 30.0


@pytest.fixture
def etcd(api_server: Bench, tmp_path: Path) -> Iterator[str]:
    """The address of an etcd of its own; the bench has seen to it that there is the program."""
    assert api_server.programs is not None
    programs = Programs(tmp_path)
    client_port, peer_port = processes.free_ports(2)
    clients, peers = f"http://127.0.0.1:{client_port}", f"http://127.0.0.1:{peer_port}"
    try:
        programs.start("etcd", bench._etcd_command(programs.data / "etcd", clients, peers))
        programs.wait_until("etcd", lambda: processes.is_open(client_port), seconds=START_LIMIT, what="open port")
        yield f"127.0.0.1:{client_port}"
    finally:
        programs.end()


def asked(address: str, path: str, body: dict[str, str]) -> dict[str, object]:
    content = json.dumps({key: base64.b64encode(text.encode()).decode() for key, text in body.items()}).encode()
    with urllib.request.urlopen(f"http://{address}/v3/kv/{path}", content, timeout=10.0) as answer:
        found: dict[str, object] = json.load(answer)
        return found


def is_there(address: str, key: str) -> bool:
    return "kvs" in asked(address, "range", {"key": key})


def test_keys_of_one_component_go_and_those_of_its_neighbours_stay(etcd: str) -> None:
    for key in ("/ns/components/Foo/1", "/ns/components/Foo/2", "/ns/components/FooBar/1", "/ns/components/Fo/1"):
        asked(etcd, "put", {"key": key, "value": "x"})
    asyncio.run(EtcdKeys(etcd).delete_all("/ns/components/Foo/"))
    assert not is_there(etcd, "/ns/components/Foo/1")
    assert not is_there(etcd, "/ns/components/Foo/2")
    assert is_there(etcd, "/ns/components/FooBar/1")
    assert is_there(etcd, "/ns/components/Fo/1")


def test_the_next_address_is_asked_where_one_does_not_answer(etcd: str) -> None:
    (closed,) = processes.free_ports(1)
    asked(etcd, "put", {"key": "/ns/components/Foo/1", "value": "x"})
    asyncio.run(EtcdKeys(f"http://127.0.0.1:{closed}, http://{etcd}/").delete_all("/ns/components/Foo/"))
    assert not is_there(etcd, "/ns/components/Foo/1")


def test_an_etcd_that_nobody_can_reach_is_named() -> None:
    (closed,) = processes.free_ports(1)
    with pytest.raises(DiscoveryError, match=f"127.0.0.1:{closed}"):
        asyncio.run(EtcdKeys(f"127.0.0.1:{closed}").delete_all("/ns/components/Foo/"))

"""The webhook on a port: over TLS, with the certificate of the moment, for whoever trusts it."""

from __future__ import annotations

import asyncio
import io
import json
import socket
import ssl
from pathlib import Path
from random import Random
from typing import Any

import aiohttp
import pytest

from dynamo_controller.adapters.authority import SystemAuthority
from dynamo_controller.adapters.certificate_files import CertificateFiles
from dynamo_controller.adapters.serving import CannotListen
from dynamo_controller.admission import Surroundings
from dynamo_controller.admitting import admitting
from dynamo_controller.events import ClusterEvents
from dynamo_controller.manager import Outside
from dynamo_controller.ports import Pair
from dynamo_controller.settings import ControllerSettings
from dynamo_render import OperatorSettings
from tests.cluster.processes import free_ports
from tests.controller.test_admission import review
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeCluster
from tests.fakes.stage import RecordingLog, graph

Json = dict[str, Any]
PATH = "/validate-nvidia-com-v1alpha1-dynamographdeployment"
NAMES = ("localhost",)
AROUND = Surroundings(settings=OperatorSettings())


def outside(clock: FakeClock) -> Outside:
    cluster, log = FakeCluster(), RecordingLog()
    chance = Random(1)  # noqa: S311 - spreads delays
    return Outside(cluster=cluster, clock=clock, events=ClusterEvents(cluster, clock, log), log=log, chance=chance)


def put(folder: Path) -> Pair:
    pair = SystemAuthority().issued(NAMES)
    CertificateFiles(folder).write(pair.certificate, pair.key)
    return pair


async def answer(port: int, body: bytes, pair: Pair, path: str = PATH) -> tuple[int, bytes]:
    trust = ssl.create_default_context(cadata=pair.authority)
    async with aiohttp.ClientSession() as session:
        request = session.post(f"https://localhost:{port}{path}", data=io.BytesIO(body), ssl=trust)
        async with request as response:
            return response.status, await response.read()


def on(port: int, folder: Path) -> ControllerSettings:
    return ControllerSettings(webhook_address=f"localhost:{port}", webhook_certificates=str(folder))


async def test_reviews_are_answered_over_tls(tmp_path: Path) -> None:
    (port,), pair = free_ports(1), put(tmp_path)
    async with admitting(on(port, tmp_path), AROUND, outside(FakeClock()), lambda *_: None) as can_answer:
        await asyncio.sleep(0)
        assert can_answer()
        status, body = await answer(port, json.dumps(review(graph())).encode(), pair)
        assert (status, json.loads(body)["response"]["allowed"]) == (200, True)


async def test_what_is_no_review_is_a_bad_request(tmp_path: Path) -> None:
    (port,), pair = free_ports(1), put(tmp_path)
    async with admitting(on(port, tmp_path), AROUND, outside(FakeClock()), lambda *_: None):
        await asyncio.sleep(0)
        assert await answer(port, b"hello", pair) == (
            400,
            b"the body must be an AdmissionReview, and is no JSON: Expecting value: line 1 column 1 (char 0)\n",
        )
        assert (await answer(port, b"{}", pair, "/elsewhere"))[0] == 404


async def test_a_review_of_two_large_objects_fits(tmp_path: Path) -> None:
    """Each may be as large as what etcd stores."""
    (port,), pair = free_ports(1), put(tmp_path)
    large = graph()
    large["metadata"]["annotations"] = {"large": "x" * 1_500_000}
    async with admitting(on(port, tmp_path), AROUND, outside(FakeClock()), lambda *_: None):
        await asyncio.sleep(0)
        status, body = await answer(port, json.dumps(review(large, large)).encode(), pair)
        assert (status, json.loads(body)["response"]["allowed"]) == (200, True)


async def test_nobody_is_answered_before_there_is_a_certificate(tmp_path: Path) -> None:
    (port,), clock = free_ports(1), FakeClock()
    pair = SystemAuthority().issued(NAMES)
    async with admitting(on(port, tmp_path), AROUND, outside(clock), lambda *_: None) as can_answer:
        await asyncio.sleep(0)
        assert not can_answer()
        with pytest.raises((aiohttp.ClientError, OSError)):
            await answer(port, b"", pair)


async def test_a_certificate_that_changes_is_shown_without_a_restart(tmp_path: Path) -> None:
    (port,), clock = free_ports(1), FakeClock()
    before = put(tmp_path)
    async with admitting(on(port, tmp_path), AROUND, outside(clock), lambda *_: None):
        await asyncio.sleep(0)
        after = put(tmp_path)
        assert (await answer(port, b"", before))[0] == 400
        clock.advance(10.0)
        await asyncio.sleep(0)
        assert (await answer(port, b"", after))[0] == 400
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await answer(port, b"", before)


async def test_without_an_address_nothing_listens_and_nobody_waits_for_it() -> None:
    async with admitting(ControllerSettings(), AROUND, outside(FakeClock()), lambda *_: None) as can_answer:
        assert can_answer()


async def test_a_port_in_use_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        own = ControllerSettings(webhook_address=f"127.0.0.1:{port}", webhook_certificates=str(tmp_path))
        with pytest.raises(CannotListen, match=f"webhook: cannot listen on 127.0.0.1:{port}: "):
            async with admitting(own, AROUND, outside(FakeClock()), lambda *_: None):
                pass

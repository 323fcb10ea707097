"""The HTTP servers: addresses, answers, and what happens when a port is in use. Uses ports of the loopback address."""

from __future__ import annotations

import json

import pytest
from aiohttp import ClientSession

from dynamo_controller.adapters.serving import CannotListen, serving
from dynamo_controller.ports import Address, Answer, BadAddress, Request
from tests.fakes.stage import RecordingLog

LOOPBACK = Address("127.0.0.1", 0)


async def echo(request: Request) -> Answer:
    return Answer(201, json.dumps([request.method, request.path, request.body.decode()]).encode(), "application/json")


async def broken(_request: Request) -> Answer:
    raise RuntimeError("out of order")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", None),
        (":8080", Address("", 8080)),
        ("127.0.0.1:8080", Address("127.0.0.1", 8080)),
        ("[::1]:65535", Address("::1", 65535)),
    ],
)
def test_an_address_is_read_and_zero_is_off(text: str, expected: Address | None) -> None:
    assert Address.parsed(text) == expected
    assert expected is None or str(expected) == text


@pytest.mark.parametrize("text", ["", "8080", "host:", "host:http", ":65536", "::1:80", ":-1", ":٣"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(BadAddress):
        Address.parsed(text)


async def test_a_handler_sees_the_request_and_its_answer_arrives() -> None:
    async with serving("echo", LOOPBACK, {"/echo": echo}, RecordingLog()) as port, ClientSession() as client:
        async with client.post(f"http://127.0.0.1:{port}/echo?timeout=10s", data=b"hello") as answer:
            assert answer.status == 201
            assert answer.content_type == "application/json"
            assert await answer.json() == ["POST", "/echo", "hello"]
        async with client.get(f"http://127.0.0.1:{port}/other") as answer:
            assert answer.status == 404


async def test_a_handler_that_fails_is_a_500_and_a_line_in_the_log_and_others_go_on() -> None:
    log = RecordingLog()
    async with serving("tests", LOOPBACK, {"/broken": broken, "/echo": echo}, log) as port, ClientSession() as client:
        async with client.get(f"http://127.0.0.1:{port}/broken") as answer:
            assert answer.status == 500
            assert "out of order" not in await answer.text()
        async with client.get(f"http://127.0.0.1:{port}/echo") as answer:
            assert answer.status == 201
    assert ["out of order" in message for message in log.mistakes()] == [True]


async def test_a_port_in_use_is_named_with_what_it_was_for() -> None:
    async with serving("first", LOOPBACK, {}, RecordingLog()) as port:
        with pytest.raises(CannotListen, match=f"^metrics: cannot listen on 127.0.0.1:{port}: .*in use"):
            async with serving("metrics", Address("127.0.0.1", port), {}, RecordingLog()):
                pass


async def test_a_port_is_free_again_after_the_block() -> None:
    async with serving("first", LOOPBACK, {}, RecordingLog()) as port:
        pass
    async with serving("second", Address("127.0.0.1", port), {}, RecordingLog()) as again:
        assert again == port

"""Calls to pods: answers, failures, limits and redirects, against real servers on the loopback address.

Where an outcome depends on a limit, the limit is short and the server would wait for minutes.
"""

from __future__ import annotations

import asyncio

import pytest

from dynamo_controller.adapters.http import HttpEndpoints, Limits
from dynamo_render import Outcome
from dynamo_render.kinds.shared.machine import HttpAnswer, HttpCall
from tests.fakes.pods import AGES, Talk, answer, endless, redirect, saying, serving, silent

SHORT = 0.3


async def outcome(call: HttpCall, *others: HttpCall, limits: Limits | None = None) -> Outcome:
    return (await HttpEndpoints(limits).call([call, *others]))[call.id]


async def test_an_answer_is_its_status_and_its_text() -> None:
    async with serving(saying(answer("200 OK", '{"status": "success"}'))) as server:
        assert await outcome(server.call()) == Outcome("done", content=HttpAnswer(200, '{"status": "success"}'))


async def test_a_refusal_is_an_answer_too() -> None:
    async with serving(saying(answer("503 Busy", "busy"))) as server:
        assert await outcome(server.call()) == Outcome("done", content=HttpAnswer(503, "busy"))


async def test_a_body_is_sent_as_it_is_and_as_json() -> None:
    async with serving(saying(answer("200 OK"))) as server:
        await outcome(server.call())
        (request,) = server.requests
        assert request.startswith(b"POST /v1/loras HTTP/1.1\r\n")
        assert b"\r\nContent-Type: application/json\r\n" in request
        assert request.endswith(b'\r\n\r\n{"lora_name":"a"}')


async def test_a_call_without_a_body_sends_none() -> None:
    async with serving(saying(answer("200 OK"))) as server:
        await outcome(server.call(method="DELETE", body=""))
        assert b"Content-Type" not in server.requests[0]
        assert server.requests[0].endswith(b"\r\n\r\n")


@pytest.mark.parametrize("path", ["/v1/loras/a%2Fb", "/v1/loras/hf@v1", "/v1/loras/%C3%A9", "/v1/loras/a/", "/v1"])
async def test_a_path_is_sent_as_it_is(path: str) -> None:
    async with serving(saying(answer("200 OK"))) as server:
        await outcome(server.call(path))
        assert server.first_lines() == [f"POST {path} HTTP/1.1"]


async def test_a_pod_that_is_not_there_is_a_reason() -> None:
    async with serving(saying("")) as server:
        gone = server.call()
    found = await outcome(gone)
    assert found.sort == "refused"
    assert str(server.port) in found.text


async def test_a_pod_that_hangs_up_is_a_reason() -> None:
    async with serving(saying("")) as server:
        found = await outcome(server.call())
    assert (found.sort, bool(found.text)) == ("refused", True)


@pytest.mark.parametrize(
    "text", ["SSH-2.0-OpenSSH\r\n", "\x00\x01\x02", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 200 OK\r\nx"]
)
async def test_a_pod_that_does_not_speak_http_is_a_reason(text: str) -> None:
    async with serving(saying(text)) as server:
        found = await outcome(server.call())
    assert (found.sort, bool(found.text)) == ("refused", True)


async def test_an_answer_that_is_cut_is_a_reason() -> None:
    async with serving(saying("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}")) as server:
        assert (await outcome(server.call())).sort == "refused"


async def test_bytes_that_are_no_text_are_an_answer() -> None:
    async def talk(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\xff\xfe")

    async with serving(talk) as server:
        assert (await outcome(server.call())).content.status == 200


async def dripping(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    for _ in range(10**6):
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("talk", [silent, dripping])
async def test_a_slow_pod_gets_the_time_of_one_call(talk: Talk) -> None:
    async with serving(talk) as server:
        found = await outcome(server.call(seconds=SHORT))
    assert found == Outcome("refused", "no whole answer within 0.3 s")


async def test_a_slow_pod_does_not_keep_another_from_answering() -> None:
    async with serving(silent) as slow, serving(saying(answer("200 OK"))) as quick:
        found = await HttpEndpoints().call([slow.call(seconds=SHORT), quick.call()])
        assert found[quick.call().id].sort == "done"


async def test_a_batch_has_its_own_limit() -> None:
    async with serving(silent) as slow, serving(saying(answer("200 OK"))) as quick:
        found = await HttpEndpoints(Limits(seconds=SHORT)).call([slow.call(seconds=AGES), quick.call()])
        assert found[slow.call().id] == Outcome("refused", "no answer when the time of all calls was over, 0.3 s")
        assert found[quick.call().id].sort == "done"


async def test_calls_that_had_no_turn_before_the_end_of_the_batch_have_an_outcome() -> None:
    async with serving(silent) as server:
        calls = [server.call(f"/{index}", seconds=AGES) for index in range(5)]
        found = await HttpEndpoints(Limits(at_once=1, seconds=SHORT)).call(calls)
        assert [found[call.id].sort for call in calls] == ["refused"] * 5
        assert len(server.requests) == 1


async def test_ten_calls_are_made_at_once_and_no_more() -> None:
    async def talk(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.02)
        writer.write(answer("200 OK").encode())

    async with serving(talk) as server:
        found = await HttpEndpoints().call([server.call(f"/{index}") for index in range(40)])
        assert {each.sort for each in found.values()} == {"done"}
        assert server.most_at_once == 10


async def a_gigabyte(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
    for _ in range(16384):
        writer.write(b"x" * 65536)
        await writer.drain()


async def endless_headers(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X: y\r\n" * 1000)
        await writer.drain()


@pytest.mark.parametrize("talk", [endless, a_gigabyte])
async def test_an_answer_without_end_is_not_read(talk: Talk) -> None:
    async with serving(talk) as server:
        assert await outcome(server.call(most_bytes=1000)) == Outcome("refused", "the answer is longer than 1000 bytes")


async def endless_trailers(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
    while True:
        writer.write(b"X: y\r\n" * 1000)
        await writer.drain()


@pytest.mark.parametrize("talk", [endless_headers, endless_trailers])
async def test_headers_without_end_are_not_read(talk: Talk) -> None:
    """They are refused for their number, before the time of the call is over."""
    async with serving(talk) as server:
        found = await outcome(server.call())
    assert found.sort == "refused"
    assert "within" not in found.text


async def test_an_answer_is_not_unpacked() -> None:
    """A small answer could become a large one."""
    async with serving(saying(answer("200 OK", "not gzip", "Content-Encoding: gzip"))) as server:
        assert (await outcome(server.call())).content == HttpAnswer(200, "not gzip")


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"])
async def test_a_redirect_to_another_pod_of_the_model_is_followed_with_the_same_request(status: str) -> None:
    async with serving(saying(answer("200 OK"))) as second, serving(silent) as first:
        first.talk = saying(redirect(status, f"http://127.0.0.1:{second.port}/v2/loras"))
        assert (await outcome(first.call(), second.call())).content.status == 200
        (moved,) = [request for request in second.requests if b"/v2/loras" in request]
        assert moved.startswith(b"POST /v2/loras ")
        assert moved.endswith(b'{"lora_name":"a"}')


async def test_a_redirect_to_anybody_else_is_refused() -> None:
    async with serving(saying(answer("200 OK"))) as other, serving(silent) as pod:
        pod.talk = saying(redirect("307 There", f"http://127.0.0.1:{other.port}/secret"))
        found = await outcome(pod.call())
        assert found.sort == "refused"
        assert f"redirected to http://127.0.0.1:{other.port}/secret" in found.text
        assert other.requests == []


@pytest.mark.parametrize(
    "place", ["https://127.0.0.1:{port}/", "http://user:word@127.0.0.1:{port}/", "http://[", "ftp://127.0.0.1:{port}/"]
)
async def test_a_redirect_that_is_no_plain_address_of_a_pod_is_refused(place: str) -> None:
    async with serving(silent) as server:
        server.talk = saying(redirect("307 There", place.replace("{port}", str(server.port))))
        assert (await outcome(server.call())).sort == "refused"
        assert len(server.requests) == 1


async def test_a_redirect_inside_the_same_pod_may_be_relative() -> None:
    pages = iter([redirect("308 There", "../v2"), answer("200 OK", "moved")])

    async def talk(writer: asyncio.StreamWriter) -> None:
        writer.write(next(pages).encode())

    async with serving(talk) as server:
        assert (await outcome(server.call())).content == HttpAnswer(200, "moved")
        assert server.first_lines() == ["POST /v1/loras HTTP/1.1", "POST /v2 HTTP/1.1"]


async def test_a_redirect_without_a_place_is_refused() -> None:
    async with serving(saying(answer("307 There"))) as server:
        assert (await outcome(server.call())).text == "redirected by status 307 without a place"


async def test_a_redirect_to_another_request_is_an_answer() -> None:
    """303 asks for a GET, which loads nothing."""
    async with serving(saying(redirect("303 See", "/v1/loras"))) as server:
        assert (await outcome(server.call())).content.status == 303
        assert len(server.requests) == 1


async def test_redirects_in_a_circle_end() -> None:
    async with serving(saying(redirect("307 There", "/v1/loras"))) as server:
        assert (await outcome(server.call())).text == "redirected more than 10 times"
        assert len(server.requests) == 11


async def test_no_calls_are_no_outcomes() -> None:
    assert await HttpEndpoints().call([]) == {}


async def test_a_stop_ends_all_calls() -> None:
    async with serving(silent) as server:
        task = asyncio.create_task(HttpEndpoints().call([server.call(seconds=AGES)]))
        await server.heard.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

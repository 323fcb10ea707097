"""What an API server says, line by line: whole, cut, too long for a transport, or no sense at all."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from dynamo_controller.adapters import answers
from dynamo_controller.ports import ClusterError


async def pieces(*given: bytes) -> AsyncIterator[bytes]:
    for piece in given:
        yield piece


@pytest.mark.parametrize(
    "given",
    [
        (b"one\ntwo\nthree\n",),
        (b"o", b"ne\ntw", b"o\n", b"three\n"),
        (b"one\n", b"two\n", b"three"),
        (b"one", b"\n", b"two", b"\nthree\n"),
    ],
)
async def test_lines_do_not_depend_on_how_they_come(given: tuple[bytes, ...]) -> None:
    assert [line async for line in answers.lines(pieces(*given))] == [b"one", b"two", b"three"]


async def test_a_line_may_be_longer_than_any_object() -> None:
    long = [b"x" * 65536] * 64
    found = [line async for line in answers.lines(pieces(*long, b"\nnext\n"))]
    assert [len(line) for line in found] == [4 * 1024 * 1024, 4]


def event(sort: str, **content: object) -> bytes:
    return json.dumps({"type": sort, "object": {"metadata": {"resourceVersion": "7"}, **content}}).encode()


def test_an_event_is_what_the_line_says() -> None:
    told = answers.event(event("ADDED", kind="ConfigMap"))
    assert (told.sort, told.content["kind"]) == ("ADDED", "ConfigMap")


def test_an_error_in_the_stream_is_a_refusal_with_its_status() -> None:
    with pytest.raises(ClusterError) as caught:
        answers.event(event("ERROR", code=410, reason="Expired", message="too old resource version"))
    assert caught.value.is_expired


@pytest.mark.parametrize(
    "line", [event("ADDED")[:-9], b"{}", b"[]", b'"ADDED"', b"<html>", b'{"type": "ADDED", "object": {}}', b"\xff"]
)
def test_a_line_that_is_cut_or_no_event_is_an_error_of_the_connection(line: bytes) -> None:
    with pytest.raises(ClusterError) as caught:
        answers.event(line)
    assert caught.value.status == 0


@pytest.mark.parametrize("text", [b"<html>gateway</html>", b"", b"[]", b'{"kind": "Sta', b'{"kind": "\xff"}'])
def test_an_answer_that_is_no_json_object_is_an_error_of_the_connection(text: bytes) -> None:
    with pytest.raises(ClusterError) as caught:
        answers.content(text, "GET /api/v1/pods")
    assert caught.value.status == 0
    assert "GET /api/v1/pods" in str(caught.value)

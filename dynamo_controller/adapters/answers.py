"""What an API server says, as values: events of a watch, and refusals. Pure; knows no client library."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Mapping

import orjson

from dynamo_controller.ports import UNREACHABLE, ClusterError, Json, WatchEvent

CONFLICT, INVALID, SERVER_ERROR = 409, 422, 500

SHOWN = 80
"""Characters of an answer that make sense to nobody which the error quotes."""


async def lines(pieces: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """Yield the lines of a stream that comes in *pieces*, of any length; what is left at its end is a line too.

    A transport's own reading of lines stops at a length that an object may have, and would stop there again for ever.
    """
    begun: list[bytes] = []
    async for piece in pieces:
        *ends, rest = piece.split(b"\n")
        for end in ends:
            yield b"".join((*begun, end))
            begun.clear()
        if rest:
            begun.append(rest)
    if begun:
        yield b"".join(begun)


def event(line: bytes) -> WatchEvent:
    """Return what one line of a watch tells; raise ClusterError where it tells an error or is cut or no event."""
    try:
        told = orjson.loads(line)
        sort, content = told["type"], told["object"]
        if sort != "ERROR":
            int(content["metadata"]["resourceVersion"])
            return WatchEvent(sort, content)
        code = int(content.get("code") or SERVER_ERROR)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ClusterError(UNREACHABLE, "Garbled", f"a watch told what is no event: {line[:SHOWN]!r}") from error
    raise ClusterError(code, str(content.get("reason")), str(content.get("message")))


def content(text: bytes, request: str) -> Json:
    """Return the JSON mapping that a *request* was answered with; raise ClusterError where it is none."""
    try:
        answer = orjson.loads(text)
    except ValueError as error:
        raise ClusterError(UNREACHABLE, "Garbled", f"{request}: no JSON: {text[:SHOWN]!r}") from error
    if not isinstance(answer, dict):
        raise ClusterError(UNREACHABLE, "Garbled", f"{request}: no object: {text[:SHOWN]!r}")
    return answer


def refusal(status: int, text: bytes, headers: Mapping[str, str]) -> ClusterError:
    """Return a refusal as an error, in the words of the API as far as there are any."""
    try:
        answer = orjson.loads(text)
    except ValueError:
        answer = {}
    if not isinstance(answer, dict):
        answer = {}
    waits = headers.get("Retry-After", "")
    message = str(answer.get("message") or text.decode(errors="replace").strip() or f"status {status}")
    if status == INVALID and "metadata.uid" in message:
        # An apply to another object of that name; where there is none, the server itself calls it a conflict.
        return ClusterError(CONFLICT, "Conflict", message)
    return ClusterError(status, str(answer.get("reason") or ""), message, float(waits) if waits.isdigit() else None)

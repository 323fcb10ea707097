"""Pods over HTTP on an address of this machine, which answer as a test wants, or nothing at all."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

from dynamo_render.kinds.shared.machine import HttpCall

AGES = 600.0

Talk = Callable[[asyncio.StreamWriter], Awaitable[None]]
"""Answers a request as it likes."""


class Server:
    """A pod that talks as a test wants; *requests* are what it was sent."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.requests: list[bytes] = []
        self.heard = asyncio.Event()
        self.at_once = self.most_at_once = 0
        self.port = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            request = await reader.readuntil(b"\r\n\r\n")
            length = next((line for line in request.split(b"\r\n") if line.startswith(b"Content-Length")), b":0")
            self.requests.append(request + await reader.readexactly(int(length.partition(b":")[2])))
            self.heard.set()
            await self.talk(writer)
            await writer.drain()
        self.at_once -= 1
        writer.close()

    def call(self, path: str = "/v1/loras", **more: object) -> HttpCall:
        """Return a call to this server."""
        url = f"http://127.0.0.1:{self.port}{path}"
        given = {"id": url, "method": "POST", "url": url, "body": '{"lora_name":"a"}', "seconds": 20.0, **more}
        return HttpCall(**given)  # type: ignore[arg-type]

    def first_lines(self) -> list[str]:
        return [request.partition(b"\r\n")[0].decode() for request in self.requests]


@contextlib.asynccontextmanager
async def serving(talk: Talk, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[Server]:
    """Serve as *talk* says until the block ends."""
    server = Server(talk)
    listening = await asyncio.start_server(server.answer, host, port)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()


def saying(text: str) -> Talk:
    """Talk in the same words to everybody."""

    async def talk(writer: asyncio.StreamWriter) -> None:
        writer.write(text.encode())

    return talk


def answer(status: str, body: str = "", *headers: str) -> str:
    """Return an answer of HTTP."""
    return "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(body.encode())}", *headers, "", body])


def redirect(status: str, place: str) -> str:
    """Return an answer that sends the caller to another place."""
    return answer(status, "", f"Location: {place}")


async def silent(_writer: asyncio.StreamWriter) -> None:
    """Never answer."""
    await asyncio.sleep(AGES)


async def endless(writer: asyncio.StreamWriter) -> None:
    """Answer without end."""
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(b"x" * 65536)
        await writer.drain()

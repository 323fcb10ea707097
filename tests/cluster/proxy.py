"""A proxy between a controller and a real API server: it ends TLS, remembers every request, and does harm on demand.

Runs in a thread of its own, so that a test may block, and a controller may run in the test or as a process of its own.
Without harms it passes on everything as it comes.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import aiohttp
from aiohttp import web
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from dynamo_controller.adapters.answers import lines
from tests.cluster.bench import Bench
from tests.cluster.client import Access
from tests.cluster.harms import OF_WATCH, Asked, CutError, EndError, Harm, Said

START_LIMIT = 10.0
FAREWELL = 0.3
"""Seconds in which connections over TLS are gone after they were closed."""

PASSED_ON = {"authorization", "content-type", "accept", "user-agent"}
"""Headers of requests that the server gets; the others belong to the connection."""

NOT_PASSED_ON = {"transfer-encoding", "content-length", "connection", "content-encoding"}


class Proxy:
    """A proxy in front of *bench*, from `with` on. Harms in *harms* are done in order; tests add and remove them."""

    def __init__(self, bench: Bench, folder: Path, *harms: Harm) -> None:
        """Start nothing yet; the kubeconfig goes into *folder*."""
        self.harms: list[Harm] = list(harms)
        self.asked: list[Asked] = []
        self._accepted: list[Asked] = []
        self.access = bench.access
        self.kubeconfig = folder / "through-proxy.kubeconfig"
        self.most_at_once: dict[tuple[str, str], int] = {}
        self._bench = bench
        self._is_running = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._at_once: dict[tuple[str, str], int] = {}

    def __enter__(self) -> Self:
        """Accept connections."""
        self._thread.start()
        assert self._is_running.wait(START_LIMIT), "the proxy does not start"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cut all connections."""
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(START_LIMIT)

    def lead_to(self, access: Access) -> None:
        """Pass on requests to another server from now on, and cut all connections."""
        self.access = access
        self.cut_all()

    def cut_all(self) -> None:
        """Cut all connections, of watches too."""
        asyncio.run_coroutine_threadsafe(self._cut_all(), self._loop).result(START_LIMIT)

    def writes(self, where: Callable[[Asked], bool] = lambda _asked: True) -> list[Asked]:
        """Return the writes that the server has accepted."""
        return [each for each in tuple(self._accepted) if where(each)]

    def lists(self) -> list[Asked]:
        """Return the first pages of all lists."""
        return [each for each in tuple(self.asked) if each.verb == "list" and "limit" in each.query and _is_first(each)]

    # Inside its thread

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        self._sessions: dict[int, aiohttp.ClientSession] = {}
        self._server = web.Server(self._answer, access_log=None, handler_cancellation=True)
        trust = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        own = self._bench.access.authority
        trust.load_cert_chain(own, own.with_suffix(".key"))
        listening = await self._loop.create_server(self._server, "127.0.0.1", 0, ssl=trust)
        self._write_kubeconfig(listening.sockets[0].getsockname()[1])
        self._is_running.set()
        await self._end.wait()
        listening.close()
        await self._cut_all()
        await self._server.shutdown(0)
        for session in self._sessions.values():
            await session.close()
        await asyncio.sleep(FAREWELL)

    def _write_kubeconfig(self, port: int) -> None:
        content = json.loads(self._bench.kubeconfig.read_text("utf-8"))
        content["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{port}"
        self.kubeconfig.write_text(json.dumps(content))

    async def _cut_all(self) -> None:
        for connection in list(self._server.connections):
            if connection.transport is not None:
                connection.transport.abort()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        asked = Asked(
            len(self.asked), request.method, request.path, dict(request.query), await request.read(), _agent(request)
        )
        self.asked.append(asked)
        harms = [harm for harm in self.harms if harm.concerns(asked)]
        with self._counted(asked):
            try:
                return await self._answered(request, asked, harms)
            except (CutError, aiohttp.ClientError, OSError):
                if request.transport is not None:
                    request.transport.abort()
                return web.Response(status=502)

    async def _answered(self, request: web.BaseRequest, asked: Asked, harms: list[Harm]) -> web.StreamResponse:
        for harm in harms:
            said = await harm.before(asked)
            if isinstance(said, Said):
                return web.Response(status=said.status, body=said.body, headers=dict(said.headers))
        url = URL(f"https://127.0.0.1:{self.access.port}{request.raw_path}", encoded=True)
        headers = {name: value for name, value in request.headers.items() if name.lower() in PASSED_ON}
        headers["Accept-Encoding"] = "identity"
        limit = aiohttp.ClientTimeout(total=None)
        session = self._session()
        async with session.request(asked.method, url, data=asked.body, headers=headers, timeout=limit) as answer:
            asked.answered.append(answer.status)
            if asked.verb == OF_WATCH and answer.status == web.HTTPOk.status_code:
                return await self._stream(request, asked, harms, answer)
            body = await answer.read()
            if asked.is_write and asked.is_accepted:
                self._accepted.append(asked)
            for harm in harms:
                await harm.after(asked)
            return web.Response(status=answer.status, body=body, headers=_kept(answer.headers))

    async def _stream(
        self, request: web.BaseRequest, asked: Asked, harms: list[Harm], answer: aiohttp.ClientResponse
    ) -> web.StreamResponse:
        passed_on = web.StreamResponse(headers=_kept(answer.headers))
        await passed_on.prepare(request)
        try:
            async for line in _harmed(asked, harms, answer):
                await passed_on.write(line)
        except CutError as cut:
            await passed_on.write(cut.rest)
            if not isinstance(cut, EndError):
                await asyncio.sleep(0)  # or the rest would go with the connection
                raise
        await passed_on.write_eof()
        return passed_on

    def _session(self) -> aiohttp.ClientSession:
        port = self.access.port
        if port not in self._sessions:
            trust = ssl.create_default_context(cafile=str(self.access.authority))
            connector = aiohttp.TCPConnector(limit=0, ssl=trust)
            self._sessions[port] = aiohttp.ClientSession(connector=connector)
        return self._sessions[port]

    def _counted(self, asked: Asked) -> _Counted:
        return _Counted(self, (asked.namespace, asked.name) if asked.is_write else None)


class _Counted:
    """Counts how many writes of one object are on their way at one time."""

    def __init__(self, proxy: Proxy, place: tuple[str, str] | None) -> None:
        self._proxy = proxy
        self._place = place

    def __enter__(self) -> None:
        if self._place is not None:
            now = self._proxy._at_once[self._place] = self._proxy._at_once.get(self._place, 0) + 1
            self._proxy.most_at_once[self._place] = max(now, self._proxy.most_at_once.get(self._place, 0))

    def __exit__(self, *_error: object) -> None:
        if self._place is not None:
            self._proxy._at_once[self._place] -= 1


async def _harmed(asked: Asked, harms: list[Harm], answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    async for whole in lines(answer.content.iter_any()):
        line: bytes | None = whole + b"\n"
        for harm in harms:
            line = None if line is None else await harm.line(asked, line)
        if line is not None:
            yield line


def _kept(headers: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    return CIMultiDict((name, value) for name, value in headers.items() if name.lower() not in NOT_PASSED_ON)


def _agent(request: web.BaseRequest) -> str:
    return request.headers.get("User-Agent", "")


def _is_first(asked: Asked) -> bool:
    return "continue" not in asked.query


def names(asked: list[Asked]) -> Iterator[str]:
    """Yield what each request was about, for messages."""
    for each in asked:
        yield f"{each.verb} {each.resource}/{each.name}{each.subresource and '/' + each.subresource}"

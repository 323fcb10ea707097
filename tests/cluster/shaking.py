"""What may happen to the servers of a bench: they end and come back, freeze, forget, run full, or are two.

Everything is undone where a block ends. Talks to etcd through its own gateway; knows nothing of controllers.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import signal
import threading
import time
import urllib.request
from collections.abc import Iterator
from typing import Any, Self
from urllib.parse import urlsplit

from tests.cluster import processes
from tests.cluster.bench import START_LIMIT, Bench, is_ready
from tests.cluster.client import Access

Json = dict[str, Any]
ETCD, SERVER = "etcd", "kube-apiserver"
ANSWER_LIMIT = 10.0
FAREWELL = 0.1
"""Seconds in which connections that were cut are gone."""


def compact(bench: Bench) -> None:
    """Make etcd forget everything that has been before now."""
    key = base64.b64encode(b"\0").decode()
    revision = _ask(bench, "kv/range", {"key": key, "limit": "1"})["header"]["revision"]
    _ask(bench, "kv/compaction", {"revision": revision, "physical": True})


@contextlib.contextmanager
def full(bench: Bench) -> Iterator[None]:
    """Let etcd refuse every write, as if it had no space left."""
    member = _ask(bench, "maintenance/status", {})["header"]["member_id"]
    alarm = {"memberID": member, "alarm": "NOSPACE"}
    _ask(bench, "maintenance/alarm", {"action": "ACTIVATE", **alarm})
    try:
        yield
    finally:
        _ask(bench, "maintenance/alarm", {"action": "DEACTIVATE", **alarm})


@contextlib.contextmanager
def frozen(bench: Bench, name: str = ETCD) -> Iterator[None]:
    """Stop a program without ending it."""
    pid = bench.programs.pids[name]
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@contextlib.contextmanager
def away(bench: Bench) -> Iterator[None]:
    """Kill the API server, and start it again on the same port."""
    _kill(bench.programs.pids[SERVER])
    bench.client.close()
    try:
        yield
    finally:
        bench.programs.start(SERVER, bench.programs.commands[SERVER])
        _await(bench, SERVER, bench.access)


@contextlib.contextmanager
def second_server(bench: Bench, name: str, *flags: str, storage: str = "") -> Iterator[Access]:
    """Run another API server on the same etcd, reached at *storage* where that is given."""
    folder = bench.programs.data / name
    folder.mkdir()
    (port,) = processes.free_ports(1)
    own = {"--secure-port": str(port), "--cert-dir": str(folder), "--etcd-servers": storage or bench.storage}
    command = [_replaced(word, own) for word in bench.programs.commands[SERVER]]
    bench.programs.start(name, [*command, *flags])
    access = Access(port, folder / "apiserver.crt", bench.access.token)
    try:
        _await(bench, name, access)
        yield access
    finally:
        _kill(bench.programs.pids[name])


class SlowRelay:
    """Passes bytes on to etcd, from `with` on, and those that come back only after *delay* seconds."""

    def __init__(self, bench: Bench) -> None:
        """Start nothing yet; the delay is none."""
        self.delay = 0.0
        self._target = urlsplit(bench.storage)
        self._is_running = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    def __enter__(self) -> Self:
        """Accept connections at `storage`."""
        self._thread.start()
        assert self._is_running.wait(ANSWER_LIMIT), "the relay does not start"
        return self

    def __exit__(self, *_error: object) -> None:
        """Cut all connections."""
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(ANSWER_LIMIT)

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        listening = await asyncio.start_server(self._relay, "127.0.0.1", 0)
        self.storage = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        self._is_running.set()
        await self._end.wait()
        listening.close()
        await asyncio.sleep(FAREWELL)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(self._target.hostname, self._target.port)
        pumps = [
            asyncio.create_task(self._pump(reader, back, is_slow=False)),
            asyncio.create_task(self._pump(there, writer, is_slow=True)),
            asyncio.create_task(self._end.wait()),
        ]
        await asyncio.wait(pumps, return_when="FIRST_COMPLETED")
        for each in pumps:
            each.cancel()
        for transport in (writer.transport, back.transport):
            transport.abort()

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, is_slow: bool) -> None:
        # Pieces wait side by side: a delay is no limit of throughput.
        waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def read() -> None:
            while piece := await source.read(65536):
                waiting.put_nowait((time.monotonic() + (self.delay if is_slow else 0.0), piece))
            waiting.put_nowait((0.0, b""))

        async def write() -> None:
            while True:
                due, piece = await waiting.get()
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                if not piece:
                    return
                sink.write(piece)
                await sink.drain()

        with contextlib.suppress(OSError):
            await asyncio.gather(read(), write())


def _ask(bench: Bench, what: str, body: Json) -> Json:
    request = urllib.request.Request(  # noqa: S310 - a port of our own
        f"{bench.storage}/v3/{what}", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=ANSWER_LIMIT) as answer:  # noqa: S310 - as above
        return json.loads(answer.read())


def _kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    processes.wait_until(lambda: not processes.is_alive(pid), seconds=ANSWER_LIMIT, what="end of a program")


def _await(bench: Bench, name: str, access: Access) -> None:
    bench.programs.wait_until(name, lambda: is_ready(access), seconds=START_LIMIT, what="ready API server")


def _replaced(word: str, own: dict[str, str]) -> str:
    flag = word.partition("=")[0]
    return f"{flag}={own[flag]}" if flag in own else word

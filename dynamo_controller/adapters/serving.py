"""HTTP servers, plain and over TLS: the only module that listens on ports. What is answered, handlers decide."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

from aiohttp import web

from dynamo_controller.ports import Address, Answer, Handler, Log, Request

LARGEST_BODY = 16 * 2**20
"""Bytes of a request: an admission review carries two versions of an object, each up to what etcd stores."""

FAREWELL_SECONDS = 3.0
"""Seconds in which a request that is being answered at the stop may come to its end."""


class CannotListen(Exception):
    """A server cannot be started; the message names its purpose, its address and the reason."""


@contextlib.asynccontextmanager
async def serving(
    purpose: str, address: Address, routes: Mapping[str, Handler], log: Log, tls: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """Answer requests for the paths of *routes* until the block ends, and yield the port; over TLS with *tls*.

    HTTP/1.1 only. A handler that fails answers 500, and the log says why. Raises CannotListen.
    """
    application = web.Application(client_max_size=LARGEST_BODY)
    for path, handler in routes.items():
        application.router.add_route("*", path, _answering(purpose, handler, log))
    runner = web.AppRunner(application, access_log=None, handle_signals=False, shutdown_timeout=FAREWELL_SECONDS)
    await runner.setup()
    try:
        site = web.TCPSite(runner, address.host or None, address.port, ssl_context=tls)
        try:
            await site.start()
        except OSError as error:
            raise CannotListen(f"{purpose}: cannot listen on {address}: {error.strerror or error}") from error
        yield _port(runner, address)
    finally:
        await runner.cleanup()


def _answering(purpose: str, handler: Handler, log: Log) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def answer(asked: web.Request) -> web.Response:
        request = Request(asked.method, asked.path, await asked.read())
        try:
            given = await handler(request)
        except Exception as error:  # noqa: BLE001 - one request must not end the others
            log.write("error", f"{purpose}: {request.method} {request.path} failed: {error!r}")
            given = Answer(500, b"internal error\n")
        return web.Response(status=given.status, body=given.body, headers={"Content-Type": given.content_type})

    return answer


def _port(runner: web.AppRunner, address: Address) -> int:
    """Return the port that the system has given, or the one that was asked for."""
    return int(runner.addresses[0][1]) if runner.addresses else address.port

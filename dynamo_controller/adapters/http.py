"""Calls to pods over HTTP, each of them and all together within limits: whatever a pod does, there is an outcome.

Nobody is called but whom the calls name: a redirect leads to the host of one of them, or is refused. Nothing is tried
again here, and no answer is judged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import attrs
from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from yarl import URL

from dynamo_controller.ports import FIELD_MANAGER
from dynamo_render.kinds.shared.machine import HttpAnswer, HttpCall, Outcome
from dynamo_render.values import Value

JSON = "application/json"

_REDIRECTS = frozenset({301, 302, 307, 308})
"""Answers that send the same request elsewhere. 303 is none: it asks for another request, which loads nothing."""

_LONGEST_REASON = 300

Host = tuple[str | None, int | None]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Limits(Value):
    """What a batch of calls may take: how many *at_once*, *seconds* from its start, and *redirects* of each call."""

    at_once: int = 10
    seconds: float = 30.0
    redirects: int = 10


class Refusal(Exception):
    """A call leads to no answer; the message says why."""


class HttpEndpoints:
    """`dynamo_controller.ports.Endpoints` over HTTP."""

    def __init__(self, limits: Limits | None = None) -> None:
        """Call nobody yet."""
        self._limits = limits or Limits()

    async def call(self, calls: Sequence[HttpCall]) -> Mapping[str, Outcome]:
        """Make *calls* side by side, and return the outcome of each by its id."""
        if not calls:
            return {}
        hosts = frozenset(_host(URL(call.url, encoded=True)) for call in calls)
        # A connection for each call: pods come and go, and an open connection to one that has gone helps nobody.
        connector = TCPConnector(limit=self._limits.at_once, force_close=True)
        async with ClientSession(
            connector=connector,
            cookie_jar=DummyCookieJar(),
            timeout=ClientTimeout(total=None),
            auto_decompress=False,
            trust_env=False,
        ) as session:
            turns = asyncio.Semaphore(self._limits.at_once)
            tasks = {call.id: asyncio.create_task(self._outcome(call, session, hosts, turns)) for call in calls}
            try:
                await asyncio.wait(tasks.values(), timeout=self._limits.seconds)
            finally:
                for task in tasks.values():
                    task.cancel()
                await asyncio.gather(*tasks.values(), return_exceptions=True)
        return {name: self._late() if task.cancelled() else task.result() for name, task in tasks.items()}

    def _late(self) -> Outcome:
        return Outcome("refused", f"no answer when the time of all calls was over, {self._limits.seconds:g} s")

    async def _outcome(
        self, call: HttpCall, session: ClientSession, hosts: frozenset[Host], turns: asyncio.Semaphore
    ) -> Outcome:
        async with turns:
            try:
                async with asyncio.timeout(call.seconds):
                    return Outcome("done", content=await self._answer(call, session, hosts))
            except TimeoutError:
                return Outcome("refused", f"no whole answer within {call.seconds:g} s")
            except (Refusal, ClientError, OSError, ValueError) as error:
                return Outcome("refused", (str(error) or repr(error))[:_LONGEST_REASON])

    async def _answer(self, call: HttpCall, session: ClientSession, hosts: frozenset[Host]) -> HttpAnswer:
        url = URL(call.url, encoded=True)
        headers = {"User-Agent": FIELD_MANAGER, "Accept-Encoding": "identity"}
        if call.body:
            headers["Content-Type"] = JSON
        for _hop in range(self._limits.redirects + 1):
            async with session.request(
                call.method, url, data=call.body.encode() or None, headers=headers, allow_redirects=False
            ) as response:
                if response.status not in _REDIRECTS:
                    return HttpAnswer(response.status, await _body(response, call.most_bytes))
                url = _target(response, hosts)
        raise Refusal(f"redirected more than {self._limits.redirects} times")


def _target(response: ClientResponse, hosts: frozenset[Host]) -> URL:
    """Return where a redirect leads; raise Refusal where nobody is to be called."""
    location = response.headers.get("Location", "")
    if not location:
        raise Refusal(f"redirected by status {response.status} without a place")
    target = response.url.join(URL(location))
    if target.scheme != "http" or target.user is not None or _host(target) not in hosts:
        raise Refusal(f"redirected to {str(target)[:100]}, which no endpoint of the model has as its address")
    return target


def _host(url: URL) -> Host:
    return url.host, url.port


async def _body(response: ClientResponse, most: int) -> str:
    """Return the body of an answer as text; raise Refusal where it is longer than *most* bytes."""
    content = bytearray()
    async for chunk in response.content.iter_any():
        content += chunk
        if len(content) > most:
            raise Refusal(f"the answer is longer than {most} bytes")
    return content.decode("utf-8", "replace")

"""The HTTP session below the client library: the same connections, without what costs time in every request.

Knows nothing of Kubernetes, and nothing of the client library but the names of a few attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from aiohttp import ClientResponse, ClientSession, ClientTimeout

LONGEST_LINE = 2**21
"""Bytes of one line of a watch: no object in etcd is larger."""


class Transport:
    """Requests over the connections, and with the proxy and the TLS settings, of *rest*, the library's transport.

    The library's own way from here on looks into the environment before each request, in a thread each time, and what a
    netrc file says of a host must not take the place of the credentials of a kubeconfig.
    """

    def __init__(self, rest: Any, server: str) -> None:
        """Find out once which proxy leads to *server*; *rest* still closes the connections."""
        connector = rest.pool_manager.connector
        rest.pool_manager.detach()
        self._session = ClientSession(connector=connector, trust_env=False, read_bufsize=LONGEST_LINE)
        rest.pool_manager = self._session
        given = {
            "proxy": rest.proxy or proxy_to(server),
            "proxy_headers": rest.proxy_headers,
            "server_hostname": rest.server_hostname,
        }
        self._given = {name: value for name, value in given.items() if value}

    async def request(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, limit: ClientTimeout
    ) -> ClientResponse:
        """Send a request, and return its answer as soon as it begins."""
        return await self._session.request(method, url, data=body, headers=headers, timeout=limit, **self._given)


def proxy_to(server: str) -> str | None:
    """Return the proxy that the environment names for an address, or None."""
    parts = urlsplit(server)
    if proxy_bypass(parts.hostname or ""):
        return None
    return getproxies().get(parts.scheme)

"""The HTTP session below the client library: the same connections, without what costs time in every request.

Knows nothing of Kubernetes, and nothing of the client library but the names of two attributes.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from aiohttp import ClientSession

LONGEST_LINE = 2**21
"""Bytes of one line of a watch: no object in etcd is larger."""


def settle_surroundings(rest: Any, server: str) -> None:
    """Find out once which proxy leads to *server*, and let *rest*, the library's transport, not ask again.

    A session that trusts its environment looks into both before each request, in a thread each time; and what a netrc
    file says of a host must not take the place of the credentials of a kubeconfig.
    """
    rest.proxy = rest.proxy or proxy_to(server)
    connector = rest.pool_manager.connector
    rest.pool_manager.detach()
    rest.pool_manager = ClientSession(connector=connector, trust_env=False, read_bufsize=LONGEST_LINE)


def proxy_to(server: str) -> str | None:
    """Return the proxy that the environment names for an address, or None."""
    parts = urlsplit(server)
    if proxy_bypass(parts.hostname or ""):
        return None
    return getproxies().get(parts.scheme)

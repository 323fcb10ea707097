"""etcd over HTTP: the gateway to its API that every server offers. Deletes keys, and does nothing else."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from aiohttp import ClientError, ClientSession, ClientTimeout

from dynamo_controller.ports import DiscoveryError

SECONDS = 10.0
FIRST_REFUSAL = 400


class EtcdKeys:
    """`dynamo_controller.ports.DiscoveryKeys` in the etcd that components register with."""

    def __init__(self, addresses: str) -> None:
        """Ask nothing yet; *addresses* are one or several, separated by commas, with or without a scheme."""
        self._servers = _servers(addresses)

    async def delete_all(self, prefix: str) -> None:
        """Delete every key that begins with *prefix*, on the first server that answers. Raises DiscoveryError."""
        body = {"key": _encoded(prefix.encode()), "range_end": _encoded(_end(prefix.encode()))}
        reasons = []
        async with ClientSession(timeout=ClientTimeout(total=SECONDS)) as session:
            for server in self._servers:
                try:
                    async with session.post(f"{server}/v3/kv/deleterange", json=body) as answer:
                        if answer.status < FIRST_REFUSAL:
                            return
                        reasons.append(f"{server} answers {answer.status}: {(await answer.text())[:200]}")
                except (ClientError, OSError, TimeoutError) as error:
                    reasons.append(f"{server}: {error!r}")
        raise DiscoveryError("; ".join(reasons) or "no address of etcd is set")


def _servers(addresses: str) -> Sequence[str]:
    named = [address.strip().rstrip("/") for address in addresses.split(",") if address.strip()]
    return [address if "://" in address else f"http://{address}" for address in named]


def _end(prefix: bytes) -> bytes:
    """Return the first key after all that begin with *prefix*: its last byte, which is no 0xff, counted up."""
    return prefix[:-1] + bytes([prefix[-1] + 1])


def _encoded(key: bytes) -> str:
    return base64.b64encode(key).decode()

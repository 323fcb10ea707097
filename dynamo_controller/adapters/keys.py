"""Keys by the machine's own chance: what MPI launches log in with. Knows nothing about who keeps them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

BITS = 2048
EXPONENT = 65537


class SystemKeys:
    """`dynamo_controller.ports.Keys` with new keys of this machine."""

    async def ssh_key(self) -> Mapping[str, bytes]:
        """Return a new RSA key without a passphrase, as the files that ``ssh`` reads. operator-config.md 7.2."""
        return await asyncio.to_thread(_new_ssh_key)


def _new_ssh_key() -> Mapping[str, bytes]:
    key = rsa.generate_private_key(public_exponent=EXPONENT, key_size=BITS)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return {"private.key": private, "private.key.pub": public + b"\n"}

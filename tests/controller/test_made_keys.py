"""The key that an installation makes is one that ssh can log in with."""

from __future__ import annotations

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from dynamo_controller.adapters.keys import SystemKeys


async def test_both_files_hold_the_same_rsa_key() -> None:
    files = await SystemKeys().ssh_key()
    private = serialization.load_ssh_private_key(files["private.key"], password=None)
    assert isinstance(private, rsa.RSAPrivateKey)
    assert private.key_size == 2048
    public = serialization.load_ssh_public_key(files["private.key.pub"])
    assert public == private.public_key()


async def test_every_key_is_a_new_one() -> None:
    assert await SystemKeys().ssh_key() != await SystemKeys().ssh_key()

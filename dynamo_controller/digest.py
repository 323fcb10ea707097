"""What tells two wanted objects apart in a few bytes, so that a comparison need not be made twice. Pure."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

SIZE = 16
"""Bytes of a digest."""


def of(content: Any) -> bytes:
    """Return a digest of a JSON value; equal values whose keys come in another order may have another one."""
    return hashlib.blake2b(orjson.dumps(content), digest_size=SIZE).digest()

"""Addresses of calls: a path joined to the address of an endpoint. Specification: controllers-other.md section 3.5.

Segments are cleaned before anything is escaped, and a path whose escapes are whole is sent as it was written.
"""

from __future__ import annotations

_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~$&+,/:;=@")
"""Bytes that a path holds as they are."""

_TOLERATED = _UNRESERVED | frozenset(b"!'()*[]%")
"""Bytes that are left alone where the rest of a path needs no escape; alone they would be escaped."""

_HEX = frozenset("0123456789abcdefABCDEF")
_PARENT = ".."


class BadEscape(ValueError):
    """A percent sign that begins no escape; the message quotes it with what follows."""


def joined(address: str, *paths: str) -> str:
    """Return *address* with *paths* behind its own path, the whole cleaned and escaped. Raises BadEscape.

    Duplicate slashes, ``.`` and ``..`` go; a slash at the end of the last path stays.
    """
    scheme, _, rest = address.partition("://")
    host, slash, before = rest.partition("/")
    path = _cleaned([slash + before, *paths])
    if paths and paths[-1].endswith("/") and not path.endswith("/"):
        path += "/"
    return f"{scheme}://{host}{_escaped(path)}"


def _cleaned(paths: list[str]) -> str:
    kept: list[str] = []
    for segment in "/".join(paths).split("/"):
        if segment == _PARENT:
            del kept[-1:]
        elif segment not in ("", "."):
            kept.append(segment)
    return "/" + "/".join(kept)


def _escaped(path: str) -> str:
    plain = _unescaped(path)
    if all(byte in _TOLERATED for byte in path.encode("utf-8", "replace")):
        return path
    return "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in plain)


def _unescaped(path: str) -> bytes:
    """Return the bytes that *path* stands for."""
    first, *others = path.split("%")
    found = bytearray(first.encode("utf-8", "replace"))
    for index, other in enumerate(others):
        if len(other) < 2 or not _HEX.issuperset(other[:2]):  # noqa: PLR2004 - an escape has two digits
            raise BadEscape(f'invalid URL escape "%{"%".join(others[index:])[:2]}"')
        found += bytes.fromhex(other[:2]) + other[2:].encode("utf-8", "replace")
    return bytes(found)

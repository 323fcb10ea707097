"""Merging of user content over defaults, in the two ways in which profiles differ. rendering.md section 9."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]


def overlaid(base: Mapping[str, Any], user: Mapping[str, Any]) -> Json:
    """Return *base* with the non-zero values of *user* over it, mappings merged key by key, lists replaced whole.

    A zero value never replaces a set one. A number never replaces a name (a probe's port): the released operator
    compares a port's kind first, and the kind of a number is zero.
    """
    result = dict(base)
    for key, value in user.items():
        old = result.get(key)
        if type(old) is dict and type(value) is dict:
            result[key] = overlaid(old, value)
        elif old is None or (value and not (type(old) is str and type(value) is int)):
            result[key] = value
    return result


def replaced(base: Mapping[str, Any], user: Mapping[str, Any], cleared: tuple[str, ...]) -> Json:
    """Return *base* with every value of *user* in place of its own, and without the keys that *user* cleared."""
    result = {**base, **user}
    for key in cleared:
        result.pop(key, None)
    return result

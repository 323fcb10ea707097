"""Equality, hash and repr of frozen values, once for all of them.

attrs can generate these for every class, at half of its cost at import: too much for a command that should answer in a
tenth of a second. Values derive from `Value` and are declared with ``@attrs.frozen(eq=False, repr=False)``.
"""

from __future__ import annotations

from typing import Any

import attrs


class Value:
    """Compares, hashes and shows itself by its fields."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Whether *other* is of the same class with equal fields."""
        if type(other) is not type(self):
            return NotImplemented
        return _fields(self) == _fields(other)

    def __hash__(self) -> int:
        """Return a hash of the fields; raise TypeError where one of them cannot be hashed."""
        return hash((type(self), *_fields(self).values()))

    def __repr__(self) -> str:
        """Return the class with every field, as attrs would show it."""
        shown = ", ".join(f"{name}={value!r}" for name, value in _fields(self).items())
        return f"{type(self).__name__}({shown})"


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in attrs.fields(type(value))}

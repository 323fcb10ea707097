"""Frozen values: attrs classes that attrs builds when they are first used, with one equality, hash and repr for all.

Building a class takes attrs half a millisecond, and a short command uses few of the classes that it loads. So `frozen`
takes the declaration only. The first value of the class, or the first question for its fields, lets attrs build it.

Values derive from `Value` and are declared with `frozen`, in the words of attrs. Nothing here knows any of them.
"""

from __future__ import annotations

from _thread import RLock  # as functools does: the module threading is slow to load
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable

    from attrs import frozen

__all__ = ["Value", "frozen"]

_LOCK = RLock()


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


class _Unbuilt:
    """Stands in a class for the fields that attrs has not collected yet; asking for them builds the class in place."""

    def __init__(self, cls: type, *, kw_only: bool) -> None:
        self._cls = cls
        self._kw_only = kw_only

    def __get__(self, _value: object, _owner: type) -> Any:
        self.build()
        return attrs.fields(self._cls)

    def build(self) -> None:
        """Let attrs build the class, unless that happened meanwhile."""
        with _LOCK:
            if self._cls.__dict__["__attrs_attrs__"] is self:
                # Without slots attrs changes the class instead of making another.
                attrs.frozen(self._cls, kw_only=self._kw_only, init=True, slots=False, eq=False, repr=False)


if not TYPE_CHECKING:  # what `frozen` returns is to a type checker what attrs.frozen returns

    def frozen(cls: type | None = None, *, kw_only: bool = False) -> type | Callable[[type], type]:
        """Declare a value class as `attrs.frozen` does, without building it yet."""

        def declared(cls: type) -> type:
            unbuilt = _Unbuilt(cls, kw_only=kw_only)

            def init_first(self: Any, *given: Any, **named: Any) -> None:
                unbuilt.build()
                self.__init__(*given, **named)

            cls.__attrs_attrs__ = unbuilt
            cls.__init__ = init_first
            return cls

        return declared if cls is None else declared(cls)

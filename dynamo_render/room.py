"""The table of a room: its entries by name, each loaded when it is first looked up. Knows no room and no entry."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import TypeVar

Key = TypeVar("Key")
Entry = TypeVar("Entry")


class Room(Mapping[Key, Entry]):
    """Entries by name. Whoever asks for names loads nothing; a render loads the entries that its resource needs."""

    def __init__(self, homes: Mapping[Key, str]) -> None:
        """Take where each entry lives, written ``package.module:NAME``."""
        self._homes = homes
        self._loaded: dict[Key, Entry] = {}

    def __getitem__(self, key: Key) -> Entry:
        """Return the entry called *key*; raise KeyError where there is none."""
        try:
            return self._loaded[key]
        except KeyError:
            module, _, name = self._homes[key].partition(":")
        self._loaded[key] = getattr(importlib.import_module(module), name)
        return self._loaded[key]

    def __contains__(self, key: object) -> bool:
        """Whether there is an entry called *key*, loaded or not."""
        return key in self._homes

    def __iter__(self) -> Iterator[Key]:
        """Yield the names in the order of the table."""
        return iter(self._homes)

    def __len__(self) -> int:
        """Return how many entries there are."""
        return len(self._homes)

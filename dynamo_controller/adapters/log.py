"""The log: one JSON line for each thing that happened, on a stream."""

from __future__ import annotations

import json
from typing import Literal, TextIO

from dynamo_controller.ports import Clock

LEVELS = ("info", "warning", "error")


class JsonLog:
    """`dynamo_controller.ports.Log` on *stream*."""

    def __init__(self, stream: TextIO, clock: Clock, lowest: str = "info") -> None:
        """Write nothing yet, and later only what is at least of level *lowest*."""
        self._lowest = LEVELS.index(lowest)
        self._stream = stream
        self._clock = clock

    def write(self, level: Literal["info", "warning", "error"], message: str, **fields: object) -> None:
        """Write one line; values that JSON does not know stand as their text."""
        if LEVELS.index(level) < self._lowest:
            return
        line = {"time": self._clock.timestamp(), "level": level, "message": message, **fields}
        self._stream.write(json.dumps(line, default=str) + "\n")
        self._stream.flush()

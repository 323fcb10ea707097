"""The event loop of the process: uvloop where there is one, which halves the cost of a request, else Python's own."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

_new: Callable[[], asyncio.AbstractEventLoop] | None = None
with contextlib.suppress(ImportError):  # there is none for Windows
    from uvloop import new_event_loop as _new

Result = TypeVar("Result")


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run *work* to its end in a loop of its own, and return its result."""
    with asyncio.Runner(loop_factory=_new) as runner:
        return runner.run(work)

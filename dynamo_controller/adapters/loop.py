"""The event loop of the process: uvloop where there is one, which halves the cost of a request, else Python's own.

And how often the process looks for garbage in circles, of which it makes next to none.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

_new: Callable[[], asyncio.AbstractEventLoop] | None = None
with contextlib.suppress(ImportError):  # there is none for Windows
    from uvloop import new_event_loop as _new

Result = TypeVar("Result")

NEW_OBJECTS = 50_000
"""New objects after which the process looks for circles: one answer of a server may be thousands, in none of them."""


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run *work* to its end in a loop of its own, and return its result."""
    gc.set_threshold(NEW_OBJECTS)
    with asyncio.Runner(loop_factory=_new) as runner:
        return runner.run(work)

"""A hook for folders whose tests are coroutines; a test that hangs fails."""

from __future__ import annotations

import asyncio
import inspect

import pytest

LIMIT = 60.0


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a coroutine function to its end, or leave other functions to pytest."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in wanted}

    async def run() -> None:
        async with asyncio.timeout(LIMIT):
            await pyfuncitem.obj(**arguments)

    asyncio.run(run())
    return True

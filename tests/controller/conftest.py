"""Lets tests be coroutines: each runs in an event loop of its own."""

from __future__ import annotations

from tests.fakes.coroutines import pytest_pyfunc_call

__all__ = ["pytest_pyfunc_call"]

"""What a command offers, and what it gets: its arguments, and the streams and variables around it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from typing import BinaryIO, TextIO

from dynamo_render.values import Value, frozen

PROGRAM = "dynamo-render"

FINE = 0
FINDINGS = 1
UNUSABLE = 2


@frozen
class Console(Value):
    """The streams and environment variables that a command uses; *stdin* is None where there is none."""

    stdin: BinaryIO | None
    stdout: TextIO
    stderr: TextIO
    environ: Mapping[str, str]


@frozen(kw_only=True)
class Command(Value):
    """One command: *arguments* declares its own on a parser, *run* does the work and returns the exit code."""

    summary: str
    description: str
    example: str
    arguments: Callable[[ArgumentParser], None]
    run: Callable[[Namespace, Console], int]


class UsageError(Exception):
    """The command was called in a way that it does not understand; str() says why."""


class Stopped(Exception):
    """Work cannot go on; everything that the user has to know is reported already."""

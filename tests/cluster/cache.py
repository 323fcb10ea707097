"""Folders that are made once and then found again by every later run; knows nothing of what they hold.

A folder appears under its name complete or not at all, and two runs that want the same one make it once.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

WAIT_FOR_ANOTHER_RUN = 3600.0
"""Seconds until a run no longer waits for the other one that makes the same folder."""


class BenchUnavailable(Exception):
    """The bench cannot be had on this machine, for the reason that the message gives."""


def cache_root() -> Path:
    """Return the user's cache folder of the bench, which may not exist yet."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dynamo-render-bench"


def cached_folder(name: str, fill: Callable[[Path], None]) -> Path:
    """Return the folder *name* of the cache; where there is none, *fill* gets an empty one to put everything in."""
    wanted = cache_root() / name
    if wanted.is_dir():
        return wanted
    cache_root().mkdir(parents=True, exist_ok=True)
    with _only_run(cache_root() / f"{name}.lock"):
        if not wanted.is_dir():
            _fill_whole(wanted, fill)
    return wanted


def digest(files: Iterable[Path], *more: str) -> str:
    """Return a short name for the contents of *files*, the words in *more*, and this kind of machine."""
    result = hashlib.sha256()
    for part in (sys.platform, platform.machine(), *more):
        result.update(part.encode() + b"\0")
    for file in files:
        result.update(file.read_bytes() + b"\0")
    return result.hexdigest()[:16]


def _fill_whole(wanted: Path, fill: Callable[[Path], None]) -> None:
    # In the same folder, because a rename is only atomic within one file system.
    unfinished = Path(tempfile.mkdtemp(prefix=f".{wanted.name}.", dir=wanted.parent))
    try:
        fill(unfinished)
        unfinished.chmod(0o755)
        unfinished.rename(wanted)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


@contextlib.contextmanager
def _only_run(lock: Path) -> Iterator[None]:
    # The system gives the lock back when its holder ends, however it ends; the file itself may stay.
    if sys.platform == "win32":
        raise BenchUnavailable("the bench needs Linux or macOS")
    import fcntl  # noqa: PLC0415 - absent on Windows

    limit = time.monotonic() + WAIT_FOR_ANOTHER_RUN
    with lock.open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > limit:
                    raise BenchUnavailable(f"another run holds {lock} for too long") from None
                time.sleep(0.2)
        yield

"""Starting programs that end with the test run, waiting for things with a limit, and free ports."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

KEEPER = Path(__file__).resolve().with_name("keeper.py")
SHOWN_LINES = 15
POLL = 0.05
"""Seconds between two looks at what is waited for."""


class BenchError(Exception):
    """A part of the bench did not start or did not do what was waited for: a failure, never a reason to skip."""


class Programs:
    """The programs of one bench, their data folder (removed at the end) and their logs (left where *logs* says).

    All are children of a keeper process, which outlives a killed test run just long enough to end them by their ids.
    """

    def __init__(self, logs: Path) -> None:
        """Start the keeper with a new data folder."""
        self.logs = logs
        self.data = Path(tempfile.mkdtemp(prefix="dynamo-render-bench-"))
        self.pids: dict[str, int] = {}
        self.commands: dict[str, Sequence[str]] = {}
        self._keeper = subprocess.Popen(
            [sys.executable, "-I", str(KEEPER), str(self.data)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        """Return itself: the programs end where the block ends."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all programs."""
        self.end()

    @property
    def keeper_pid(self) -> int:
        """The process id of the keeper."""
        return self._keeper.pid

    def start(self, name: str, command: Sequence[str]) -> None:
        """Start a program under a *name* of its own; what it prints goes to a log of that name."""
        answer = self._ask({"command": list(command), "log": str(self._log(name))})
        if "error" in answer:
            raise BenchError(f"{name} cannot be started: {answer['error']}")
        self.pids[name] = answer["pid"]
        self.commands[name] = command

    def wait_until(self, name: str, is_true: Callable[[], bool], *, seconds: float, what: str) -> None:
        """Wait until *is_true*; raise `BenchError` when the program *name* ends before, or when time runs out."""
        limit = time.monotonic() + seconds
        while not is_true():
            exit_code = self._ask({"exit_code_of": self.pids[name]})["exit_code"]
            if exit_code is not None:
                raise BenchError(f"{name} ended with {exit_code} before {what}{self._end_of_log(name)}")
            if time.monotonic() > limit:
                raise BenchError(f"{name}: no {what} within {seconds:.0f} s{self._end_of_log(name)}")
            time.sleep(POLL)

    def end(self) -> None:
        """End all programs and remove their data; a second call does nothing."""
        if self._keeper.stdin is None or self._keeper.stdout is None or self._keeper.stdin.closed:
            return
        self._keeper.stdin.close()
        self._keeper.wait(timeout=30)
        self._keeper.stdout.close()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._keeper.stdin is None or self._keeper.stdout is None:
            raise BenchError("the keeper has no pipes")
        print(json.dumps(request), file=self._keeper.stdin, flush=True)
        answer = self._keeper.stdout.readline()
        if not answer:
            raise BenchError("the keeper of the programs is gone")
        return json.loads(answer)

    def _log(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def _end_of_log(self, name: str) -> str:
        last = self._log(name).read_text("utf-8", "replace").splitlines()[-SHOWN_LINES:]
        return "\n".join((f"; end of {self._log(name)}:", *last))


def wait_until(is_true: Callable[[], bool], *, seconds: float, what: str) -> None:
    """Wait until *is_true*; raise `BenchError` when that takes longer than *seconds*."""
    limit = time.monotonic() + seconds
    while not is_true():
        if time.monotonic() > limit:
            raise BenchError(f"no {what} within {seconds:.0f} s")
        time.sleep(POLL)


def free_ports(count: int) -> list[int]:
    """Return *count* different ports of the loopback address that nobody uses now."""
    # All stay open until the last is chosen; otherwise the system may give the same port twice.
    opened = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in opened]
    for each in opened:
        each.close()
    return ports


def is_open(port: int) -> bool:
    """Return whether something accepts connections on a loopback port."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def is_alive(pid: int) -> bool:
    """Return whether there is a process with this id, other than one that has ended and waits for its parent."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        # Either it ended between the two questions, or there is no /proc here.
        return not Path("/proc/self").exists()
    return state != "Z"

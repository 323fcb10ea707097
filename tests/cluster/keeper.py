"""The parent process of the bench's programs: ends them, and removes their data, when whoever started it is gone.

Run as a script with the data folder as its argument. It reads one request per line from standard input and answers with
a line; at the end of the input, which comes even when the test run was killed, it ends every program that it started.
Uses nothing but the standard library, and nothing of the project.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PARENT_DEATH_SIGNAL = 1
"""The option of Linux's prctl that names the signal a process gets when its parent ends."""


def main(data: Path) -> None:
    """Answer requests until the input ends, then end all programs and remove the folder *data*."""
    programs: dict[int, subprocess.Popen[bytes]] = {}
    try:
        for line in sys.stdin:
            print(json.dumps(_answer(json.loads(line), programs)), flush=True)
    finally:
        _end(programs)
        shutil.rmtree(data, ignore_errors=True)


def _answer(request: Mapping[str, Any], programs: dict[int, subprocess.Popen[bytes]]) -> dict[str, Any]:
    if "exit_code_of" in request:
        return {"exit_code": programs[request["exit_code_of"]].poll()}
    with Path(request["log"]).open("ab") as log:
        try:
            started = subprocess.Popen(
                request["command"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C in the terminal is for the test run
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509 - no threads here
            )
        except OSError as error:
            return {"error": str(error)}
    programs[started.pid] = started
    return {"pid": started.pid}


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)


def _end(programs: Mapping[int, subprocess.Popen[bytes]]) -> None:
    # Nothing of theirs is kept, so there is nothing to wait for: a graceful end of an API server takes many seconds.
    for started in programs.values():
        started.kill()
    for started in programs.values():
        with contextlib.suppress(subprocess.TimeoutExpired):
            started.wait(timeout=10)


if __name__ == "__main__":
    # A terminal's Ctrl-C and a closed terminal end the test run, and through it this process, in order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    main(Path(sys.argv[1]))

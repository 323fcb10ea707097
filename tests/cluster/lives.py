"""A controller as a process that can be killed and started again, quickly and many times, in one namespace.

The processes are forks of one that has loaded the program already: a start takes a tenth of what the interpreter needs.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import attrs

from tests.cluster import keeper
from tests.cluster.bench import Bench
from tests.cluster.harms import Asked
from tests.cluster.oracles import GRAPH, OURS
from tests.cluster.proxy import Proxy
from tests.cluster.trouble import placed

Json = dict[str, Any]
LIMIT = 60.0
QUIET = 0.6
"""Seconds without a write after which none is expected."""

POLL = 0.1
"""Seconds between two looks."""

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["pytest", "dynamo_controller.__main__"])


def run_program(words: Sequence[str], log: str) -> None:
    """Be the program dynamo-controller with these words, and log into a file."""
    from dynamo_controller.__main__ import main  # noqa: PLC0415 - only the forks need it

    if sys.platform == "linux":
        # The server of the forks ends with the test run, also when that is killed.
        keeper._die_with_parent()
    with Path(log).open("a", encoding="utf-8") as stream:
        sys.stderr = stream
        code = main(words, {})
    os._exit(code)


@attrs.define(eq=False)
class Life:
    """A namespace whose controller dies and is started again."""

    bench: Bench
    namespace: str
    log: Path
    proxy: Proxy
    process: ForkServerProcess | None = None
    starts: int = 0
    at_start: int = 0

    @property
    def is_dead(self) -> bool:
        """Whether there is no controller."""
        return self.process is None or not self.process.is_alive()

    def start(self) -> None:
        """Start the controller unless it lives."""
        if not self.is_dead:
            return
        self.starts += 1
        self.at_start = len(self.log.read_text("utf-8")) if self.log.exists() else 0
        words = ["run", "--kubeconfig", str(self.proxy.kubeconfig), "--restricted-namespace", self.namespace]
        self.process = _FORKS.Process(target=run_program, args=(words, str(self.log)))
        self.process.start()

    def kill(self) -> None:
        """End the controller at once."""
        if self.process is not None and self.process.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process.pid, signal.SIGKILL)

    def ask_to_stop(self) -> None:
        """Ask the controller to end in its own time."""
        if self.process is not None and self.process.pid is not None:
            os.kill(self.process.pid, signal.SIGTERM)

    @property
    def exit_code(self) -> int | None:
        """The exit code of the controller that was started last; None while it lives."""
        return None if self.process is None else self.process.exitcode

    def until(self, is_true: Callable[[], Any], what: str) -> None:
        """Wait until *is_true*; whenever the controller is dead it is started again."""
        limit = time.monotonic() + LIMIT
        self.start()
        while not is_true():
            if time.monotonic() > limit:
                raise TimeoutError(f"no {what} with controller number {self.starts}: {self.told()[-3:]}")
            time.sleep(POLL)
            self.start()

    def settle(self) -> None:
        """Wait until a living controller has not written for a while."""
        self.until(self.is_ready_to_work, "controller at work")
        seen = [-1] * round(QUIET / POLL)

        def is_quiet() -> bool:
            seen.append(len(self.proxy.writes()))
            return len(set(seen[-round(QUIET / POLL) :])) == 1

        self.until(is_quiet, "end of writes")

    def is_ready_to_work(self) -> bool:
        """Whether the controller that was started last knows the cluster."""
        own = self._lines(self.at_start)
        return any(line["message"] == "ready" for line in own)

    def told(self) -> list[str]:
        """Return what all controllers have logged."""
        return [line["message"] for line in self._lines()]

    def mistakes(self) -> list[str]:
        """Return what they have logged as errors: only mistakes of ours are."""
        return [line["message"] for line in self._lines() if line["level"] == "error"]

    def _lines(self, start: int = 0) -> list[Json]:
        # The last line of one that was killed may be cut.
        lines = self.log.read_text("utf-8")[start:].splitlines() if self.log.exists() else []
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]

    def apply(self, content: Json, *, grove: bool = False) -> Json:
        """Apply a graph as a user does."""
        return self.bench.client.apply(placed(self.namespace, content, grove=grove))

    def status(self, name: str) -> Json:
        """Return the status of a graph, with the generation of its spec."""
        found = self.bench.client.get(OURS, GRAPH, name, self.namespace)
        return {**found.get("status", {}), "generation": found["metadata"]["generation"]}

    def tells(self, name: str, *, ready: bool = True) -> bool:
        """Whether the status of a graph is about its newest spec, and whether that is *ready*."""
        status = self.status(name)
        told = (status.get("conditions") or [{}])[0]
        is_new = told.get("observedGeneration") == status["generation"]
        return is_new and (told["status"] == "True" or not ready)

    def ready(self, name: str) -> None:
        """Wait until a graph is ready as it stands."""
        self.until(lambda: self.tells(name), f"ready graph {name}")

    def writes(self, name: str) -> list[Asked]:
        """Return the accepted writes that concern a graph."""
        return self.proxy.writes(lambda asked: asked.name.startswith(name))


@contextlib.contextmanager
def life(bench: Bench, folder: Path, namespace: str) -> Iterator[Life]:
    """Let controllers live in *namespace*, one after the other, none yet."""
    bench.ensure_namespaces([namespace])
    with Proxy(bench, folder) as proxy:
        living = Life(bench, namespace, folder / "controllers.log", proxy)
        try:
            yield living
        finally:
            living.kill()
            if living.process is not None:
                living.process.join(LIMIT)
                living.process.close()
    assert living.mistakes() == []

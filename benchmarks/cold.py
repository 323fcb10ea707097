"""Cold processes: importing the library, and one render of one file from nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from benchmarks import inputs
from benchmarks.table import Row, row, timed

IMPORT = "import time; start = time.perf_counter(); import dynamo_render; print(time.perf_counter() - start)"


def rows(*, quick: bool) -> list[Row]:
    """Measure import and cold render, with bytecode compiled beforehand as an installation has it."""
    repetitions = 5 if quick else 15
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)

        def run(*words: str) -> str:
            command = [sys.executable, *words]
            done = subprocess.run(command, env=environment, cwd=inputs.ROOT, check=True, capture_output=True, text=True)
            return done.stdout

        run("-c", IMPORT)
        inside = [float(run("-c", IMPORT)) for _ in range(repetitions)]
        bare = timed(lambda: run("-c", "pass"), repetitions)
        return [
            row("python -c pass, whole process", bare, "ms", 1e3),
            row("import dynamo_render, inside the process", inside, "ms", 1e3, 100),
            row("dynamo-render render of one example, whole process", _render_spans(run, repetitions), "ms", 1e3, 120),
        ]


def _render_spans(run: object, repetitions: int) -> Sequence[float]:
    graph = inputs.ONE_EXAMPLE / "graph.yaml"
    assert callable(run)  # noqa: S101 - narrows the type
    return timed(lambda: run("-m", "dynamo_render", "render", str(graph), "--api-versions", "grove.io"), repetitions)

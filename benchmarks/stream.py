"""Many graphs: YAML files in, YAML out, in one process on one core; time per graph and memory as the number grows."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import inputs
from benchmarks.table import Row
from dynamo_render import write_documents


def rows(*, quick: bool) -> list[Row]:
    """Measure the command over folders of graphs."""
    result = []
    for count, target in {100: None, 1000: 4.0}.items() if quick else {1000: 4.0, 10_000: None}.items():
        seconds, peak = _run(count)
        result.append(Row(f"{count:,} graphs of 5 services, files to YAML", seconds, seconds, "s", target))
        result.append(Row(f"{count:,} graphs, time per graph", seconds / count * 1e3, seconds / count * 1e3, "ms"))
        result.append(Row(f"{count:,} graphs, peak memory", peak, peak, "MiB"))
    return result


def _run(count: int) -> tuple[float, float]:
    """Return the seconds that one run over *count* files takes, and its peak memory in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            graph = write_documents([inputs.graph_of_five(number)])
            (Path(folder) / f"graph-{number:05}.yaml").write_text(graph, encoding="utf-8")
        command = [sys.executable, "-m", "dynamo_render", "render", folder, "--api-versions", "grove.io"]
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=inputs.ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _pid, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
    if status:
        message = f"rendering {count} graphs ended with status {status}"
        raise RuntimeError(message)
    return seconds, usage.ru_maxrss / 1024

"""The controller against a real API server without other controllers. ``python -m benchmarks.controller``.

Prints a table and asserts nothing. The program runs as users run it, in a process of its own; what it writes is counted
by the API server, which takes its share of the machine, so the figures say as much about both cores as about the code.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from benchmarks import inputs
from benchmarks.table import Row, text
from dynamo_controller.adapters.kubernetes import KubernetesCluster
from dynamo_controller.ports import Kind, Selection
from dynamo_render.schemas import definition, kinds
from tests.cluster import addons, bench
from tests.cluster.bench import Bench
from tests.cluster.client import answers

GRAPH = "nvidia.com/v1alpha1", "DynamoGraphDeployment"
FIRST_CHILD = {True: ("grove.io/v1alpha1", "PodCliqueSet"), False: ("nvidia.com/v1alpha1", "DynamoComponentDeployment")}
NAMESPACE = "bench"
REST, POLL = 5.0, 1.0
"""Seconds without a write after which work counts as done, and between looks at the counters of the server.

A look costs the server about a tenth of a second, which is time that it does not write in.
"""

BUSY = 0.05
"""Seconds of processor time between two looks that count as work."""

_COUNTED = re.compile(r"^apiserver_request_total\{(.*)\} (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_WRITES = {"APPLY", "PATCH", "POST", "PUT", "DELETE"}
_NOT_OURS = {"leases", "nodes", "priorityclasses", "flowschemas", "prioritylevelconfigurations"}
_OF_SERVER = "apiserver"


@attrs.frozen
class Plan:
    """How many *graphs*, *changes* of one and *idle* seconds, with how many *workers*; on *grove* or not."""

    graphs: int
    changes: int
    idle: float
    workers: int
    grove: bool


@attrs.frozen(eq=False)
class Program:
    """A running ``dynamo-controller``: its process, and the moment of its start."""

    process: subprocess.Popen[bytes]
    log: Path
    started: float

    @property
    def ready_after(self) -> float | None:
        """Seconds from the start to the line that says that all watches are warm."""
        with self.log.open() as lines:
            if any(json.loads(line)["message"] == "ready" for line in lines if line.endswith("\n")):
                return time.monotonic() - self.started
        return None

    @property
    def memory(self) -> float:
        """Resident memory in MB; nothing where the system does not tell."""
        with contextlib.suppress(OSError):
            status = Path(f"/proc/{self.process.pid}/status").read_text("utf-8")
            found = re.search(r"VmRSS:\s+(\d+) kB", status)
            return int(found[1]) / 1000 if found else float("nan")
        return float("nan")

    @property
    def busy(self) -> float:
        """Seconds of processor time so far."""
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{self.process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / 100
        return float("nan")


@contextlib.contextmanager
def running(server: Bench, folder: Path, plan: Plan) -> Iterator[Program]:
    """Run the program until the block ends."""
    words = [sys.executable, "-m", "dynamo_controller", "run", "--kubeconfig", str(server.kubeconfig)]
    settings = ["--restricted-namespace", NAMESPACE, "--nats-address", "nats://nats:4222"]
    log = folder / "controller.log"
    with log.open("wb") as lines:
        process = subprocess.Popen([*words, *settings, "--workers", str(plan.workers)], stderr=lines, cwd=inputs.ROOT)
    try:
        yield Program(process, log, time.monotonic())
    finally:
        process.terminate()
        process.wait(timeout=40)


def written(server: Bench) -> tuple[int, int]:
    """Return how many writes the API server has accepted so far: of objects and statuses, and of events."""
    objects = events = 0
    for labels, count in _COUNTED.findall(str(server.client.send("GET", "/metrics").body["message"])):
        known = dict(_LABEL.findall(labels))
        if known["verb"] in _WRITES and known["code"].startswith("2") and known["resource"] not in _NOT_OURS:
            if known["resource"] == "events":
                events += int(float(count))
            else:
                objects += int(float(count))
    return objects, events


def until_rest(server: Bench, program: Program) -> tuple[float, float]:
    """Return the seconds from the start of the program to ready and to its last write, events aside."""
    ready, seen = None, (written(server), program.busy)
    wrote = last = program.started
    while ready is None or time.monotonic() - last < REST:
        if program.process.poll() is not None:
            raise RuntimeError(program.log.read_text("utf-8")[-2000:])
        time.sleep(POLL)
        ready = ready or program.ready_after
        now = written(server), program.busy
        # Passes that write nothing take processor time, too.
        if now[0][0] != seen[0][0]:
            wrote = time.monotonic()
        if now[0] != seen[0] or now[1] - seen[1] > BUSY or ready is None:
            last = time.monotonic()
        seen = now
    return ready, max(wrote - program.started, ready)


def first_rows(server: Bench, program: Program, plan: Plan) -> list[Row]:
    """Measure how long it takes until everything is applied for the first time."""
    before = written(server)
    _, seconds = until_rest(server, program)
    objects, events = (now - then for now, then in zip(written(server), before, strict=True))
    name = f"{plan.graphs:,} graphs of 5 services, {'Grove' if plan.grove else 'component'} path"
    return [
        one(f"{name}: from empty to all applied", seconds, "s", 90),
        one("writes of objects and statuses", objects, "writes"),
        one("events", events, "events"),
        one("CPU of the program", program.busy, "s"),
        one("rate (more is better)", objects / seconds, "writes/s", 400),
        one("memory then", program.memory, "MB", 200),
    ]


def second_rows(server: Bench, program: Program) -> list[Row]:
    """Measure a start in front of what is in place already."""
    before = written(server)
    ready, _ = until_rest(server, program)
    objects, events = (now - then for now, then in zip(written(server), before, strict=True))
    return [
        one("restart: ready", ready, "s", 15),
        one("restart: all passes made", program.busy, "s of CPU"),
        one("restart: writes", objects, "writes"),
        one("restart: events", events, "events"),
        one("restart: memory", program.memory, "MB", 200),
    ]


def idle_rows(server: Bench, program: Program, plan: Plan) -> list[Row]:
    """Measure what is done while nothing is to do."""
    before, busy = written(server), program.busy
    time.sleep(plan.idle)
    objects, events = (now - then for now, then in zip(written(server), before, strict=True))
    return [
        one(f"{plan.idle:g} s of nothing: writes and events", objects + events, "writes"),
        one(f"{plan.idle:g} s of nothing: CPU", (program.busy - busy) / plan.idle * 100, "% of a core", 1),
    ]


async def change_rows(server: Bench, plan: Plan) -> list[Row]:
    """Measure the time from an accepted change of a graph to the first write of a child, as a watch tells it."""
    cluster = await KubernetesCluster.connected(str(server.kubeconfig))
    kind = Kind(*FIRST_CHILD[plan.grove])
    spans = []
    try:
        for number in range(plan.changes):
            listed = await cluster.page(Selection(kind, NAMESPACE), limit=1)
            events = cluster.watch(Selection(kind, NAMESPACE), listed.resource_version)
            heard = asyncio.ensure_future(anext(events))
            await asyncio.sleep(0.2)
            content = graph(number % plan.graphs, plan)
            content["spec"]["services"]["Worker1"]["replicas"] = 3 + number
            await asyncio.to_thread(server.client.apply, content)
            start = time.perf_counter()
            await asyncio.wait_for(heard, 30)
            spans.append(max(0.0, time.perf_counter() - start))
            await events.aclose()  # type: ignore[attr-defined]
            await asyncio.sleep(0.3)
    finally:
        await cluster.close()
    ordered = sorted(spans)
    return [
        one("spec change to first child write, p50", ordered[len(ordered) // 2] * 1e3, "ms"),
        one("spec change to first child write, p99", ordered[int(len(ordered) * 0.99)] * 1e3, "ms", 200),
    ]


def graph(number: int, plan: Plan) -> dict[str, Any]:
    """Return one of the graphs."""
    content = inputs.graph_of_five(number)
    content["metadata"]["annotations"] = {"nvidia.com/enable-grove": str(plan.grove).lower()}
    return content


def one(measure: str, value: float, unit: str, target: float | None = None) -> Row:
    """Return the row of a measure that is taken once."""
    return Row(measure, value, value, unit, target)


def rows(server: Bench, folder: Path, plan: Plan) -> list[Row]:
    """Measure everything, one after the other."""
    server.ensure_namespaces([NAMESPACE])
    refused = [
        answer.message for answer in answers(server.client.verdict_on_create, [graph(0, plan)]) if answer.is_refusal
    ]
    if refused:
        raise RuntimeError(refused[0])
    list(answers(_creating(server), (graph(number, plan) for number in range(plan.graphs))))
    with running(server, folder, plan) as program:
        found = first_rows(server, program, plan)
    with running(server, folder, plan) as program:
        found += second_rows(server, program)
        found += idle_rows(server, program, plan)
        found += asyncio.run(change_rows(server, plan))
    return found


def _creating(server: Bench) -> Any:
    path = f"{server.client.path(*GRAPH, namespace=NAMESPACE)}?fieldManager=benchmark"
    return lambda content: server.client.send("POST", path, content)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.controller", description=__doc__)
    parser.add_argument("--graphs", type=int, default=1000, help="how many graphs (1000)")
    parser.add_argument("--changes", type=int, default=50, help="how many changes of a graph (50)")
    parser.add_argument("--idle", type=float, default=600.0, help="seconds of doing nothing (600)")
    parser.add_argument("--workers", type=int, default=8, help="resources worked on at a time (8)")
    parser.add_argument("--grove", action="store_true", help="the Grove path instead of the component path")
    plan = Plan(**vars(parser.parse_args()))
    own = [definition.custom_resource_definition(kind) for kind in kinds.KINDS.values()]
    definitions = [*addons.definition_texts(), addons.pod_group_definition(), *own]
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder) / "server"
        logs.mkdir()
        with bench.api_server(logs, definitions) as server:
            print(text(rows(server, Path(folder), plan)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

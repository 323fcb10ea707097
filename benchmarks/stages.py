"""Requests and models at rest, against a real API server without other controllers. ``python -m benchmarks.stages``.

Requests wait for Jobs that nobody runs; half of the models are base models with a slice of pods, half are adapters
without pods. Prints a table and asserts nothing; measured as in `benchmarks.controller`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks import controller
from benchmarks.controller import NAMESPACE, Plan, idle_rows, one, until_rest, written
from benchmarks.table import Row, text
from dynamo_render.kube import names
from dynamo_render.schemas import definition, kinds
from tests.cluster import addons, bench
from tests.cluster.bench import Bench
from tests.cluster.client import Answer, answers

Json = dict[str, Any]
OURS = "nvidia.com/v1alpha1"


def request(number: int) -> Json:
    """Return a request whose profiling never ends."""
    profiling = {"profilerImage": "registry.example/profiler:1", "config": {"sla": {"ttft": 200}}}
    spec = {"model": f"acme/model-{number}", "backend": "vllm", "profilingConfig": profiling}
    return _resource("DynamoGraphDeploymentRequest", f"request-{number}", spec)


def model(number: int) -> Json:
    """Return a base model, or an adapter of a base model that nobody serves."""
    base = f"acme/model-{number}"
    if number % 2:
        return _resource("DynamoModel", f"model-{number}", {"modelName": base, "baseModelName": base})
    source = {"uri": f"s3://adapters/{number}"}
    spec = {"modelName": f"{base}-law", "baseModelName": base, "modelType": "lora", "source": source}
    return _resource("DynamoModel", f"model-{number}", spec)


def slices(count: int) -> Iterator[Json]:
    """Yield the slices of the base models among *count* models, with eight pods each."""
    for number in range(1, count, 2):
        digits = names.model_hash(f"acme/model-{number}")
        labels = {"nvidia.com/dynamo-base-model-hash": digits, "kubernetes.io/service-name": f"dynamo-model-{digits}"}
        pods = [
            {
                "addresses": [f"10.{number // 250}.{number % 250}.{pod}"],
                "targetRef": {"kind": "Pod", "name": f"pod-{pod}"},
            }
            for pod in range(1, 9)
        ]
        metadata = {"name": f"dynamo-model-{digits}-x", "namespace": NAMESPACE, "labels": labels}
        frame = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": metadata}
        yield {**frame, "addressType": "IPv4", "endpoints": pods}


def _resource(kind: str, name: str, spec: Json) -> Json:
    return {"apiVersion": OURS, "kind": kind, "metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec}


def rows(server: Bench, folder: Path, plan: Plan, requests: int, models: int) -> list[Row]:
    """Measure the first passes, a restart, and doing nothing."""
    server.ensure_namespaces([NAMESPACE])
    wanted = [*map(request, range(requests)), *map(model, range(models)), *slices(models)]
    refused = [answer.message for answer in answers(_creating(server), wanted) if answer.is_refusal]
    if refused:
        raise RuntimeError(refused[0])
    found: list[Row] = []
    for start in ("first start", "restart"):
        before = written(server)
        with controller.running(server, folder, plan) as program:
            _, seconds = until_rest(server, program)
            objects, events = (now - then for now, then in zip(written(server), before, strict=True))
            found += [
                one(f"{requests:,} requests, {models:,} models, {start}: all passes made", seconds, "s"),
                one(f"{start}: writes of objects and statuses", objects, "writes"),
                one(f"{start}: events", events, "events"),
                one(f"{start}: memory", program.memory, "MB", 200),
            ]
            if start == "restart":
                found += idle_rows(server, program, plan)
    return found


def _creating(server: Bench) -> Callable[[Json], Answer]:
    def create(content: Json) -> Answer:
        path = server.client.path(content["apiVersion"], content["kind"], namespace=NAMESPACE)
        return server.client.send("POST", f"{path}?fieldManager=benchmark", content)

    return create


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stages", description=__doc__)
    parser.add_argument("--requests", type=int, default=1000, help="how many requests (1000)")
    parser.add_argument("--models", type=int, default=1000, help="how many models (1000)")
    parser.add_argument("--idle", type=float, default=600.0, help="seconds of doing nothing (600)")
    given = parser.parse_args()
    plan = Plan(graphs=0, changes=0, idle=given.idle, workers=8, grove=False)
    own: list[Json | str] = [definition.custom_resource_definition(kind) for kind in kinds.KINDS.values()]
    definitions = [*addons.definition_texts(), addons.pod_group_definition(), *own]
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder) / "server"
        logs.mkdir()
        with bench.api_server(logs, definitions) as server:
            print(text(rows(server, Path(folder), plan, given.requests, given.models)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

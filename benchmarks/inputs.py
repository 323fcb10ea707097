"""What is rendered: the public examples of the conformance folder beside the project, or else our own examples."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dynamo_render import ClusterFacts, OperatorSettings, read_documents

ROOT = Path(__file__).resolve().parent.parent
PUBLIC = ROOT.parent / "shared" / "conformance" / "public-examples.jsonl"
EXAMPLES = ROOT / "examples"
ONE_EXAMPLE = EXAMPLES / "vllm-disagg-multinode"

Case = tuple[dict[str, Any], OperatorSettings, ClusterFacts]


def cases() -> tuple[str, list[Case]]:
    """Return where the cases come from, and resource, settings and facts of each."""
    if PUBLIC.exists():
        with PUBLIC.open(encoding="utf-8") as lines:
            return "public examples", [_recorded(json.loads(line)) for line in lines]
    return "own examples", list(_own())


def _recorded(case: dict[str, Any]) -> Case:
    settings = OperatorSettings.from_mapping({**case["settings"], "profile": "0.9-shipped"})
    return case["resource"], settings, ClusterFacts.from_mapping(case["facts"])


def _own() -> Iterator[Case]:
    for folder in sorted(EXAMPLES.iterdir()):
        graph = folder / "graph.yaml"
        if graph.exists():
            settings = OperatorSettings.from_mapping(_mapping(folder / "settings.yaml"))
            facts = ClusterFacts.from_mapping(_mapping(folder / "facts.yaml"))
            for document in read_documents(graph.read_text(encoding="utf-8"), str(graph)):
                if isinstance(document, dict):
                    yield document, settings, facts


def _mapping(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    document = next(iter(read_documents(path.read_text(encoding="utf-8"), str(path))), {})
    return document if isinstance(document, dict) else {}


def graph_of_five(number: int) -> dict[str, Any]:
    """Return a graph of five services; its name and one argument depend on *number*."""
    container = {
        "image": "registry.example/runtime:1.0",
        "workingDir": "/workspace",
        "command": ["python3", "-m", "dynamo.vllm"],
        "args": ["--model", f"acme/model-{number}", "--enable-prefix-caching"],
        "env": [{"name": "HF_HOME", "value": "/models"}, {"name": "LEVEL", "value": "info"}],
    }
    worker = {
        "replicas": 2,
        "resources": {"limits": {"gpu": "1", "memory": "80Gi"}, "requests": {"cpu": "8"}},
        "envFromSecret": "hf-token",
        "volumeMounts": [{"name": "models", "mountPoint": "/models"}],
        "extraPodSpec": {"mainContainer": container},
    }
    services: dict[str, Any] = {
        "Frontend": {
            "componentType": "frontend",
            "replicas": 1,
            "extraPodSpec": {"mainContainer": {"image": "registry.example/runtime:1.0"}},
        },
        **{f"Worker{index}": {"componentType": "worker", **copy.deepcopy(worker)} for index in range(4)},
    }
    return {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoGraphDeployment",
        "metadata": {"name": f"graph-{number}", "namespace": "bench"},
        "spec": {"backendFramework": "vllm", "services": services},
    }

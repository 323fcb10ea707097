"""The command as a whole: `--pods`, and one input after the other."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from dynamo_render import read_documents
from dynamo_render.commandline import inputs
from dynamo_render.commandline.contract import Console
from dynamo_render.commandline.messages import Report
from dynamo_render.commandline.render import with_namespace
from tests.unit.commandline.conftest import Call, Result

Write = Callable[[str, str], str]
Graph = Callable[..., str]


def documents(text: str) -> list[dict[str, Any]]:
    """Return every document of *text*."""
    return list(cast("Iterator[dict[str, Any]]", read_documents(text)))


@pytest.fixture
def multinode(graph: Graph) -> str:
    """Return a graph with a worker over two nodes."""
    worker = """\
    Decode:
      componentType: worker
      replicas: 1
      multinode: {nodeCount: 2}
      resources: {limits: {gpu: "4"}}
      extraPodSpec:
        mainContainer:
          image: registry.example/runtime:1
          command: [python3, -m, dynamo.sglang]
          args: [--model, $(MODEL)]
          env: [{name: MODEL, value: qwen}]
"""
    return graph() + worker


def test_pods_show_every_role_and_rank(call: Call, write: Write, multinode: str) -> None:
    out = call("render", write("a.yaml", multinode), "--pods", "--api-versions", "grove.io").out
    shown = [(pod["component"], pod["role"], pod["rank"]) for pod in documents(out)]
    assert sorted(shown) == [("Decode", "leader", 0), ("Decode", "worker", 1), ("Frontend", "main", 0)]


def test_pods_have_command_lines_with_values_for_variables(call: Call, write: Write, multinode: str) -> None:
    words = ["render", write("a.yaml", multinode), "--pods", "--select", "component=Decode"]
    out = call(*words, "--api-versions", "grove.io").out
    leader = documents(out)[0]["containers"][0]
    assert "--model qwen" in leader["commandLine"]
    assert "$(GROVE" not in leader["commandLine"]


def test_pods_can_be_json_lines(call: Call, write: Write, graph: Graph) -> None:
    out = call("render", write("a.yaml", graph()), "--pods", "-o", "jsonl").out
    assert [json.loads(line)["component"] for line in out.splitlines()] == ["Frontend"]


def test_pods_can_be_names(call: Call, write: Write, graph: Graph) -> None:
    assert call("render", write("a.yaml", graph()), "--pods", "-o", "name").out == "pod/agg-frontend-<id>\n"


def test_pods_can_go_to_files(call: Call, write: Write, graph: Graph, tmp_path: Path) -> None:
    call("render", write("a.yaml", graph()), "--pods", "--output-dir", "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["team-a.pod.agg-frontend-%3Cid%3E.yaml"]


def test_the_profile_changes_the_result(call: Call, write: Write, graph: Graph) -> None:
    """The released operator does not check the length of composed names."""
    words = ["render", write("a.yaml", graph("a" * 60)), "--restricted-namespace", "team-a", "--profile"]
    assert call(*words, "0.9").status == 1
    assert call(*words, "0.9-shipped").status == 0


def test_without_input_the_call_is_a_usage_error(call: Call) -> None:
    result = call("render")
    assert (result.status, result.out) == (2, "")
    assert "INPUT" in result.err


def test_a_document_is_read_only_when_its_turn_comes(write: Write, graph: Graph, call: Call) -> None:
    """Memory stays flat over any number of inputs, and the first output does not wait for the last input."""
    del call  # it enters the folder
    console = Console(None, io.StringIO(), io.StringIO(), {})
    report = Report(console.stderr)
    first, second = inputs.sources([write("a.yaml", graph("a")), "b.yaml"], report)
    stream = (document for source in (first, second) for document in inputs.documents(source, console, report))
    assert next(stream).value["metadata"]["name"] == "a"
    write("b.yaml", graph("b"))
    assert next(stream).value["metadata"]["name"] == "b"


def test_a_resource_keeps_its_namespace() -> None:
    resource = {"metadata": {"namespace": "mine"}}
    assert with_namespace(resource, "other") is resource


def test_giving_a_namespace_leaves_the_input_alone() -> None:
    resource: dict = {"metadata": {"name": "a"}}
    assert with_namespace(resource, "b") == {"metadata": {"name": "a", "namespace": "b"}}
    assert resource == {"metadata": {"name": "a"}}


@pytest.mark.parametrize("value", [None, 5, [], {}, {"metadata": 3}])
def test_what_is_no_resource_stays_as_it_is(value: object) -> None:
    assert with_namespace(value, "b") is value


def test_a_model_leads_to_no_objects_and_a_note_says_so(call: Call, write: Write) -> None:
    spec = "  modelName: acme/law\n  baseModelName: acme/chat\n"
    name = write("a.yaml", f"apiVersion: nvidia.com/v1alpha1\nkind: DynamoModel\nmetadata:\n  name: law\nspec:\n{spec}")
    assert call("render", name) == Result(0, "", "dynamo-render: note: nothing is made now\n")

"""The forms of the output."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from dynamo_render import read_documents
from dynamo_render.commandline import outputs
from tests.unit.commandline.conftest import Call

Write = Callable[[str, str], str]
Graph = Callable[..., str]


def documents(text: str) -> list[dict[str, Any]]:
    """Return every document of *text*."""
    return list(cast("Iterator[dict[str, Any]]", read_documents(text)))


NAMES = ["Deployment", "Service"]
SELECTED = ("--select", "kind=Deployment|Service")


def test_yaml_is_one_document_for_each_object(call: Call, write: Write, graph: Graph) -> None:
    out = call("render", write("a.yaml", graph()), *SELECTED).out
    assert [made["kind"] for made in documents(out)] == NAMES


def test_yaml_of_several_inputs_is_one_stream(call: Call, write: Write, graph: Graph) -> None:
    out = call("render", write("a.yaml", graph("a")), write("b.yaml", graph("b")), *SELECTED).out
    assert [made["metadata"]["name"] for made in documents(out)] == [
        "a-frontend",
        "a-frontend",
        "b-frontend",
        "b-frontend",
    ]
    assert out.count("---\n") == 3


def test_json_is_one_list(call: Call, write: Write, graph: Graph) -> None:
    found = json.loads(call("render", write("a.yaml", graph()), *SELECTED, "-o", "json").out)
    assert (found["apiVersion"], found["kind"]) == ("v1", "List")
    assert [made["kind"] for made in found["items"]] == NAMES


def test_json_is_indented_as_kubectl_does_it(call: Call, write: Write, graph: Graph) -> None:
    out = call("render", write("a.yaml", graph()), *SELECTED, "-o", "json").out
    assert out == json.dumps(json.loads(out), indent=4) + "\n"


def test_json_of_nothing_is_an_empty_list(call: Call, write: Write, graph: Graph) -> None:
    out = call("render", write("a.yaml", graph()), "--select", "name=none", "-o", "json").out
    assert json.loads(out) == {"apiVersion": "v1", "kind": "List", "items": []}


def test_json_lines_are_one_object_each(call: Call, write: Write, graph: Graph) -> None:
    out = call("render", write("a.yaml", graph()), *SELECTED, "-o", "jsonl").out
    assert [json.loads(line)["kind"] for line in out.splitlines()] == NAMES


def test_all_forms_hold_the_same_objects(call: Call, write: Write, graph: Graph) -> None:
    name = write("a.yaml", graph())
    as_yaml = documents(call("render", name).out)
    assert json.loads(call("render", name, "-o", "json").out)["items"] == as_yaml
    assert [json.loads(line) for line in call("render", name, "-o", "jsonl").out.splitlines()] == as_yaml


def test_names_are_as_kubectl_prints_them(call: Call, write: Write, graph: Graph) -> None:
    out = call("render", write("a.yaml", graph()), *SELECTED, "-o", "name").out
    assert out == "deployment.apps/agg-frontend\nservice/agg-frontend\n"


def test_a_folder_gets_one_file_for_each_object(call: Call, write: Write, graph: Graph, tmp_path: Path) -> None:
    result = call("render", write("a.yaml", graph()), *SELECTED, "--output-dir", "new/out")
    assert (result.status, result.out, result.err) == (0, "", "")
    assert sorted(path.name for path in (tmp_path / "new" / "out").iterdir()) == [
        "team-a.deployment.agg-frontend.yaml",
        "team-a.service.agg-frontend.yaml",
    ]


def test_files_hold_what_the_stream_holds(call: Call, write: Write, graph: Graph, tmp_path: Path) -> None:
    name = write("a.yaml", graph())
    call("render", name, "--output-dir", "out", "--select", "kind=Service")
    text = (tmp_path / "out" / "team-a.service.agg-frontend.yaml").read_text(encoding="utf-8")
    assert text == call("render", name, "--select", "kind=Service").out


def test_files_can_be_json(call: Call, write: Write, graph: Graph, tmp_path: Path) -> None:
    call("render", write("a.yaml", graph()), "--output-dir", "out", "-o", "json", "--select", "kind=Service")
    text = (tmp_path / "out" / "team-a.service.agg-frontend.json").read_text(encoding="utf-8")
    assert json.loads(text)["kind"] == "Service"


@pytest.mark.parametrize("form", ["name", "jsonl"])
def test_other_forms_cannot_go_to_files(form: str, call: Call, write: Write, graph: Graph) -> None:
    result = call("render", write("a.yaml", graph()), "--output-dir", "out", "-o", form)
    assert result.status == 2
    assert f"not {form}" in result.err


def test_two_inputs_with_the_same_object_are_fine(call: Call, write: Write, graph: Graph) -> None:
    names = [write("a.yaml", graph()), write("b.yaml", graph())]
    assert call("render", *names, "--output-dir", "out").status == 0


def test_two_inputs_that_disagree_about_an_object_are_reported(call: Call, write: Write, graph: Graph) -> None:
    names = [write("a.yaml", graph()), write("b.yaml", graph().replace("runtime:1", "runtime:2"))]
    result = call("render", *names, "--output-dir", "out", "--select", "kind=Deployment")
    assert result.status == 1
    assert result.err.startswith(
        "b.yaml: output/collision: team-a.deployment.agg-frontend.yaml is already written from a.yaml, "
    )


def test_a_folder_that_cannot_be_made_is_one_line(call: Call, write: Write, graph: Graph) -> None:
    name = write("a.yaml", graph())
    result = call("render", name, "--output-dir", name)
    assert (result.status, result.err) == (2, "dynamo-render: a.yaml: file exists\n")


def test_a_name_cannot_lead_out_of_the_folder() -> None:
    item = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "../../x", "namespace": "/"}}
    assert outputs.file_stem(item) == "%2F.service...%2F..%2Fx"


def test_different_objects_have_different_files() -> None:
    """Namespaces and kinds hold hyphens, but no dots."""
    kinds = [("a", "Service", "b-c"), ("a-service", "Service", "b-c"), ("a", "Service", "service.b-c")]
    stems = {
        outputs.file_stem({"kind": kind, "metadata": {"namespace": namespace, "name": name}})
        for namespace, kind, name in kinds
    }
    assert len(stems) == len(kinds)

"""Files, folders, standard input, lists, and what is skipped."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dynamo_render import Rendered, pipeline, read_documents
from tests.unit.commandline.conftest import Call

Write = Callable[[str, str], str]
Graph = Callable[..., str]

DEPLOYMENT = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n"


def graphs_in(names: str) -> list[str]:
    """Return the graphs whose frontends are among *names* of objects."""
    found = [line.partition("/")[2] for line in names.splitlines() if line.startswith("deployment.apps/")]
    return [name.removesuffix("-frontend") for name in found]


def test_inputs_are_rendered_in_the_order_of_the_call(call: Call, write: Write, graph: Graph) -> None:
    names = [write("b.yaml", graph("b")), write("a.yaml", graph("a"))]
    assert graphs_in(call("render", *names, "-o", "name").out) == ["b", "a"]


def test_flags_may_stand_between_inputs(call: Call, write: Write, graph: Graph) -> None:
    first, second = write("a.yaml", graph("a")), write("b.yaml", graph("b"))
    assert graphs_in(call("render", first, "-o", "name", second).out) == ["a", "b"]


def test_a_folder_is_read_with_everything_below_it_in_order(call: Call, write: Write, graph: Graph) -> None:
    for name in ("f/c.json", "f/b/z.yml", "f/a.yaml", "f/b/a.YAML"):
        write(name, graph(name[2:].replace("/", "-").replace(".", "-").lower()))
    result = call("render", "f", "-o", "name")
    assert graphs_in(result.out) == ["a-yaml", "b-a-yaml", "b-z-yml", "c-json"]


def test_a_folder_is_not_searched_for_other_files(call: Call, write: Write, graph: Graph) -> None:
    write("f/a.yaml", graph("a"))
    write("f/notes.txt", "kind: [")
    write("f/.hidden.yaml", "kind: [")
    write("f/.git/config.yaml", "kind: [")
    assert (call("render", "f").status, call("render", "f").err) == (0, "")


def test_a_pipe_in_a_folder_is_not_opened(call: Call, write: Write, graph: Graph, tmp_path: Path) -> None:
    """Nobody may ever write into it."""
    write("f/a.yaml", graph("a"))
    os.mkfifo(tmp_path / "f" / "pipe.yaml")
    assert call("render", "f").status == 0


def test_a_file_that_the_user_names_may_have_any_ending(call: Call, write: Write, graph: Graph) -> None:
    assert graphs_in(call("render", write("a.txt", graph("a")), "-o", "name").out) == ["a"]


def test_a_dash_reads_standard_input(call: Call, graph: Graph) -> None:
    assert graphs_in(call("render", "-", "-o", "name", stdin=graph("a").encode()).out) == ["a"]


def test_a_file_may_hold_several_documents(call: Call, write: Write, graph: Graph) -> None:
    name = write("a.yaml", f"{graph('a')}---\n# nothing\n---\n{graph('b')}")
    assert graphs_in(call("render", name, "-o", "name").out) == ["a", "b"]


def test_the_members_of_a_list_are_rendered(call: Call, graph: Graph) -> None:
    items = [next(iter(read_documents(graph(name)))) for name in ("a", "b")]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    assert graphs_in(call("render", "-", "-o", "name", stdin=text.encode()).out) == ["a", "b"]


def test_problems_in_a_list_have_the_path_from_its_top(call: Call, write: Write) -> None:
    name = write("a.yaml", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: DynamoGraphDeployment\n")
    assert call("render", name).err.startswith("a.yaml:4:15: schema/kind: items[0].apiVersion: ")


def test_objects_of_other_kinds_are_skipped_with_a_note(call: Call, write: Write, graph: Graph) -> None:
    name = write("a.yaml", f"{DEPLOYMENT}---\n{graph('a')}---\n{DEPLOYMENT}")
    result = call("render", name, "-o", "name")
    assert (result.status, graphs_in(result.out)) == (0, ["a"])
    assert result.err == "a.yaml: note: skipped what is not for dynamo-render: 2 Deployment\n"


def test_other_kinds_of_the_same_api_group_are_skipped(call: Call, write: Write) -> None:
    name = write("a.yaml", "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeploymentScalingAdapter\n")
    result = call("render", name)
    assert result.status == 0
    assert "1 DynamoGraphDeploymentScalingAdapter" in result.err


def test_a_folder_may_hold_files_for_other_programs(call: Call, write: Write, graph: Graph) -> None:
    write("f/a.yaml", graph("a"))
    write("f/settings.yaml", "nats_address: x\n")
    result = call("render", "f", "-o", "name")
    assert (result.status, graphs_in(result.out)) == (0, ["a"])
    assert "1 document without kind" in result.err


def test_a_run_without_anything_to_render_says_so(call: Call, write: Write) -> None:
    result = call("render", write("a.yaml", DEPLOYMENT))
    assert result.status == 0
    assert result.err.endswith("dynamo-render: note: there is nothing to render\n")


def test_one_bad_document_does_not_hide_the_others(call: Call, write: Write, graph: Graph) -> None:
    name = write("a.yaml", f"{graph('a')}---\nkind: [\n---\n{graph('b', replicas='replica')}---\n{graph('c')}")
    result = call("render", name, write("d.yaml", graph("d")), "-o", "name")
    assert graphs_in(result.out) == ["a", "b", "c", "d"]
    assert result.status == 2


def test_a_file_that_cannot_be_read_does_not_hide_the_others(call: Call, write: Write, graph: Graph) -> None:
    result = call("render", "missing.yaml", write("a.yaml", graph("a")), "-o", "name")
    assert (result.status, graphs_in(result.out)) == (2, ["a"])


def test_a_mistake_of_ours_does_not_hide_the_others(
    call: Call, write: Write, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = pipeline.render

    def sometimes(resource: dict[str, Any], **surroundings: Any) -> Rendered:
        if resource["metadata"]["name"] == "a":
            raise ZeroDivisionError
        return real(resource, **surroundings)

    monkeypatch.setattr(pipeline, "render", sometimes)
    result = call("render", write("a.yaml", graph("a")), write("b.yaml", graph("b")), "-o", "name")
    assert (result.status, graphs_in(result.out)) == (2, ["b"])
    assert result.err.startswith("a.yaml: internal error: ZeroDivisionError")


def test_placeholders_are_rendered_as_they_are(call: Call, write: Write, graph: Graph) -> None:
    name = write("a.yaml", graph("a").replace("registry.example/runtime:1", '"${IMAGE}"'))
    result = call("render", name)
    assert result.status == 0
    assert "image: ${IMAGE}" in result.out


def test_the_namespace_of_the_call_is_for_resources_without_one(call: Call, write: Write, graph: Graph) -> None:
    bare = graph("a").replace("  namespace: team-a\n", "")
    name = write("a.yaml", f"{bare}---\n{graph('b')}")
    out = call("render", name, "--namespace", "team-b", "--select", "kind=Deployment").out
    assert [line for line in out.splitlines() if line.startswith("  namespace:")] == [
        "  namespace: team-b",
        "  namespace: team-a",
    ]

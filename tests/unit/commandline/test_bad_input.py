"""Whatever the input is: complete, positioned messages, exit code 1 or 2, and never a traceback."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.commandline.conftest import Call, Result

Write = Callable[[str, str], str]
Graph = Callable[..., str]


def refused(result: Result, status: int, *messages: str) -> None:
    """Check that a call ended with *status*, and that every one of *messages* starts a line."""
    assert result.status == status
    assert result.out == ""
    assert "Traceback" not in result.err
    assert "internal error" not in result.err
    lines = result.err.splitlines()
    assert [message for message in messages if not any(line.startswith(message) for line in lines)] == []


def worker(**fields: str) -> str:
    """Return a service with *fields* for the end of a graph."""
    lines = "".join(f"      {name}: {value}\n" for name, value in fields.items())
    return f"    Worker:\n      componentType: worker\n{lines}"


IMAGE = "extraPodSpec: {mainContainer: {image: 'registry.example/runtime:1'}}"


def test_what_is_not_yaml(call: Call, write: Write) -> None:
    refused(call("render", write("a.yaml", "spec:\n  a: b: c\n")), 2, "a.yaml:2:7: input/unreadable: ")


def test_what_is_not_text(call: Call, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"a: \xff\n")
    refused(call("render", "a.yaml"), 2, "a.yaml:1:4: input/unreadable: byte 0xFF is no UTF-8")


def test_a_misspelled_kind(call: Call, write: Write, graph: Graph) -> None:
    name = write("a.yaml", graph().replace("kind: DynamoGraphDeployment", "kind: DynamoGraphDeploymnt"))
    refused(call("render", name), 1, "a.yaml:2:7: schema/kind: kind: ", "    hint: did you mean DynamoGraphDeployment?")


def test_a_kind_of_ours_in_another_version(call: Call, write: Write, graph: Graph) -> None:
    name = write("a.yaml", graph().replace("nvidia.com/v1alpha1", "nvidia.com/v9"))
    refused(call("render", name), 1, "a.yaml:1:13: schema/kind: apiVersion: ")


def test_a_missing_kind(call: Call, write: Write, graph: Graph) -> None:
    name = write("a.yaml", graph().replace("kind: DynamoGraphDeployment\n", ""))
    refused(call("render", name), 1, "a.yaml:1:1: schema/kind: kind: ")


@pytest.mark.parametrize("text", ["- 1\n", "text\n", "5\n", "true\n", "[]\n"])
def test_a_document_that_is_no_object(text: str, call: Call, write: Write) -> None:
    refused(call("render", write("a.yaml", text)), 1, "a.yaml:1:1: schema/type: must be object, got ")


def test_a_missing_image(call: Call, write: Write, graph: Graph) -> None:
    name = write("a.yaml", graph() + worker(backendFramework="vllm"))
    refused(call("render", name), 1, "a.yaml:15:7: component/image: spec.services.Worker.extraPodSpec.")


def test_a_missing_name(call: Call, write: Write, graph: Graph) -> None:
    result = call("render", write("a.yaml", graph().replace("  name: NAME\n", "").replace("  name: agg\n", "")))
    refused(result, 1, "a.yaml:4:3: ")
    assert "metadata.name" in result.err


@pytest.mark.parametrize(
    ("value", "found"),
    [("'2'", 'string "2"'), ("true", "boolean true"), ("1.5", "number 1.5"), ("[1]", "array"), ("{}", "object")],
)
def test_a_wrong_type(value: str, found: str, call: Call, write: Write, graph: Graph) -> None:
    name = write("a.yaml", graph().replace("replicas: 1", f"replicas: {value}"))
    message = "a.yaml:10:17: schema/type: spec.services.Frontend.replicas: must be integer, got "
    refused(call("render", name), 1, message + found)


@pytest.mark.parametrize("count", ["-1", "2147483648", "99999999999999999999", "1e400"])
def test_a_count_that_is_too_small_or_too_large(count: str, call: Call, write: Write, graph: Graph) -> None:
    result = call("render", write("a.yaml", graph().replace("replicas: 1", f"replicas: {count}")))
    assert result.status in (1, 2)
    refused(result, result.status, "a.yaml:10:17: ")


def test_a_quantity_that_is_none(call: Call, write: Write, graph: Graph) -> None:
    name = write("a.yaml", graph().replace("replicas: 1\n", "resources: {limits: {cpu: lots}}\n"))
    refused(call("render", name), 1, "a.yaml:10:33: ")


def test_a_name_over_its_limit_after_composition(call: Call, write: Write, graph: Graph) -> None:
    result = call("render", write("a.yaml", graph("a" * 60)))
    refused(result, 1, "a.yaml:")
    assert f"{'a' * 60}-frontend" in result.err


def test_two_services_that_collide_after_lower_casing(call: Call, write: Write, graph: Graph) -> None:
    text = graph() + f"    FRONTEND:\n      componentType: frontend\n      {IMAGE}\n"
    result = call("render", write("a.yaml", text))
    refused(result, 1, "a.yaml:")
    assert "FRONTEND" in result.err


def test_a_backend_that_cannot_be_detected(call: Call, write: Write, graph: Graph) -> None:
    command = "python3 -m dynamo.vllm & python3 -m dynamo.sglang"
    container = f"{{image: x, command: [sh, -c], args: ['{command}']}}"
    result = call("render", write("a.yaml", graph() + worker(extraPodSpec=f"{{mainContainer: {container}}}")))
    refused(result, 1, "a.yaml:1")
    assert "the command starts vllm and sglang" in result.err


def test_a_facts_file_that_contradicts_itself(call: Call, write: Write, graph: Graph) -> None:
    facts = write("f.yaml", "gpus_per_node: 4\nnodes:\n- {gpus: 8}\n")
    refused(
        call("render", write("a.yaml", graph()), "--facts", facts),
        1,
        "f.yaml:1:16: facts/contradiction: gpus_per_node: ",
    )


def test_a_missing_file(call: Call) -> None:
    refused(call("render", "a.yaml"), 2, "a.yaml: input/unreadable: cannot be read: no such file or directory")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(call: Call, write: Write, graph: Graph, tmp_path: Path) -> None:
    name = write("a.yaml", graph())
    (tmp_path / name).chmod(0)
    refused(call("render", name), 2, "a.yaml: input/unreadable: cannot be read: permission denied")


def test_a_name_that_is_no_path(call: Call) -> None:
    refused(call("render", "a\0b"), 2, "a\\x00b: input/unreadable: cannot be read: embedded null byte")


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n---\n", "\n\n"])
def test_an_empty_file(text: str, call: Call, write: Write) -> None:
    refused(call("render", write("a.yaml", text)), 1, "a.yaml: input/empty: holds no document, expected a ")


def test_empty_standard_input(call: Call) -> None:
    refused(call("render", "-"), 1, "<stdin>: input/empty: ")


def test_an_empty_folder(call: Call, tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    refused(call("render", "f"), 1, "f: input/empty: holds no .yaml, .yml, .json file")


def test_a_file_of_ten_megabytes(call: Call, write: Write, graph: Graph) -> None:
    text = graph().replace("replicas: 1", f"replicas: {'x' * 10_000_000}")
    result = call("render", write("a.yaml", text))
    refused(result, 1, "a.yaml:10:17: schema/type: spec.services.Frontend.replicas: ")
    assert len(result.err) < 1000


@pytest.mark.parametrize("text", ["[" * 100_000, "a: " + "{a: " * 5000, "- " * 5000 + "x"])
def test_a_deeply_nested_file(text: str, call: Call, write: Write) -> None:
    refused(call("render", write("a.yaml", text)), 2, "a.yaml:1:")


def test_a_bomb_of_aliases(call: Call, write: Write) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    result = call("render", write("a.yaml", "\n".join(lines)))
    refused(result, 2, "a.yaml:")
    assert "aliases make too much of this document" in result.err


def test_an_alias_of_itself(call: Call, write: Write) -> None:
    refused(call("render", write("a.yaml", "a: &a [*a]\n")), 2, "a.yaml:1:8: input/unreadable: ")


def test_a_key_that_stands_twice(call: Call, write: Write, graph: Graph) -> None:
    name = write("a.yaml", graph().replace("replicas: 1\n", "replicas: 1\n      replicas: 2\n"))
    refused(call("render", name), 2, "a.yaml:11:7: input/unreadable: the key 'replicas' is already set")


def test_an_unknown_field_is_an_error_when_strict(call: Call, write: Write, graph: Graph) -> None:
    name = write("a.yaml", graph().replace("replicas: 1", "replica: 1"))
    refused(
        call("render", name, "--strict"), 1, "a.yaml:10:7: schema/unknown-field: ", "    hint: did you mean replicas?"
    )


def test_an_unknown_field_is_a_warning_otherwise(call: Call, write: Write, graph: Graph) -> None:
    result = call("render", write("a.yaml", graph().replace("replicas: 1", "replica: 1")), "-o", "name")
    assert result.status == 0
    assert result.err.startswith("a.yaml:10:7: warning: schema/unknown-field: ")
    assert "deployment.apps/agg-frontend" in result.out


def test_all_problems_of_a_document_come_in_order(call: Call, write: Write, graph: Graph) -> None:
    text = graph().replace("replicas: 1", "replicas: x").replace("componentType: frontend", "componentType: 5")
    result = call("render", write("a.yaml", text))
    refused(result, 1)
    assert [line.partition(": ")[0] for line in result.err.splitlines() if not line.startswith(" ")] == [
        "a.yaml:9:22",
        "a.yaml:10:17",
    ]

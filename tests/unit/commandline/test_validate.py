"""The command `validate`: everything with its place in one run, in every form; and the command `rules`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from dynamo_render.rules import RULES
from tests.unit.commandline.conftest import Call

Write = Callable[[str, str], str]
Graph = Callable[..., str]

# Each mistake is marked at the end of the line that has to be named, with the rule that finds it.
TEN_MISTAKES = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata:
  name: chat
spec:
  backendFramework: vlm  # schema/enum
  pvcs:
    - name: models
      create: true
      storageClass: fast
      size: 100 GB  # schema/quantity
      volumeAccessMode: ReadWriteMany
  services:
    Frontend:
      componentType: frontend
      replicas: "2"  # schema/type
      ingress:
        enabled: true  # SVC-V02
      extraPodSpec:
        mainContainer:
          image: registry.example/runtime:1.0
          ports:
            - name: http
              containerPort: 99999  # pod/port
    Decode:
      componentType: worker
      replicas: -1  # schema/range
      replica: 2  # schema/unknown-field
      resources:
        limits: {gpu: "1"}
      volumeMounts:
        - name: models  # SVC-V03
      extraPodSpec:
        mainContainer:
          image: registry.example/runtime:1.0
          command: [python3, -m, dynamo.vllm]
          args: [--model, acme/chat]
          readinessProbe:
            periodSeconds: 5  # pod/probe
          env:
            - value: x  # schema/required
"""


@pytest.fixture
def broken(write: Write, graph: Graph) -> str:
    """Return a file with one error on line 10, and one warning on line 11."""
    text = graph().replace("      replicas: 1\n", "      replicas: -1\n      envFromSecret: token\n")
    return write("broken.yaml", text)


def test_ten_mistakes_are_named_with_their_lines_in_one_run(call: Call, write: Write) -> None:
    lines = TEN_MISTAKES.splitlines()
    planted = [(number, line.partition("# ")[2]) for number, line in enumerate(lines, 1) if "# " in line]
    assert len(planted) == 10
    out = call("validate", write("ten.yaml", TEN_MISTAKES)).out
    found = re.findall(r"^ten\.yaml:(\d+):\d+: (?:warning: )?([\w/-]+): ", out, re.MULTILINE)
    assert [(int(line), rule) for line, rule in found] == planted


def test_a_sound_file_says_nothing_on_standard_output(call: Call, write: Write, graph: Graph) -> None:
    result = call("validate", write("graph.yaml", graph()))
    assert (result.status, result.out) == (0, "")
    assert "0 errors, 0 warnings in 1 resource" in result.err


def test_errors_give_status_1(call: Call, broken: str) -> None:
    assert call("validate", broken).status == 1


def test_warnings_give_status_0_unless_strict(call: Call, write: Write, graph: Graph) -> None:
    path = write("a.yaml", graph() + "      envFromSecret: token\n")
    assert call("validate", path).status == 0
    assert call("validate", path, "--strict").status == 1


def test_what_cannot_be_read_gives_status_2_and_is_a_finding(call: Call, write: Write) -> None:
    result = call("validate", write("a.yaml", "a: [\n"), "-o", "json")
    assert result.status == 2
    assert [(finding["rule"], finding["line"]) for finding in json.loads(result.out)] == [("input/unreadable", 2)]


def test_a_missing_file_gives_status_2(call: Call) -> None:
    result = call("validate", "missing.yaml")
    assert result.status == 2
    assert "missing.yaml: input/unreadable: cannot be read" in result.out


def test_no_input_is_a_usage_error(call: Call) -> None:
    assert call("validate").status == 2


def test_positions_in_json_and_behind_other_documents(call: Call, write: Write, graph: Graph) -> None:
    head = '{"apiVersion": "nvidia.com/v1alpha1",\n "kind": "DynamoGraphDeployment",\n'
    text = head + ' "metadata": {"name": "a"},\n "spec": 5}'
    stream = graph() + "---\n" + graph().replace("replicas: 1", "replicas: -1")
    out = call("validate", write("a.json", text), write("b.yaml", stream)).out
    assert "a.json:4:10: schema/type: spec: " in out
    assert f"b.yaml:{stream.splitlines().index('      replicas: -1') + 1}:17: schema/range: " in out


def test_the_path_of_a_list_member_starts_at_the_top(call: Call, write: Write) -> None:
    member = '{"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoModel", "metadata": {"name": "a"}, "spec": {}}'
    text = f'{{"apiVersion": "v1", "kind": "List", "items": [{member}]}}'
    assert "schema/required: items[0].spec.modelName: is required" in call("validate", write("a.json", text)).out


def test_a_rule_is_ignored_by_flag(call: Call, broken: str) -> None:
    out = call("validate", broken, "--ignore", "schema/range,sanity/secret").out
    assert out == ""


def test_a_rule_that_does_not_exist_cannot_be_ignored(call: Call, broken: str) -> None:
    result = call("validate", broken, "--ignore", "SVC-V99")
    assert result.status == 2
    assert "--ignore SVC-V99: is no rule; did you mean SVC-V" in result.err


def test_objects_in_the_same_files_are_declared(call: Call, write: Write, graph: Graph) -> None:
    declared = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: token, namespace: team-a}\n"
    text = graph() + "      envFromSecret: token\n"
    assert "sanity/secret" in call("validate", write("a.yaml", text)).out
    assert call("validate", write("a.yaml", text), write("b.yaml", declared)).out == ""


def test_a_model_is_declared_by_the_graph_that_serves_it(call: Call, write: Write, graph: Graph) -> None:
    model = """\
---
apiVersion: nvidia.com/v1alpha1
kind: DynamoModel
metadata: {name: chat, namespace: team-a}
spec: {modelName: chat-law, baseModelName: chat}
"""
    assert "sanity/model" in call("validate", write("a.yaml", graph() + model)).out
    assert call("validate", write("a.yaml", graph() + "      modelRef: {name: chat}\n" + model)).out == ""


def test_a_change_is_held_against_what_is_stored(call: Call, write: Write, graph: Graph) -> None:
    held = graph() + "      scalingAdapter: {enabled: true}\n"
    new, old = write("new.yaml", held.replace("replicas: 1", "replicas: 3")), write("old.yaml", held)
    assert call("validate", new).out == ""
    assert "DGD-U04: spec.services.Frontend.replicas: " in call("validate", new, "--old", old, "--as", "alice").out
    planner = "system:serviceaccount:team-a:planner-serviceaccount"
    assert call("validate", new, "--old", old, "--as", planner).out == ""


def test_facts_and_settings_are_used(call: Call, write: Write, graph: Graph) -> None:
    path = write("a.yaml", graph() + "      multinode: {nodeCount: 2}\n")
    assert "CTL-02" not in call("validate", path).out
    assert "CTL-02" in call("validate", path, "--api-versions", "apps").out


def test_a_misspelled_kind_is_a_problem_and_other_kinds_pass(call: Call, write: Write, graph: Graph) -> None:
    text = graph().replace("DynamoGraphDeployment", "DynamoGraphDeployments") + "---\nkind: Pod\napiVersion: v1\n"
    result = call("validate", write("a.yaml", text))
    assert result.out.count("schema/kind") == 1
    assert "skipped 1 document of other kinds" in result.err


def test_what_lies_beside_resources_in_a_folder_is_no_finding(call: Call, write: Write, graph: Graph) -> None:
    """Settings and facts have no kind; only where the user names such a file it was meant as a resource."""
    write("graphs/graph.yaml", graph())
    beside = write("graphs/facts.yaml", "api_groups: [grove.io]\n")
    assert call("validate", "graphs").status == 0
    assert call("validate", beside).status == 1


# Forms


def test_json_holds_every_part_of_a_finding(call: Call, broken: str) -> None:
    first = json.loads(call("validate", broken, "-o", "json").out)[0]
    assert first == {
        "file": "broken.yaml",
        "line": 10,
        "column": 17,
        "rule": "schema/range",
        "severity": "error",
        "path": "spec.services.Frontend.replicas",
        "message": "must be 0 or more, got -1",
        "hint": None,
    }


def test_json_of_nothing_is_an_empty_list(call: Call, write: Write, graph: Graph) -> None:
    assert json.loads(call("validate", write("a.yaml", graph()), "-o", "json").out) == []


def test_junit_has_a_case_for_every_resource(call: Call, write: Write, graph: Graph, broken: str) -> None:
    out = call("validate", write("good.yaml", graph(name="good")), broken, "-o", "junit").out
    suites = {suite.get("name"): suite for suite in ET.fromstring(out.encode())}  # noqa: S314 - our own text
    assert [(name, suite.get("tests"), suite.get("failures")) for name, suite in suites.items()] == [
        ("good.yaml", "1", "0"),
        ("broken.yaml", "1", "1"),
    ]
    failure = suites["broken.yaml"].find("testcase/failure")
    assert failure is not None
    assert failure.get("type") == "schema/range"
    assert "sanity/secret" in (suites["broken.yaml"].findtext("testcase/system-out") or "")


SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "minItems": 1,
            "items": {
                "required": ["tool", "results"],
                "properties": {
                    "tool": {"required": ["driver"], "properties": {"driver": {"required": ["name", "rules"]}}},
                    "results": {
                        "items": {
                            "required": ["message", "ruleId", "level", "locations"],
                            "properties": {
                                "message": {"required": ["text"]},
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "locations": {"items": {"required": ["physicalLocation"]}},
                            },
                        }
                    },
                },
            },
        },
    },
}


def test_sarif_has_the_structure_of_the_standard(call: Call, broken: str) -> None:
    log = json.loads(call("validate", broken, "-o", "sarif").out)
    jsonschema.validate(log, SARIF)
    result = log["runs"][0]["results"][0]
    place = result["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "broken.yaml"}, "region": {"startLine": 10, "startColumn": 17}}
    described = {rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]}
    assert described == {found["ruleId"] for found in log["runs"][0]["results"]}


def test_commands_of_github_are_escaped(call: Call, write: Write, graph: Graph) -> None:
    path = write("a,b.yaml", graph() + '      backendFramework: "50%"\n      replica: 1\n')
    lines = call("validate", path, "-o", "github").out.splitlines()
    assert lines[-1].startswith("::warning file=a%2Cb.yaml,line=")
    assert lines[-1].endswith("%0Ahint: did you mean replicas?")


# The list of rules


def test_rules_are_listed_with_severity_and_sentence(call: Call) -> None:
    lines = call("rules").out.splitlines()
    assert [line.split()[0] for line in lines] == list(RULES)
    assert re.search(r"^SVC-V07 +error +An EPP component has one replica\.$", "\n".join(lines), re.MULTILINE)


def test_rules_as_json_hold_their_examples(call: Call) -> None:
    listed = {rule["id"]: rule for rule in json.loads(call("rules", "-o", "json").out)}
    assert listed["SVC-V07"]["refuses"]["resource"]["spec"]["services"]["Picker"]["replicas"] == 2


def test_examples_of_rules_can_be_validated(call: Call, tmp_path: Path) -> None:
    listed = {rule["id"]: rule for rule in json.loads(call("rules", "-o", "json").out)}
    (tmp_path / "a.json").write_text(json.dumps(listed["SVC-V03"]["refuses"]["resource"]), encoding="utf-8")
    assert "SVC-V03" in call("validate", "a.json").out


def test_somebody_who_makes_no_change_is_a_wrong_call(call: Call, write: Write) -> None:
    result = call("validate", write("a.yaml", TEN_MISTAKES), "--as", "alice")
    assert (result.status, result.out) == (2, "")
    assert "--as says who makes the change from --old, which is not given" in result.err

"""What is made of the output of a profiler, and what is refused of it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from dynamo_render import Outcome
from dynamo_render.kube.text import write_documents
from tests.request_passes import (
    DATA,
    SETTINGS,
    SHIPPED,
    Json,
    Pass,
    config_map,
    generated,
    in_state,
    job,
    output,
    request,
)

KEY = "config_with_planner.yaml"


def after(text: str, settings: Any = SETTINGS, **spec: Any) -> Pass:
    """Go through the pass after the Job has left *text*."""
    left = config_map("dgdr-output-tiny", **{KEY: text})
    return Pass(in_state("Profiling", request(**spec)), job("Complete"), left, settings=settings)


def why_refused(text: str, settings: Any = SETTINGS) -> str:
    done = after(text, settings)
    return done.condition("SpecGenerated")[2] if done.step.row == "T8" else ""


def head(reason: str) -> str:
    return f"failed to extract DGD from {KEY}: {reason}"


def document(*objects: Any) -> str:
    return write_documents(objects)


# What is made of it


def test_a_generated_graph_is_kept_whole() -> None:
    graph = generated(labels={"tier": "gold"})
    service = graph["spec"]["services"]["Frontend"]
    service |= {"futureField": "keep-me", "resources": None}
    assert after(document(graph)).status["generatedDeployment"] == graph


def test_the_shipped_profile_keeps_what_a_typed_client_writes() -> None:
    """The worked example of the specification, section 4.3."""
    graph = {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoGraphDeployment",
        "metadata": {"name": "trtllm-disagg", "labels": {"tier": "gold"}},
        "spec": {
            "services": {
                "Frontend": {
                    "componentType": "frontend",
                    "replicas": 1,
                    "resources": None,
                    "subComponentType": None,
                    "futureField": "keep-me",
                    "extraPodSpec": {
                        "mainContainer": {
                            "image": "registry.example/worker:2.0",
                            "workingDir": None,
                            "command": None,
                            "args": None,
                            "resources": None,
                        }
                    },
                }
            }
        },
    }
    main = {"name": "", "image": "registry.example/worker:2.0", "resources": {}}
    service = {"componentType": "frontend", "replicas": 1}
    assert after(document(graph), SHIPPED).status["generatedDeployment"] == {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoGraphDeployment",
        "metadata": {"name": "trtllm-disagg", "labels": {"tier": "gold"}},
        "spec": {"services": {"Frontend": {**service, "extraPodSpec": {"containers": None, "mainContainer": main}}}},
        "status": {},
    }


def test_objects_beside_the_graph_stand_in_an_annotation_as_released_operators_print_them() -> None:
    other = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    done = after(document(DATA, generated(), other))
    assert done.resource["metadata"]["annotations"]["dgdr.nvidia.com/additional-resources"] == (
        "apiVersion: v1\n"
        "data:\n"
        "  prefill_raw_data.json: '{\"a\": [1, 2]}'\n"
        "kind: ConfigMap\n"
        "metadata:\n"
        "  name: planner-profile-data\n"
        "\n---\n"
        "apiVersion: v1\n"
        "kind: Secret\n"
        "metadata:\n"
        "  name: s\n"
    )


def test_without_objects_beside_the_graph_there_is_no_annotation() -> None:
    assert after(document(generated())).done == []


@pytest.mark.parametrize("auto", [True, False])
def test_only_config_maps_are_made_of_them(*, auto: bool) -> None:
    other = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    spoiled = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "t"}, "data": {"a": 1}}
    done = after(document(DATA, other, spoiled, generated()), autoApply=auto)
    made = [each for each in done.made("ConfigMap") if each["metadata"]["name"] != "dgdr-output-tiny"]
    assert [(each["metadata"]["name"], each["data"]) for each in made] == [("planner-profile-data", DATA["data"])]
    assert made[0]["metadata"]["labels"] == {
        "dgdr.nvidia.com/name": "tiny",
        "dgdr.nvidia.com/namespace": "team",
        "nvidia.com/managed-by": "dynamo-operator",
    }
    assert done.made("Secret") == []


def test_the_condition_about_profiling_survives_objects_beside_the_graph() -> None:
    assert after(document(DATA, generated())).condition("Profiling")[:2] == ("True", "ProfilingSucceeded")


def test_config_maps_go_where_the_graph_goes() -> None:
    done = after(document(DATA, generated()), autoApply=True, deploymentOverrides={"namespace": "prod"})
    assert done.made("ConfigMap")[-1]["metadata"]["namespace"] == "prod"


def test_a_config_map_that_is_there_is_left_as_it_is() -> None:
    theirs = {**DATA, "metadata": {**DATA["metadata"], "namespace": "team"}, "data": {}}
    done = Pass(in_state("Profiling"), job("Complete"), output(), theirs)
    assert done.step.row == "T10"
    assert done.events == ["SpecGenerated"]
    assert theirs in done.objects


def test_a_config_map_that_cannot_be_made_is_told_and_stops_nothing_else() -> None:
    second = {**DATA, "metadata": {"name": "second"}}
    refused = {"ConfigMap 0": Outcome("refused", "no room")}
    done = Pass(in_state("Profiling"), job("Complete"), output(DATA, second, generated()), refused=refused)
    assert done.step.row == "T10"
    trouble = "failed to create ConfigMap planner-profile-data: no room"
    assert [(event.reason, event.message) for event in done.step.events] == [
        (
            "ConfigMapCreationFailed",
            f"Failed to create ConfigMaps from profiling output: {trouble}",
        ),
        ("SpecGenerated", "DynamoGraphDeployment spec generated successfully"),
    ]
    assert "ConfigMap 1" not in done.done


def test_an_annotation_that_was_left_is_honoured() -> None:
    resource = request(metadata={"annotations": {"dgdr.nvidia.com/additional-resources": document(DATA)}})
    done = Pass(in_state("Profiling", resource), job("Complete"), output(generated()))
    assert [each["metadata"]["name"] for each in done.made("ConfigMap")][1:] == ["planner-profile-data"]


def test_a_mocker_takes_its_own_output() -> None:
    left = config_map("dgdr-output-tiny", **{KEY: "x", f"mocker_{KEY}": document(generated("mock"))})
    done = Pass(in_state("Profiling", request(useMocker=True)), job("Complete"), left)
    assert done.status["generatedDeployment"]["metadata"]["name"] == "mock"
    missing = Pass(in_state("Profiling", request(useMocker=True)), job("Complete"), output())
    assert missing.condition("SpecGenerated")[2] == f"key mocker_{KEY} not found in ConfigMap dgdr-output-tiny"


def test_json_is_taken_too() -> None:
    assert after(json.dumps(generated())).step.row == "T10"
    assert after(json.dumps(DATA) + "\n" + json.dumps(generated())).step.row == "T10"


def test_documents_without_a_kind_are_passed_over() -> None:
    text = document({"a": 1}, [1], "x", {"kind": 3}, {"kind": ""}, generated()) + "---\n# nothing\n"
    assert after(text).step.row == "T10"


# What is refused


def test_output_without_a_graph_is_refused() -> None:
    assert why_refused(document(DATA)) == head("no DynamoGraphDeployment found in YAML content")
    assert why_refused("") == head("no DynamoGraphDeployment found in YAML content")


def test_output_with_two_graphs_is_refused_and_the_shipped_profile_takes_the_last() -> None:
    text = document(generated("one"), generated("two"))
    assert why_refused(text) == head("it holds 2 graphs, and only one can be the result")
    assert after(text, SHIPPED).status["generatedDeployment"]["metadata"]["name"] == "two"


def test_output_that_is_no_yaml_is_refused_and_the_shipped_profile_passes_it_over() -> None:
    text = "a: [\n---\n" + document(generated())
    assert why_refused(text).startswith(head("it is no YAML: the output:"))
    assert after(text, SHIPPED).step.row == "T10"
    assert why_refused("a: [", SHIPPED) == head("no DynamoGraphDeployment found in YAML content")


def test_a_separator_with_words_takes_what_is_above_it_along() -> None:
    text = document(generated("one")) + "--- what is this\n" + document(generated("two"))
    assert after(text, SHIPPED).status["generatedDeployment"]["metadata"]["name"] == "two"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"services": {"Frontend": {"replicas": "two"}}}, "spec.services.Frontend.replicas: must be integer"),
        ({"services": [1]}, "spec.services: must be object"),
        ({"backendFramework": 3}, "spec.backendFramework: must be string"),
    ],
)
def test_a_graph_of_wrong_types_is_refused_in_both_profiles(change: Json, words: str) -> None:
    graph = {**generated(), "spec": change}
    for settings in (SETTINGS, SHIPPED):
        assert words in why_refused(document(graph), settings)
        assert why_refused(document(graph), settings).startswith(head("failed to convert to DynamoGraphDeployment: "))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "services"),
        ({"services": {"A": {"replicas": -1}}}, "spec.services.A.replicas"),
        ({"services": {"A": {"multinode": {"nodeCount": 1}}}}, "spec.services.A.multinode.nodeCount"),
        ({"services": {"A": {"ingress": {"enabled": True}}}}, "spec.services.A.ingress"),
        ({"services": {"A": {}}, "backendFramework": "tgi"}, "spec.backendFramework"),
    ],
)
def test_a_graph_that_admission_refuses_is_refused_with_every_place(change: Json, words: str) -> None:
    """The released operator would try to create it for ever."""
    assert words in why_refused(document({**generated(), "spec": change}))


def test_all_that_is_wrong_with_a_graph_is_named_up_to_a_limit() -> None:
    services = {f"S{index:02}": {"replicas": -1} for index in range(30)}
    text = why_refused(document({**generated(), "spec": {"services": services}}))
    assert text.count("; ") == 20
    assert re.search(r"; and \d+ more$", text)


def test_a_graph_without_metadata_is_fine_for_its_name_is_not_used() -> None:
    graph = {key: value for key, value in generated().items() if key != "metadata"}
    assert after(document(graph)).step.row == "T10"


@pytest.mark.parametrize("metadata", [None, [], "x", {"name": 3}, {"name": None}])
def test_metadata_of_wrong_types_break_nothing(metadata: Any) -> None:
    assert after(document({**generated(), "metadata": metadata})).step.row in {"T8", "T10"}
    assert after(document({**DATA, "metadata": metadata}, generated())).step.row == "T10"


def test_a_document_that_unfolds_without_end_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    text = "\n".join(lines) + "\n---\n" + document(generated())
    assert why_refused(text).startswith(head("it is no YAML"))
    assert after(text, SHIPPED).step.row == "T10"


def test_ten_megabytes_are_refused_unread() -> None:
    text = document(generated()) + "# " + "x" * 10_000_000
    assert why_refused(text) == head(f"it has {len(text)} bytes, the limit is 1048576")


def test_deep_nesting_is_refused() -> None:
    assert why_refused("[" * 100_000).startswith(head("it is no YAML"))


def test_additional_resources_beyond_the_limit_of_annotations_are_refused() -> None:
    large = {**DATA, "data": {"a": "x" * 260_000}}
    text = why_refused(document(large, generated()))
    assert text.startswith("additional resources YAML size (260")
    assert "exceeds maximum annotation size (250000 bytes); consider reducing the number of resources" in text


def test_other_annotations_count_against_the_limit_of_all_annotations() -> None:
    """The API server refuses an object with more than 256 KiB of them, and the request would try for ever."""
    resource = request(metadata={"annotations": {"mine": "y" * 100_000}})
    large = {**DATA, "data": {"a": "x" * 200_000}}
    done = Pass(in_state("Profiling", resource), job("Complete"), output(large, generated()))
    assert done.step.row == "T8"
    assert "exceeds maximum annotation size" in done.condition("SpecGenerated")[2]


@pytest.mark.parametrize("data", [None, {}, {KEY: 3}, {"other": ""}])
def test_a_config_map_without_the_key_is_refused(data: Any) -> None:
    left = {**config_map("dgdr-output-tiny"), "data": data}
    done = Pass(in_state("Profiling"), job("Complete"), left)
    assert done.condition("SpecGenerated")[2] == f"key {KEY} not found in ConfigMap dgdr-output-tiny"

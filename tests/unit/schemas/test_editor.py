"""JSON Schemas are valid schemas that accept good files, refuse bad ones and name every field."""

from __future__ import annotations

import copy
from typing import Any

import jsonschema
import pytest

from dynamo_render.schemas import kinds
from dynamo_render.schemas.editor import editor_line, json_schema

ALL = tuple(kinds.KINDS.values())
GRAPH: dict[str, Any] = {
    "apiVersion": "nvidia.com/v1alpha1",
    "kind": "DynamoGraphDeployment",
    "metadata": {"name": "g", "labels": {"team": "a"}},
    "spec": {
        "pvcs": [
            {
                "name": "models",
                "create": True,
                "size": "1Gi",
                "storageClass": "fast",
                "volumeAccessMode": "ReadWriteMany",
            }
        ],
        "services": {
            "Frontend": {"replicas": 1, "multinode": {}, "extraPodSpec": {"mainContainer": {"image": "r/x:1"}}}
        },
    },
}


def problems(resource: Any, kind: kinds.CustomKind = kinds.GRAPH_DEPLOYMENT) -> list[str]:
    validator = jsonschema.Draft202012Validator(json_schema(kind))
    return [error.json_path for error in validator.iter_errors(resource)]


def changed(*path: str | int, to: Any) -> Any:
    """Return the graph with the value at *path* set *to* another."""
    result = copy.deepcopy(GRAPH)
    inner: Any = result
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = to
    return result


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.short_name)
def test_each_is_a_valid_schema_of_its_dialect(kind: kinds.CustomKind) -> None:
    schema = json_schema(kind)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(schema)


def test_a_good_graph_is_accepted() -> None:
    assert problems(GRAPH) == []


def test_a_resource_of_another_kind_is_refused() -> None:
    assert problems(changed("kind", to="DynamoModel")) == ["$.kind"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("spec", "services", "Frontend", "replica"), 1),
        (("spec", "services", "Frontend", "extraPodSpec", "mainContainer", "imagePullPolice"), "Always"),
        (("metadata", "labels"), {"a": 1}),
        (("spec", "backendFramework"), "VLLM"),
        (("spec", "services", "Frontend", "replicas"), -1),
        (("spec", "services", "Frontend", "multinode"), {"nodeCount": 1}),
        (("spec", "services", "Frontend", "extraPodSpec", "containers"), [{"image": "x"}]),
        (("spec", "pvcs", 0), {"name": "models", "create": True, "size": "1Gi"}),
    ],
)
def test_a_mistake_is_marked(path: tuple[str | int, ...], value: object) -> None:
    assert len(problems(changed(*path, to=value))) > 0


def test_a_claim_that_is_not_created_may_be_short() -> None:
    assert problems(changed("spec", "pvcs", 0, to={"name": "models", "create": False})) == []


def test_the_picker_configuration_may_have_keys_of_its_own() -> None:
    config = {"plugins": [{"type": "x", "parameters": {"a": 1}}], "schedulingProfiles": [], "data": {"b": [2]}}
    assert problems(changed("spec", "services", "Frontend", "eppConfig", to={"config": config})) == []


def test_an_embedded_type_is_described_once() -> None:
    schema = json_schema(kinds.GRAPH_DEPLOYMENT)
    service = schema["properties"]["spec"]["properties"]["services"]["additionalProperties"]["properties"]
    assert service["livenessProbe"] == {"$ref": "#/$defs/core.v1.Probe"} == service["readinessProbe"]
    assert "failureThreshold" in schema["$defs"]["core.v1.Probe"]["properties"]


def test_every_reference_leads_somewhere() -> None:
    for kind in ALL:
        schema = json_schema(kind)
        assert {name.removeprefix("#/$defs/") for name in references(schema)} == schema["$defs"].keys()


def references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*map(references, value.values()))
    return set().union(*map(references, value)) if isinstance(value, list) else set()


def test_the_editor_line_names_the_schema_in_a_comment() -> None:
    assert editor_line("graph.json") == "# yaml-language-server: $schema=graph.json"

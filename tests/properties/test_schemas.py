"""What is stored of a resource follows from its definition alone, for good resources and for bad ones.

The definition is read here a second time, as the API server reads it, by code that shares nothing with the package.
"""

from __future__ import annotations

import copy
import json
from functools import cache
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamo_render.schemas import definition, editor, kinds
from dynamo_render.schemas.stored import normalised
from tests.strategies.schema_values import resources

Json = dict[str, Any]

NAMES = tuple(kinds.KINDS)
any_kind = st.sampled_from(NAMES)
good = any_kind.flatmap(resources)
any_resource = any_kind.flatmap(lambda name: resources(name, noise=True))


@cache
def declared(name: str) -> Json:
    """Return the structural schema in the definition of a kind."""
    (version,) = definition.custom_resource_definition(kinds.KINDS[name])["spec"]["versions"]
    return version["schema"]["openAPIV3Schema"]


@cache
def editor_validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(editor.json_schema(kinds.KINDS[name]))


def served(value: Any, schema: Json | None) -> Any:
    """Return *value* pruned, without nulls and with defaults: what a server does before it validates."""
    if schema is None or (not isinstance(value, dict | list)):
        return copy.deepcopy(value)
    if isinstance(value, list):
        return [served(entry, schema.get("items")) for entry in value]
    properties, other = schema.get("properties", {}), schema.get("additionalProperties")
    keeps = schema.get("x-kubernetes-preserve-unknown-fields", False)
    result = {}
    for key, entry in value.items():
        inner = properties.get(key, other)
        if inner is None and not keeps:
            continue
        if entry is not None or inner is None:
            result[key] = served(entry, inner)
    for key, inner in properties.items():
        if "default" in inner and key not in result:
            result[key] = copy.deepcopy(inner["default"])
    return result


def faults(value: Any, schema: Json) -> bool:
    """Whether a server refuses *value*, which is pruned and has its defaults."""
    return not jsonschema.Draft202012Validator(schema).is_valid(value) or further_faults(value, schema)


def further_faults(value: Any, schema: Json) -> bool:
    """Whether *value* breaks what only Kubernetes knows: the width of numbers, keys of lists, rules between keys."""
    if isinstance(value, dict):
        if "x-kubernetes-validations" in schema and value.get("create"):
            return not {"size", "storageClass", "volumeAccessMode"} <= value.keys()
        inner = {**dict.fromkeys(value, schema.get("additionalProperties", {})), **schema.get("properties", {})}
        return any(further_faults(entry, inner[key]) for key, entry in value.items())
    if isinstance(value, list):
        keys = schema.get("x-kubernetes-list-map-keys")
        parts = [json.dumps([entry.get(key) for key in keys] if keys else entry) for entry in value]
        repeats = len(set(parts)) < len(parts) and schema.get("x-kubernetes-list-type") in {"map", "set"}
        return repeats or any(further_faults(entry, schema.get("items", {})) for entry in value)
    return schema.get("format") == "int32" and not -(2**31) <= value < 2**31


@given(any_resource)
def test_what_is_stored_is_what_the_definition_makes_of_it(resource: Json) -> None:
    stored, problems = normalised(resource)
    schema = declared(resource["kind"])
    expected = served(resource["spec"], schema["properties"]["spec"])
    is_refused = any(problem.severity == "error" for problem in problems)
    is_faulty = "spec" in stored and faults(expected, schema["properties"]["spec"])
    if not is_refused:
        assert stored.get("spec") == expected
    assert is_refused == (is_faulty or ("spec" not in stored and expected is not None))


@given(good)
def test_a_good_resource_is_stored_without_a_problem(resource: Json) -> None:
    assert [problem for problem in normalised(resource)[1] if problem.severity == "error"] == []


@given(any_resource)
def test_storing_again_changes_nothing(resource: Json) -> None:
    stored, problems = normalised(resource)
    if all(problem.severity == "warning" for problem in problems):
        assert normalised(stored) == (stored, ())


@given(any_resource)
def test_the_resource_itself_stays_as_it_was(resource: Json) -> None:
    before = copy.deepcopy(resource)
    stored, _ = normalised(resource)
    assert resource == before
    assert no_shared_part(stored, resource)


def no_shared_part(one: Any, other: Any) -> bool:
    """Whether no list or mapping is in both."""
    return containers(one).isdisjoint(containers(other))


def containers(value: Any) -> set[int]:
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return {id(value)}.union(*map(containers, inner))
    return set()


@given(good)
def test_an_editor_marks_nothing_in_a_good_resource(resource: Json) -> None:
    assert [error.message for error in editor_validator(resource["kind"]).iter_errors(resource)] == []


@given(any_resource)
def test_what_no_editor_marks_is_refused_for_repeated_keys_only(resource: Json) -> None:
    if editor_validator(resource["kind"]).is_valid(resource):
        assert {problem.rule for problem in normalised(resource)[1]} <= {"schema/duplicate"}


@pytest.mark.parametrize("name", NAMES)
def test_the_schemas_are_the_same_every_time(name: str) -> None:
    kind = kinds.KINDS[name]
    assert editor.json_schema(kind) == editor.json_schema(kind)
    assert definition.custom_resource_definition(kind) == definition.custom_resource_definition(kind)

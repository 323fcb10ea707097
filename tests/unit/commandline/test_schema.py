"""The command that prints schemas."""

from __future__ import annotations

import json

import pytest

from dynamo_render.kube.text import read_documents
from dynamo_render.schemas import definition, editor, kinds
from tests.unit.commandline.conftest import Call


@pytest.mark.parametrize("flags", [(), ("--json-schema",)])
def test_without_another_wish_it_is_a_json_schema(call: Call, flags: tuple[str, ...]) -> None:
    result = call("schema", "DynamoModel", *flags)
    assert (result.status, result.err) == (0, "")
    assert json.loads(result.out) == editor.json_schema(kinds.MODEL)


def test_a_definition_is_yaml(call: Call) -> None:
    result = call("schema", "dgdsa", "--crd")
    assert (result.status, result.err) == (0, "")
    assert list(read_documents(result.out)) == [definition.custom_resource_definition(kinds.SCALING_ADAPTER)]


def test_the_editor_line_names_a_file_after_the_kind(call: Call) -> None:
    assert call("schema", "dgd", "--editor-line").out == "# yaml-language-server: $schema=dynamographdeployment.json\n"


def test_the_editor_line_names_the_location_that_is_given(call: Call) -> None:
    result = call("schema", "dgd", "--editor-line", "../graph.json")
    assert result.out == "# yaml-language-server: $schema=../graph.json\n"


def test_a_shipped_profile_has_the_released_definition(call: Call) -> None:
    result = call("schema", "dcd", "--crd", "--profile", "0.9-shipped")
    released = definition.custom_resource_definition(kinds.COMPONENT_DEPLOYMENT, text_parameters=True)
    assert list(read_documents(result.out)) == [released]


def test_the_environment_may_name_the_profile(call: Call) -> None:
    by_flag = call("schema", "dcd", "--profile", "0.9-shipped")
    by_variable = call("schema", "dcd", environ={"DYNAMO_RENDER_PROFILE": "0.9-shipped"})
    assert by_variable.out == by_flag.out != call("schema", "dcd").out


def test_an_unknown_profile_in_the_environment_is_a_usage_error(call: Call) -> None:
    result = call("schema", "dcd", environ={"DYNAMO_RENDER_PROFILE": "9"})
    assert (result.status, "DYNAMO_RENDER_PROFILE: there is no profile '9'" in result.err) == (2, True)


def test_an_unknown_kind_is_a_usage_error_that_lists_the_kinds(call: Call) -> None:
    result = call("schema", "pods")
    assert result.status == 2
    assert "there is no kind 'pods'" in result.err
    assert "DynamoGraphDeployment (dgd)" in result.err


def test_two_forms_at_once_are_a_usage_error(call: Call) -> None:
    assert call("schema", "dgd", "--crd", "--json-schema").status == 2

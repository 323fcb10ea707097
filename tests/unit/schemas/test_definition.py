"""Definitions say what the specification says, in the form that an API server takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from dynamo_render.schemas import kinds
from dynamo_render.schemas.definition import custom_resource_definition

Json = dict[str, Any]
ALL = tuple(kinds.KINDS.values())


def version(kind: kinds.CustomKind, **options: bool) -> Json:
    (only,) = custom_resource_definition(kind, **options)["spec"]["versions"]
    return only


def schema_at(path: str, kind: kinds.CustomKind = kinds.GRAPH_DEPLOYMENT, **options: bool) -> Json:
    """Return the schema at a dotted *path*; ``[]`` goes into the items of a list, ``{}`` into the values of a map."""
    schema = version(kind, **options)["schema"]["openAPIV3Schema"]
    for step in path.split("."):
        name = step.rstrip("[]{}")
        schema = schema["properties"][name]
        for _ in range(step.count("[]")):
            schema = schema["items"]
        for _ in range(step.count("{}")):
            schema = schema["additionalProperties"]
    return schema


def all_schemas(schema: Json) -> Iterator[Json]:
    yield schema
    for inner in schema.get("properties", {}).values():
        yield from all_schemas(inner)
    for key in ("items", "additionalProperties"):
        if key in schema:
            yield from all_schemas(schema[key])


def schemas_of(kind: kinds.CustomKind) -> Iterator[Json]:
    return all_schemas(version(kind)["schema"]["openAPIV3Schema"])


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.short_name)
def test_every_part_has_a_type_or_keeps_whatever_it_gets(kind: kinds.CustomKind) -> None:
    """A structural schema demands it."""
    free = ("x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields")
    untyped = [
        schema for schema in schemas_of(kind) if "type" not in schema and not any(flag in schema for flag in free)
    ]
    assert untyped == []


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.short_name)
def test_every_key_of_a_list_map_is_required_or_has_a_default(kind: kinds.CustomKind) -> None:
    """The API server refuses a definition where an entry could lack its key."""
    for schema in schemas_of(kind):
        for key in schema.get("x-kubernetes-list-map-keys", ()):
            item = schema["items"]
            assert key in item.get("required", ()) or "default" in item["properties"][key]


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.short_name)
def test_every_default_is_valid_where_it_stands(kind: kinds.CustomKind) -> None:
    for schema in schemas_of(kind):
        if "default" in schema:
            jsonschema.validate(schema["default"], schema)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.short_name)
def test_there_is_one_version_which_is_served_and_stored(kind: kinds.CustomKind) -> None:
    only = version(kind)
    assert (only["name"], only["served"], only["storage"]) == ("v1alpha1", True, True)


def test_a_definition_is_named_after_plural_and_group() -> None:
    names = [custom_resource_definition(kind)["metadata"]["name"] for kind in ALL]
    assert names == [f"{kind.plural}.nvidia.com" for kind in ALL]


def test_only_scaling_adapters_can_be_scaled() -> None:
    assert [kind.short_name for kind in ALL if "scale" in version(kind).get("subresources", {})] == ["dgdsa"]


def test_worker_metadata_has_no_subresource_and_no_annotation() -> None:
    written = custom_resource_definition(kinds.WORKER_METADATA)
    assert "subresources" not in version(kinds.WORKER_METADATA)
    assert "annotations" not in written["metadata"]


def test_a_claim_to_be_created_must_say_how() -> None:
    (rule,) = schema_at("spec.pvcs[]")["x-kubernetes-validations"]
    when, _, then = rule["rule"].partition(" || (")
    assert when == "!has(self.create) || !self.create"
    assert then == "has(self.size) && has(self.storageClass) && has(self.volumeAccessMode))"


def test_containers_of_the_pod_override_are_not_required() -> None:
    assert "required" not in schema_at("spec.services{}.extraPodSpec")


def test_the_main_container_needs_no_name_and_its_siblings_do() -> None:
    pod = "spec.services{}.extraPodSpec"
    assert "required" not in schema_at(f"{pod}.mainContainer")
    assert schema_at(f"{pod}.containers[]")["required"] == ["name"]


def test_metadata_of_a_claim_template_declares_no_key() -> None:
    template = "spec.services{}.extraPodSpec.volumes[].ephemeral.volumeClaimTemplate.metadata"
    assert schema_at(template) == {"type": "object"}


def test_unknown_keys_are_kept_in_the_picker_configuration_and_not_below() -> None:
    config = "spec.services{}.eppConfig.config"
    assert schema_at(config)["x-kubernetes-preserve-unknown-fields"] is True
    assert "x-kubernetes-preserve-unknown-fields" not in schema_at(f"{config}.saturationDetector")


def test_parameters_of_picker_plugins_are_free() -> None:
    """Decision: objects are accepted."""
    parameters = "spec.services{}.eppConfig.config.plugins[].parameters"
    assert schema_at(parameters) == {"x-kubernetes-preserve-unknown-fields": True}


def test_parameters_of_picker_plugins_are_base64_text_as_released() -> None:
    parameters = "spec.services{}.eppConfig.config.plugins[].parameters"
    assert schema_at(parameters, text_parameters=True) == {"type": "string", "format": "byte"}


def test_a_generated_deployment_is_a_whole_resource() -> None:
    assert schema_at("status.generatedDeployment", kinds.GRAPH_DEPLOYMENT_REQUEST) == {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    }


@pytest.mark.parametrize("given", ["1", "500m", "-1Gi", ".5", "1e3", "5.E+2", 3])
def test_quantities_are_accepted(given: object) -> None:
    jsonschema.validate(given, schema_at("spec.services{}.sharedMemory.size"))


@pytest.mark.parametrize("given", ["", "8 Gi", "1GiB", "Gi", 1.5, True])
def test_what_is_no_quantity_is_refused(given: object) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(given, schema_at("spec.services{}.sharedMemory.size"))


def test_references_and_selectors_are_replaced_whole_by_an_apply() -> None:
    service = "spec.services{}"
    assert schema_at(f"{service}.eppConfig.configMapRef")["x-kubernetes-map-type"] == "atomic"
    assert schema_at(f"{service}.extraPodSpec.nodeSelector")["x-kubernetes-map-type"] == "atomic"


def test_lists_of_the_custom_types_have_no_list_type() -> None:
    assert "x-kubernetes-list-type" not in schema_at("spec.pvcs")
    assert "x-kubernetes-list-type" not in schema_at("spec.services{}.envs")


def test_env_of_the_main_container_is_merged_by_name() -> None:
    env = schema_at("spec.services{}.extraPodSpec.mainContainer.env")
    assert (env["x-kubernetes-list-type"], env["x-kubernetes-list-map-keys"]) == ("map", ["name"])

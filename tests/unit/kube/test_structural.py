"""Decoding by structural schema: what API server and typed client do to a value. Specification: api.md section 2."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_render.kube import schema_nodes, structural
from dynamo_render.kube.schema_nodes import (
    BOOLEAN,
    INT32,
    INT64,
    QUANTITY,
    STRING,
    Field,
    Findings,
    ListOf,
    MapOf,
    Scalar,
    Struct,
)

POINT = Struct(
    "Point",
    {
        "x": Field(INT32, "non-zero"),
        "label": Field(STRING, "if-set"),
        "kind": Field(Scalar("string", enum=("small", "large")), "non-zero", default="small"),
        "name": Field(STRING, "always", required=True),
    },
)


def decoded(node: schema_nodes.Node, value: Any) -> tuple[Any, list[tuple[str, tuple[str | int, ...]]]]:
    findings = Findings()
    result = structural.decoder(node)(value, None, findings)
    return result, [(problem.rule, problem.path) for problem in findings.problems]


def test_defaults_are_filled_and_zero_values_of_plain_fields_left_out() -> None:
    assert decoded(POINT, {"name": "a", "x": 0, "label": ""}) == ({"name": "a", "label": "", "kind": "small"}, [])


def test_a_null_counts_as_absent() -> None:
    assert decoded(POINT, {"name": "a", "kind": None, "label": None}) == ({"name": "a", "kind": "small"}, [])


def test_a_null_is_no_value_for_a_required_field() -> None:
    assert decoded(POINT, {"name": None})[1] == [("schema/required", ("name",))]


def test_an_unknown_field_is_dropped_and_named() -> None:
    result, problems = decoded(POINT, {"name": "a", "colour": "blue"})
    assert "colour" not in result
    assert problems == [("schema/unknown-field", ("colour",))]


@pytest.mark.parametrize(
    ("node", "value"),
    [
        (STRING, 1),
        (STRING, True),
        (STRING, []),
        (INT32, "1"),
        (INT32, 1.5),
        (INT64, float(2**53)),
        (INT32, True),
        (BOOLEAN, "true"),
        (BOOLEAN, 0),
        (Scalar("number"), "1"),
        (Scalar("int-or-string"), 1.5),
        (Scalar("int-or-string"), True),
        (QUANTITY, True),
        (QUANTITY, 0.5),
        (QUANTITY, 2**63),
        (QUANTITY, []),
        (ListOf(STRING), "a"),
        (ListOf(STRING), {}),
        (MapOf(STRING), []),
        (POINT, "a"),
    ],
)
def test_no_type_is_coerced(node: schema_nodes.Node, value: Any) -> None:
    assert decoded(node, value)[1] == [("schema/type", ())]


@pytest.mark.parametrize(
    ("node", "value", "read"),
    [(INT32, 2.0, 2), (INT64, 1e3, 1000), (INT32, -0.0, 0), (Scalar("int-or-string"), 80.0, 80), (QUANTITY, 2.0, "2")],
)
def test_a_whole_number_counts_as_an_integer_however_it_is_written(
    node: schema_nodes.Node, value: Any, read: Any
) -> None:
    result, problems = decoded(node, value)
    assert (result, type(result), problems) == (read, type(read), [])


@pytest.mark.parametrize(
    ("node", "value", "rule"),
    [
        (Scalar("int32", minimum=0), -1, "schema/range"),
        (INT32, 2**31, "schema/range"),
        (Scalar("int64"), 2**63, "schema/range"),
        (Scalar("int-or-string"), 2**40, "schema/range"),
        (Scalar("string", min_length=1), "", "schema/length"),
        (Scalar("string", enum=("a", "b")), "c", "schema/enum"),
        (QUANTITY, "1 apple", "schema/quantity"),
        (ListOf(STRING, max_items=1), ["a", "b"], "schema/count"),
        (MapOf(STRING, max_properties=0), {"a": "b"}, "schema/count"),
        (ListOf(STRING, is_set=True), ["a", "a"], "schema/duplicate"),
    ],
)
def test_bounds_are_checked(node: schema_nodes.Node, value: Any, rule: str) -> None:
    assert [found for found, _path in decoded(node, value)[1]] == [rule]


def test_an_unquoted_number_is_told_how_to_become_a_string() -> None:
    findings = Findings()
    structural.decoder(STRING)(True, None, findings)
    assert findings.problems[0].hint == 'write it in quotes: "true"'


def test_list_entries_are_told_apart_by_their_keys_with_defaults() -> None:
    ports = schema_nodes.embedded("core/v1.Container").fields["ports"].node
    assert decoded(ports, [{"containerPort": 1}, {"containerPort": 1, "protocol": "UDP"}])[1] == []
    twice = [{"containerPort": 1}, {"containerPort": 1, "protocol": "TCP"}]
    assert decoded(ports, twice)[1] == [("schema/duplicate", (1,))]


def test_quantities_become_canonical() -> None:
    assert decoded(QUANTITY, "1024Mi")[0] == "1Gi"
    assert decoded(QUANTITY, 2)[0] == "2"


def test_embedded_metadata_has_no_keys() -> None:
    claim = {"volumeClaimTemplate": {"metadata": {"labels": {"a": "b"}}, "spec": {"accessModes": ["ReadWriteOnce"]}}}
    result, problems = decoded(schema_nodes.embedded("core/v1.EphemeralVolumeSource"), claim)
    assert result["volumeClaimTemplate"]["metadata"] == {}
    assert problems == [("schema/unknown-field", ("volumeClaimTemplate", "metadata", "labels"))]


def test_a_decoded_value_shares_nothing_with_its_source() -> None:
    source = {"a": ["b"]}
    result, _problems = decoded(MapOf(ListOf(STRING)), source)
    result["a"].append("c")
    assert source == {"a": ["b"]}


def test_a_copy_shares_nothing() -> None:
    source = {"a": [{"b": [1]}], "c": "d"}
    copy = structural.copied(source)
    assert copy == source
    copy["a"][0]["b"].append(2)
    assert source == {"a": [{"b": [1]}], "c": "d"}

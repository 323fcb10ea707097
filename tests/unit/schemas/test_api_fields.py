"""Our classes have the fields that the specification lists, no more and no fewer, with the same facts about each.

The listing stands beside the repository; without it these tests are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from ruamel.yaml import YAML

from dynamo_render.kube import schema_nodes
from dynamo_render.kube.schema_nodes import ABSENT, Field, ListOf, MapOf, Node, Ref, Scalar, Struct
from dynamo_render.schemas import kinds
from dynamo_render.spec.status import CONDITION

LISTING = Path(__file__).resolve().parents[4] / "shared" / "spec" / "api-fields.yaml"

pytestmark = pytest.mark.skipif(
    not LISTING.is_file(), reason="the specification's listing is not beside the repository"
)

KIND_NAMES = tuple(kinds.KINDS)

# Facts that our schemas hold; the listing's other columns are prose, or rules that admission checks.
COMPARED: Final = (
    "type",
    "of",
    "format",
    "k8s",
    "inline",
    "required",
    "default",
    "enum",
    "minimum",
    "minLength",
    "maxItems",
    "maxProperties",
    "listType",
    "listKeys",
    "mapType",
    "unknownFields",
    "embeddedResource",
)

WORDS: Final = {
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "time": {"type": "string", "format": "date-time"},
    "bytes": {"type": "string", "format": "byte"},
    "duration": {"type": "string"},
}

Row = dict[str, Any]


@cache
def listing() -> dict[str, Any]:
    return YAML(typ="safe", pure=False).load(LISTING.read_text(encoding="utf-8"))


def listed_kind(name: str) -> dict[str, Any]:
    return next(kind for kind in listing()["kinds"] if kind["kind"] == name)


def listed_rows(name: str) -> dict[str, Row]:
    """Return the listing's rows of one kind by path."""
    return {row["path"]: row for row in listed_kind(name)["fields"]}


def our_rows(name: str) -> dict[str, Row]:
    """Return the same rows as our released schema has them."""
    whole = kinds.resource_struct(kinds.KINDS[name], text_parameters=True)
    return dict(rows_of(whole, "", boundary=False))


def rows_of(struct: Struct, path: str, *, boundary: bool) -> Iterator[tuple[str, Row]]:
    """Yield the fields of *struct* with their facts, down to where Kubernetes types begin."""
    for name, field in struct.fields.items():
        at = f"{path}.{name}" if path else name
        inlined = boundary and name != "mainContainer"
        yield at, facts(field, inlined=inlined)
        if not inlined:
            yield from rows_below(field.node, at)


def rows_below(node: Node, path: str) -> Iterator[tuple[str, Row]]:
    if isinstance(node, ListOf):
        yield from rows_below(node.item, f"{path}[]")
    elif isinstance(node, MapOf):
        yield from rows_below(node.item, f"{path}{{}}")
    elif isinstance(node, Struct) and kubernetes_name(node) is None:
        yield from rows_of(node, path, boundary=node.name == "extraPodSpec")


def facts(field: Field, *, inlined: bool) -> Row:
    row = {"required": field.required, "emit": field.emit, **node_facts(field.node)}
    if field.default is not ABSENT:
        row["default"] = field.default
    if isinstance(field.node, ListOf) and not inlined:
        row.setdefault("listType", "unset")
    return row


def node_facts(node: Node) -> Row:
    if isinstance(node, Scalar):
        limits = {"minimum": node.minimum, "minLength": node.min_length, "enum": list(node.enum) or None}
        return {
            **WORDS.get(node.kind, {"type": node.kind}),
            **{key: value for key, value in limits.items() if value is not None},
        }
    if isinstance(node, ListOf):
        return {"type": "array", "of": word_for(node.item), **list_facts(node)}
    if isinstance(node, MapOf):
        row: Row = {"type": "map", "of": word_for(node.item)}
        if node.max_properties is not None:
            row["maxProperties"] = node.max_properties
        return {**row, "mapType": "atomic"} if node.atomic else row
    return struct_facts(node)


def list_facts(node: ListOf) -> Row:
    row: Row = {"maxItems": node.max_items} if node.max_items is not None else {}
    if node.keys:
        row |= {"listType": "map", "listKeys": list(node.keys)}
    elif node.is_set or node.atomic:
        row["listType"] = "set" if node.is_set else "atomic"
    return row


def struct_facts(node: Ref | Struct) -> Row:
    struct = schema_nodes.referred(node) if isinstance(node, Ref) else node
    row: Row = {"type": "object", "unknownFields": "pruned" if struct.closed else "preserved"}
    name = kubernetes_name(node)
    if name is not None:
        row["k8s"] = name
    if struct.name == "extraPodSpec":
        row["inline"] = "core/v1.PodSpec"
    if struct.embedded_resource:
        row["embeddedResource"] = True
    return {**row, "mapType": "atomic"} if struct.atomic else row


def kubernetes_name(node: Node) -> str | None:
    """Return the name of the Kubernetes type at which the listing stops."""
    if isinstance(node, Ref):
        return node.name
    if not isinstance(node, Struct):
        return None
    relaxed = {"mainContainer": "core/v1.Container", "embedded resource": "runtime.RawExtension"}
    return relaxed.get(node.name) or (node.name if "/" in node.name else None)


def word_for(node: Node) -> str:
    return kubernetes_name(node) or node_facts(node)["type"]


@pytest.mark.parametrize("name", KIND_NAMES)
def test_every_listed_field_exists_and_no_other(name: str) -> None:
    assert our_rows(name).keys() ^ listed_rows(name).keys() == set()


def test_the_listing_has_all_364_fields() -> None:
    """A cut listing would make the comparison easy."""
    assert sum(len(listed_rows(name)) for name in KIND_NAMES) == 364


@pytest.mark.parametrize("name", KIND_NAMES)
@pytest.mark.parametrize("fact", COMPARED)
def test_each_field_agrees_on(name: str, fact: str) -> None:
    ours, listed = our_rows(name), listed_rows(name)
    different = {
        path: (ours[path].get(fact), row.get(fact))
        for path, row in listed.items()
        if ours[path].get(fact) != said(row, fact, ours[path].get(fact))
    }
    assert different == {}


def said(row: Row, fact: str, ours: Any) -> Any:
    """Return what the listing says, or *ours* where it does not speak of such a fact."""
    if row["path"] in {"apiVersion", "kind"} or (fact == "k8s" and row.get(fact) == "apiextensions/v1.JSON"):
        return ours
    return row.get(fact)


@pytest.mark.parametrize("name", KIND_NAMES)
def test_each_field_is_written_again_as_listed(name: str) -> None:
    ours, listed = our_rows(name), listed_rows(name)
    different = {
        path: (ours[path]["emit"], row["emit"])
        for path, row in listed.items()
        if "emit" in row and ours[path]["emit"] != row["emit"]
    }
    assert different == {}


@pytest.mark.parametrize("name", KIND_NAMES)
def test_each_kind_is_called_and_listed_as_the_specification_says(name: str) -> None:
    kind, listed = kinds.KINDS[name], listed_kind(name)
    columns = [{"name": column.name, "type": column.type, "jsonPath": column.path} for column in kind.columns]
    scale = kind.scale and {
        "labelSelectorPath": kind.scale.selector,
        "specReplicasPath": kind.scale.spec_replicas,
        "statusReplicasPath": kind.scale.status_replicas,
    }
    ours = {
        "listKind": kind.list_kind,
        "plural": kind.plural,
        "singular": kind.singular,
        "shortNames": [kind.short_name],
        "scope": kinds.SCOPE,
        "crdAnnotations": dict(kind.annotations),
        "statusSubresource": kind.status is not None,
        "scaleSubresource": scale,
        "printerColumns": columns,
    }
    assert ours == {key: listed[key] for key in ours}


def test_group_and_version_are_the_listings() -> None:
    assert (listing()["group"], listing()["version"]) == (kinds.GROUP, kinds.VERSION)


def test_conditions_have_the_listed_limits() -> None:
    listed = listing()["embeddedTypes"]["meta/v1.Condition"]
    words = {"minimum": "minimum", "minLength": "min_length", "maxLength": "max_length", "pattern": "pattern"}
    nodes = {name: field.node for name, field in CONDITION.fields.items()}
    ours = {
        f"{name}:{word}": getattr(node, attribute)
        for name, node in nodes.items()
        for word, attribute in words.items()
        if getattr(node, attribute) is not None
    }
    assert ours == listed["bounds"]
    enums = {name: list(node.enum) for name, node in nodes.items() if isinstance(node, Scalar) and node.enum}
    assert enums == listed["enums"]

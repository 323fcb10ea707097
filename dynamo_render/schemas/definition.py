"""CustomResourceDefinitions: a kind with its structural schema, as the API server is given it.

Embedded Kubernetes types are written out, because a structural schema has no references. Names, columns and rules come
from `kinds` and the classes of `spec`; nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dynamo_render.kube import schema_nodes, structural
from dynamo_render.kube.schema_nodes import ABSENT, Demand, ListOf, MapOf, Node, Ref, Scalar, Struct
from dynamo_render.schemas import kinds
from dynamo_render.schemas.kinds import CustomKind

Json = dict[str, Any]

QUANTITY_PATTERN: Final = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
_NUMBER_OR_TEXT: Final = {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}
_SCALARS: Final[Mapping[str, Json]] = {
    "string": {"type": "string"},
    "boolean": {"type": "boolean"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "quantity": {"pattern": QUANTITY_PATTERN, **_NUMBER_OR_TEXT},
    "duration": {"type": "string"},
    "int-or-string": _NUMBER_OR_TEXT,
    "time": {"type": "string", "format": "date-time"},
    "bytes": {"type": "string", "format": "byte"},
    "any": {"x-kubernetes-preserve-unknown-fields": True},
}
_LIMITS: Final = {
    "minimum": "minimum",
    "min_length": "minLength",
    "max_length": "maxLength",
    "pattern": "pattern",
}


def custom_resource_definition(kind: CustomKind, *, text_parameters: bool = False) -> Json:
    """Return the definition of *kind*; *text_parameters* as in `kinds.resource_struct`."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{kind.plural}.{kinds.GROUP}",
            **({"annotations": dict(kind.annotations)} if kind.annotations else {}),
        },
        "spec": {
            "group": kinds.GROUP,
            "names": {
                "kind": kind.name,
                "listKind": kind.list_kind,
                "plural": kind.plural,
                "shortNames": [kind.short_name],
                "singular": kind.singular,
            },
            "scope": kinds.SCOPE,
            "versions": [_version(kind, text_parameters)],
        },
    }


def _version(kind: CustomKind, text_parameters: bool) -> Json:  # noqa: FBT001 - passed on
    schema = structural_schema(kinds.resource_struct(kind, text_parameters=text_parameters))
    schema["properties"]["metadata"] = {"type": "object"}  # its schema is the server's own
    version: Json = {
        "additionalPrinterColumns": [
            {"jsonPath": column.path, "name": column.name, "type": column.type} for column in kind.columns
        ],
        "name": kinds.VERSION,
        "schema": {"openAPIV3Schema": schema},
        "served": True,
        "storage": True,
    }
    subresources = _subresources(kind)
    return {**version, "subresources": subresources} if subresources else version


def _subresources(kind: CustomKind) -> Json:
    subresources: Json = {}
    if kind.scale is not None:
        subresources["scale"] = {
            "labelSelectorPath": kind.scale.selector,
            "specReplicasPath": kind.scale.spec_replicas,
            "statusReplicasPath": kind.scale.status_replicas,
        }
    if kind.status is not None:
        subresources["status"] = {}
    return subresources


def structural_schema(node: Node) -> Json:
    """Return *node* as an OpenAPI v3 schema in the structural form that a definition needs, types written out."""
    if isinstance(node, Scalar):
        return _scalar(node)
    if isinstance(node, ListOf):
        return _list(node)
    if isinstance(node, MapOf):
        return _map(node)
    return _struct(schema_nodes.referred(node) if isinstance(node, Ref) else node)


def _scalar(node: Scalar) -> Json:
    limits = {word: getattr(node, attribute) for attribute, word in _LIMITS.items()}
    given = {word: limit for word, limit in limits.items() if limit is not None}
    enum = {"enum": list(node.enum)} if node.enum else {}
    return {**structural.copied(_SCALARS[node.kind]), **enum, **given}


def _list(node: ListOf) -> Json:
    schema: Json = {"type": "array", "items": structural_schema(node.item)}
    if node.max_items is not None:
        schema["maxItems"] = node.max_items
    if node.keys:
        schema["x-kubernetes-list-map-keys"] = list(node.keys)
    list_type = "map" if node.keys else "set" if node.is_set else "atomic" if node.atomic else None
    return {**schema, "x-kubernetes-list-type": list_type} if list_type else schema


def _map(node: MapOf) -> Json:
    schema: Json = {"type": "object", "additionalProperties": structural_schema(node.item)}
    if node.max_properties is not None:
        schema["maxProperties"] = node.max_properties
    return {**schema, "x-kubernetes-map-type": "atomic"} if node.atomic else schema


def _struct(node: Struct) -> Json:
    schema: Json = {"type": "object", **_description(node)}
    if node.fields:
        schema["properties"] = {key: _property(field) for key, field in sorted(node.fields.items())}
    required = sorted(key for key, field in node.fields.items() if field.required)
    if required:
        schema["required"] = required
    if node.demands:
        schema["x-kubernetes-validations"] = [_validation(demand) for demand in node.demands]
    flags = {
        "x-kubernetes-embedded-resource": node.embedded_resource,
        "x-kubernetes-preserve-unknown-fields": not node.closed,
    }
    schema.update((flag, True) for flag, is_set in flags.items() if is_set)
    return {**schema, "x-kubernetes-map-type": "atomic"} if node.atomic else schema


def _property(field: schema_nodes.Field) -> Json:
    schema = structural_schema(field.node)
    return schema if field.default is ABSENT else {"default": field.default, **schema}


def _validation(demand: Demand) -> Json:
    present = " && ".join(f"has(self.{key})" for key in demand.needs)
    return {"message": demand.message, "rule": f"!has(self.{demand.when}) || !self.{demand.when} || ({present})"}


def _description(node: Struct) -> Json:
    text = summary(node)
    return {"description": text} if text else {}


def summary(node: Struct) -> str:
    """Return the first line of what the class of *node* says about itself, or nothing."""
    written = node.build.__doc__ if node.build is not None else None
    return (written or "").partition("\n")[0]

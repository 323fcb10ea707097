"""JSON Schemas for editors: what may be written into a file, with completion of every field name.

Draft 2020-12, one document for each kind, each embedded Kubernetes type once under ``$defs``. A schema is as strict as
a server asked for strict field validation: a key that would be pruned is marked. It cannot say that list keys repeat.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dynamo_render.kube import schema_nodes, structural
from dynamo_render.kube.schema_nodes import ABSENT, Demand, Field, ListOf, MapOf, Node, Ref, Scalar, Struct
from dynamo_render.schemas import definition, kinds
from dynamo_render.schemas.kinds import CustomKind

Json = dict[str, Any]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_SCALARS: Final[Mapping[str, Json]] = {
    "string": {"type": "string"},
    "boolean": {"type": "boolean"},
    "int32": {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1},
    "int64": {"type": "integer"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "quantity": {"type": ["string", "integer"], "pattern": definition.QUANTITY_PATTERN},
    "duration": {"type": "string"},
    "int-or-string": {"type": ["string", "integer"]},
    "time": {"type": "string", "format": "date-time"},
    "bytes": {"type": "string", "contentEncoding": "base64"},
    "any": {},
}
_LIMITS: Final = {
    "minimum": "minimum",
    "min_length": "minLength",
    "max_length": "maxLength",
    "pattern": "pattern",
}


def json_schema(kind: CustomKind, *, text_parameters: bool = False) -> Json:
    """Return the schema of one resource of *kind* in a file; *text_parameters* as in `kinds.resource_struct`."""
    used: dict[str, Json] = {}
    schema = _struct(kinds.resource_struct(kind, text_parameters=text_parameters), used)
    properties = schema["properties"]
    properties["apiVersion"] = {"const": kinds.API_VERSION}
    properties["kind"] = {"const": kind.name}
    if "status" in properties:
        properties["status"]["readOnly"] = True
    return {
        "$schema": DIALECT,
        "title": kind.name,
        **schema,
        "required": ["apiVersion", "kind", "metadata", "spec"],
        "$defs": dict(sorted(used.items())),
    }


def editor_line(location: str) -> str:
    """Return the comment that makes an editor check and complete a YAML file by the schema at *location*."""
    return f"# yaml-language-server: $schema={location}"


def _schema(node: Node, used: dict[str, Json]) -> Json:
    """Return *node* as JSON Schema; the embedded types that it refers to are put into *used*."""
    if isinstance(node, Scalar):
        return _scalar(node)
    if isinstance(node, ListOf):
        limits = {"maxItems": node.max_items} if node.max_items is not None else {}
        unique = {"uniqueItems": True} if node.is_set else {}
        return {"type": "array", "items": _schema(node.item, used), **limits, **unique}
    if isinstance(node, MapOf):
        limits = {"maxProperties": node.max_properties} if node.max_properties is not None else {}
        return {"type": "object", "additionalProperties": _schema(node.item, used), **limits}
    return _reference(node, used) if isinstance(node, Ref) else _struct(node, used)


def _reference(node: Ref, used: dict[str, Json]) -> Json:
    name = node.name.replace("/", ".")
    if name not in used:
        used[name] = {}  # stands in for itself while its own fields are read
        used[name] = _struct(schema_nodes.referred(node), used)
    return {"$ref": f"#/$defs/{name}"}


def _scalar(node: Scalar) -> Json:
    limits = {word: getattr(node, attribute) for attribute, word in _LIMITS.items()}
    given = {word: limit for word, limit in limits.items() if limit is not None}
    enum = {"enum": list(node.enum)} if node.enum else {}
    return {**structural.copied(_SCALARS[node.kind]), **enum, **given}


def _struct(node: Struct, used: dict[str, Json]) -> Json:
    text = definition.summary(node)
    schema: Json = {"type": "object", **({"description": text} if text else {})}
    if node.fields:
        schema["properties"] = {key: _property(field, used) for key, field in sorted(node.fields.items())}
    # A key with a default is filled in before it is required, so a file may leave it out.
    required = sorted(key for key, field in node.fields.items() if field.required and field.default is ABSENT)
    if required:
        schema["required"] = required
    if node.closed:
        schema["additionalProperties"] = False
    if node.demands:
        schema["allOf"] = [_condition(demand) for demand in node.demands]
    return schema


def _property(field: Field, used: dict[str, Json]) -> Json:
    schema = _schema(field.node, used)
    return schema if field.default is ABSENT else {**schema, "default": field.default}


def _condition(demand: Demand) -> Json:
    is_true = {"properties": {demand.when: {"const": True}}, "required": [demand.when]}
    return {"if": is_true, "then": {"required": list(demand.needs)}}

"""Other forms of a structural schema: what the API server stores instead of what a typed client keeps.

A form is a schema again, so it compiles with `structural.decoder`. Nothing here decodes.
"""

from __future__ import annotations

from typing import Final

import attrs

from dynamo_render.kube.schema_nodes import STRING, Field, ListOf, MapOf, Node, Ref, Scalar, Struct

_AS_WRITTEN: Final = {"quantity": "quantity-text", "duration": STRING.kind}


def stored_form(node: Node) -> Node:
    """Return *node* for decoding to what the API server stores: plain JSON as written, with defaults, zeros and all.

    Quantities and durations keep their spelling, and keys that a schema preserves are kept.
    """
    if isinstance(node, Scalar):
        return attrs.evolve(node, kind=_AS_WRITTEN.get(node.kind, node.kind))
    if isinstance(node, Ref):
        return Ref(node.name, stored_struct)
    if isinstance(node, Struct):
        return stored_struct(node)
    return attrs.evolve(node, item=stored_form(node.item))


def stored_struct(struct: Struct) -> Struct:
    """Return the stored form of *struct*; see `stored_form`."""
    return attrs.evolve(
        struct,
        fields={
            key: Field(stored_form(field.node), required=field.required, default=field.default)
            for key, field in struct.fields.items()
        },
        build=None,
        keeps_zeros=True,
        keeps_unknown=not struct.closed,
    )


def replaced(node: Node, old: Scalar, new: Scalar) -> Node:
    """Return *node* with the very leaf *old* replaced by *new*; embedded Kubernetes types are not searched."""
    if node is old:
        return new
    if isinstance(node, ListOf | MapOf):
        return attrs.evolve(node, item=replaced(node.item, old, new))
    if isinstance(node, Struct):
        fields = {key: attrs.evolve(field, node=replaced(field.node, old, new)) for key, field in node.fields.items()}
        return attrs.evolve(node, fields=fields)
    return node

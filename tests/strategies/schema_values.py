"""Values that fit a structural schema, field by field, and resources of any kind made of them.

With *noise*, some values are of a wrong type, out of range, null or unknown: what a server has to prune or refuse.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from dynamo_render.kube import schema_nodes
from dynamo_render.kube.schema_nodes import ListOf, MapOf, Node, Ref, Scalar, Struct
from dynamo_render.schemas import kinds

Json = dict[str, Any]

MOST_KEYS = 4
"""Optional keys that one mapping has at most: a pod with all of its fields would be thousands of lines."""

WRONG: tuple[Any, ...] = (None, True, -1, 2.5, 2**40, "text", "", [], [None], {}, {"unknown": 1}, {"name": None})

TEXTS = ("", "a", "TCP", "name", "value with blanks", "vllm", "0", "1Gi")
SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "string": st.sampled_from(TEXTS),
    "boolean": st.booleans(),
    "number": st.sampled_from((0, 1, 0.5, -2.25)),
    "quantity": st.sampled_from(("1", "500m", "1Gi", "-1", "+1", ".5", "1e3", "1024Mi", 0, 3)),
    "duration": st.sampled_from(("5s", "1h30m", "")),
    "int-or-string": st.sampled_from((0, 8080, "http", "25%")),
    "time": st.just("2026-01-02T03:04:05Z"),
    "bytes": st.sampled_from(("", "YQ==")),
    "any": st.sampled_from((True, 0, "x", {}, {"a": [None, {"b": None}]})),
}


@cache
def resources(kind: kinds.CustomKind | str, *, noise: bool = False) -> st.SearchStrategy[Json]:
    """Return whole resources of *kind*, which may be given by name."""
    entry = kinds.KINDS[kind] if isinstance(kind, str) else kind
    whole = kinds.resource_struct(entry)
    return st.fixed_dictionaries(
        {
            "apiVersion": st.just(kinds.API_VERSION),
            "kind": st.just(entry.name),
            "metadata": st.just({"name": "x", "namespace": "default"}),
            "spec": values(whole.fields["spec"].node, noise=noise),
        }
    )


@st.composite
def values(draw: st.DrawFn, node: Node, *, noise: bool) -> Any:
    """Return values that fit *node*."""
    if noise and draw(st.integers(0, 24)) == 0:
        return draw(st.sampled_from(WRONG))
    if isinstance(node, Scalar):
        return draw(scalars(node))
    if isinstance(node, ListOf):
        entries = [draw(values(node.item, noise=noise)) for _ in range(draw(st.integers(0, 2)))]
        return entries if noise or not (node.keys or node.is_set) else entries[:1]
    if isinstance(node, MapOf):
        names = draw(st.sampled_from((("a",), ("a", "Key"), ())))
        return {name: draw(values(node.item, noise=noise)) for name in names}
    return draw(mappings(schema_nodes.referred(node) if isinstance(node, Ref) else node, noise=noise))


@st.composite
def mappings(draw: st.DrawFn, struct: Struct, *, noise: bool) -> Json:
    """Return mappings with all required keys of *struct* and a few others."""
    names = sorted(struct.fields)
    fewest = min(len(names), draw(st.integers(0, 2)))
    some = draw(st.lists(st.sampled_from(names), min_size=fewest, max_size=MOST_KEYS, unique=True)) if names else []
    required = [name for name in names if struct.fields[name].required]
    for demand in struct.demands:
        required += demand.needs
    content = {name: draw(values(struct.fields[name].node, noise=noise)) for name in dict.fromkeys((*some, *required))}
    if noise and content and draw(st.integers(0, 9)) == 0:
        content.pop(draw(st.sampled_from(sorted(content))))
    if not struct.closed or (noise and draw(st.integers(0, 9)) == 0):
        content["notAField"] = draw(SCALARS["any"])
    return content


def scalars(node: Scalar) -> st.SearchStrategy[Any]:
    """Return leaves that fit *node*."""
    if node.enum:
        return st.sampled_from(node.enum)
    if node.kind in {"int32", "int64", "integer"}:
        return st.integers(node.minimum if node.minimum is not None else -5, 2**31 - 1)
    if node.min_length:
        return st.just("x" * node.min_length)
    return SCALARS[node.kind]

"""What structural schemas are made of: the nodes, those of embedded Kubernetes types, and what decoding by them finds.

A node is data: nothing here decodes a value or writes a schema out. `structural` does the one, `schemas` the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

import attrs

from dynamo_render.errors import Problem
from dynamo_render.kube import embedded_types
from dynamo_render.values import Value, frozen

Where = tuple["Where", "str | int"] | None
Emit = Literal["always", "if-set", "non-zero", "non-empty"]

ABSENT: Final = object()


def path_of(where: Where) -> tuple[str | int, ...]:
    """Return the linked steps of *where* as a path from the top."""
    steps: list[str | int] = []
    while where is not None:
        where, step = where
        steps.append(step)
    return tuple(reversed(steps))


class Findings:
    """Collects the problems of one decoding run."""

    def __init__(self) -> None:
        """Start with nothing found."""
        self.problems: list[Problem] = []

    def error(self, where: Where, rule: str, message: str, hint: str | None = None) -> None:
        """Note that the value at *where* is refused."""
        self.problems.append(Problem(f"schema/{rule}", path_of(where), message, hint))

    def warn(self, where: Where, rule: str, message: str, hint: str | None = None) -> None:
        """Note that the value at *where* is accepted but probably not meant."""
        self.problems.append(Problem(f"schema/{rule}", path_of(where), message, hint, "warning"))


@frozen
class Scalar(Value):
    """A leaf, by the word for its type.

    That is ``string``, ``boolean``, ``int32``, ``int64``, ``integer`` (no width declared), ``number``,
    ``int-or-string``, ``time``, ``bytes`` (base64), ``quantity`` and ``duration`` (both rewritten in their canonical
    form), ``quantity-text`` (left as it is) or ``any``.
    """

    kind: str
    minimum: int | None = None
    min_length: int | None = None
    enum: tuple[str, ...] = ()
    max_length: int | None = None
    pattern: str | None = None


@frozen
class ListOf(Value):
    """A list of *item*; with *keys* its entries are told apart by these keys and may not repeat.

    An apply replaces an *atomic* list as a whole; without keys, *is_set* and *atomic* the schema says nothing about it.
    """

    item: Node
    keys: tuple[str, ...] = ()
    max_items: int | None = None
    is_set: bool = False
    atomic: bool = False


@frozen
class MapOf(Value):
    """A mapping with free string keys and values of *item*; an apply replaces an *atomic* one as a whole."""

    item: Node
    max_properties: int | None = None
    atomic: bool = False


@frozen
class Field(Value):
    """One declared key of a struct; *attribute* names it in the class that the struct builds."""

    node: Node
    emit: Emit = "if-set"
    required: bool = False
    default: object = ABSENT
    attribute: str = ""
    null_hint: str | None = None


@frozen
class Demand(Value):
    """A rule between the keys of one struct: where the boolean *when* is true, each of *needs* is present."""

    rule: str
    when: str
    needs: tuple[str, ...]
    message: str


@frozen
class Struct(Value):
    """A mapping with declared keys.

    With *build* the decoded value is ``build(**attributes)``; without, it is a plain mapping. *keeps_zeros* leaves
    explicit zero values of its own keys in place, for structs whose reader tells absent from empty. *closed* is false
    where the API server keeps unknown keys; with *keeps_unknown* the decoder keeps them too. Unknown keys are kept and
    *demands* checked only in plain mappings, so without *build*. An *embedded_resource* is a whole Kubernetes object.
    An apply replaces an *atomic* struct as a whole.
    """

    name: str
    fields: Mapping[str, Field]
    build: Callable[..., Any] | None = None
    keeps_zeros: bool = False
    closed: bool = True
    keeps_unknown: bool = False
    demands: tuple[Demand, ...] = ()
    embedded_resource: bool = False
    atomic: bool = False


@frozen
class Ref(Value):
    """A type of `embedded_types`, compiled when first needed; *form* changes its struct before that."""

    name: str
    form: Callable[[Struct], Struct] | None = None


Node = Scalar | ListOf | MapOf | Struct | Ref


STRING: Final = Scalar("string")
BOOLEAN: Final = Scalar("boolean")
INT32: Final = Scalar("int32")
INT64: Final = Scalar("int64")
INTEGER: Final = Scalar("integer")
NUMBER: Final = Scalar("number")
QUANTITY: Final = Scalar("quantity")
DURATION: Final = Scalar("duration")
ANY: Final = Scalar("any")
STRING_MAP: Final = MapOf(STRING)
ANY_OBJECT: Final = Struct("object", {}, closed=False, keeps_unknown=True)


def embedded(name: str, **changes: Any) -> Struct:
    """Return the struct of the Kubernetes type *name* (``core/v1.Container``), with some of its attributes changed."""
    fields = {key: _embedded_field(row) for key, row in embedded_types.TYPES[name].items()}
    return attrs.evolve(Struct(name, fields, atomic=name in embedded_types.ATOMIC_TYPES), **changes)


def referred(node: Ref) -> Struct:
    """Return the struct that *node* stands for."""
    struct = embedded(node.name)
    return struct if node.form is None else node.form(struct)


def _embedded_field(row: tuple[str, str, bool, object, str, tuple[str, ...]]) -> Field:
    kind, emit, required, default, list_type, keys = row
    node = _parse_type(kind, keys, list_type)
    if kind == "string" and emit == "always" and not required:
        emit = "if-set"  # an optional text that is always written is a pointer: null, which the API server drops
    return Field(node, emit, required, ABSENT if default is None else default)  # type: ignore[arg-type]


def _parse_type(kind: str, keys: tuple[str, ...], list_type: str) -> Node:
    atomic = list_type == "atomic"
    if kind.startswith("[]"):
        return ListOf(_parse_type(kind[2:], (), ""), keys, is_set=list_type == "set", atomic=atomic)
    if kind.startswith("{}"):
        return MapOf(_parse_type(kind[2:], (), ""), atomic=atomic)
    if kind == "meta/v1.ObjectMeta":
        return NO_KEYS  # the API server prunes everything inside embedded metadata
    return Ref(kind) if "/" in kind else Scalar(kind)


NO_KEYS: Final = Struct("meta/v1.ObjectMeta", {})

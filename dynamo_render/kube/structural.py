"""Structural schemas: what a Kubernetes API server and a typed client do to a value before anyone uses it.

A schema node compiles to a decoder. Decoding prunes unknown keys, drops nulls, fills defaults, checks types without
coercing any, and leaves out what a typed client would not write again (zero values of fields that are no pointers).
Problems are collected, never raised. The result shares no mutable state with the input. The nodes: `schema_nodes`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from dynamo_render.kube import durations, embedded_types, patterns, quantity
from dynamo_render.kube.schema_nodes import (
    ABSENT,
    Field,
    Findings,
    ListOf,
    MapOf,
    Node,
    Ref,
    Scalar,
    Struct,
    Where,
    referred,
)

Decoder = Callable[[Any, Where, Findings], Any]

INVALID: Final = object()
REQUIRED: Final = object()

_AMOUNT: Final = "quantity (string or integer)"
_LONGEST_SHOWN: Final = 60
_MOST_LISTED: Final = 8
MOST_LEVELS: Final = 200
_LARGEST_WHOLE_FRACTION: Final = 2**53 - 1
_INT_RANGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1), "integer": (-(2**63), 2**63 - 1)}


def decoder(node: Node) -> Decoder:
    """Return the function that decodes values of *node*."""
    if isinstance(node, Scalar):
        return _scalar_decoder(node)
    if isinstance(node, ListOf):
        return _list_decoder(node)
    if isinstance(node, MapOf):
        return _map_decoder(node)
    return _ref_decoder(node) if isinstance(node, Ref) else _struct_decoder(node)


def kind_of(value: object) -> str:
    """Return the JSON name of the type of *value*, as messages say it."""
    if value is None:
        return "null"
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), type(value).__name__)


def shown(value: object) -> str:
    """Return *value* as a message quotes it, cut to a readable length."""
    text = f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."


def _wrong_type(value: object, wanted: str, where: Where, findings: Findings) -> object:
    hint = None
    is_amount = wanted == _AMOUNT and not isinstance(value, bool)
    if (wanted == "string" or is_amount) and isinstance(value, int | float):
        hint = f'write it in quotes: "{str(value).lower() if isinstance(value, bool) else value}"'
    found = f"{kind_of(value)} {shown(value)}" if not isinstance(value, dict | list) else kind_of(value)
    findings.error(where, "type", f"must be {wanted}, got {found}", hint)
    return INVALID


_PYTHON_TYPES: Final = {"string": str, "boolean": bool, "time": str, "bytes": str}


def _scalar_decoder(node: Scalar) -> Decoder:
    if node.kind in _INT_RANGES:
        return _integer_decoder(node)
    return _SPECIAL_DECODERS.get(node.kind) or _text_decoder(node)


def _text_decoder(node: Scalar) -> Decoder:
    wanted, python_type = node.kind, _PYTHON_TYPES[node.kind]
    enum, min_length, is_limited = node.enum, node.min_length or 0, _has_text_limits(node)

    def decode(value: Any, where: Where, findings: Findings) -> Any:
        if type(value) is not python_type:
            return _wrong_type(value, "string" if python_type is str else wanted, where, findings)
        if enum and value not in enum:
            findings.error(where, "enum", f"must be one of {', '.join(enum)}, got {shown(value)}", nearest(value, enum))
        elif isinstance(value, str) and len(value) < min_length:
            findings.error(where, "length", "must not be empty")
        elif is_limited and isinstance(value, str):
            _check_text(node, value, where, findings)
        return value

    return decode


def _has_text_limits(node: Scalar) -> bool:
    return node.max_length is not None or node.pattern is not None


def _check_text(node: Scalar, value: str, where: Where, findings: Findings) -> None:
    if node.max_length is not None and len(value) > node.max_length:
        findings.error(where, "length", f"must have at most {node.max_length} characters, got {len(value)}")
    elif node.pattern is not None and not patterns.pattern(node.pattern).search(value):
        findings.error(where, "pattern", f"must match {node.pattern}, got {shown(value)}")


def _integer_decoder(node: Scalar) -> Decoder:
    low, high = _INT_RANGES[node.kind]
    minimum = node.minimum

    def decode(value: Any, where: Where, findings: Findings) -> Any:
        if type(value) is float:
            value = _whole(value)
        if type(value) is not int:
            return _wrong_type(value, "integer", where, findings)
        if minimum is not None and value < minimum:
            findings.error(where, "range", f"must be {minimum} or more, got {value}")
        elif not low <= value <= high:
            findings.error(where, "range", f"must be between {low} and {high}, got {value}")
        return value

    return decode


def _fits_64_bits(value: int) -> bool:
    """Whether the API server reads *value* as an integer; beyond that it is a fraction like any other."""
    low, high = _INT_RANGES["int64"]
    return low <= value <= high


def _whole(value: float) -> int | float:
    """Return the integer that *value* is, written as 2.0 or 2e3, as the API server reads it; others unchanged."""
    return int(value) if value.is_integer() and abs(value) <= _LARGEST_WHOLE_FRACTION else value


def _decode_number(value: Any, where: Where, findings: Findings) -> Any:
    if type(value) not in (int, float):
        return _wrong_type(value, "number", where, findings)
    return value


def _decode_int_or_string(value: Any, where: Where, findings: Findings) -> Any:
    if type(value) is str:
        return value
    if type(value) is float:
        value = _whole(value)
    if type(value) is not int:
        return _wrong_type(value, "integer or string", where, findings)
    if not -(2**31) <= value < 2**31:
        findings.error(where, "range", f"must be between {-(2**31)} and {2**31 - 1}, got {value}")
    return value


def _decode_quantity(value: Any, where: Where, findings: Findings) -> Any:
    if type(value) is float:
        value = _whole(value)
    if type(value) not in (str, int) or (type(value) is int and not _fits_64_bits(value)):
        return _wrong_type(value, _AMOUNT, where, findings)
    try:
        return quantity.from_json(value)
    except quantity.InvalidQuantity as error:
        findings.error(where, "quantity", str(error))
        return INVALID


def _decode_quantity_text(value: Any, where: Where, findings: Findings) -> Any:
    if type(value) is float:
        value = _whole(value)
    return INVALID if _decode_quantity(value, where, findings) is INVALID else value


def _decode_duration(value: Any, where: Where, findings: Findings) -> Any:
    if type(value) is not str:
        return _wrong_type(value, "duration (string)", where, findings)
    try:
        return durations.format(durations.parse(value))
    except durations.InvalidDuration as error:
        findings.error(where, "duration", str(error))
        return INVALID


def _decode_any(value: Any, where: Where, findings: Findings) -> Any:
    if _levels_end(value):
        return copied(value)
    findings.error(where, "depth", f"must be nested at most {MOST_LEVELS} levels deep")
    return INVALID


def _levels_end(value: Any) -> bool:
    """Say whether *value* ends within the levels that the readers of texts accept too."""
    level = [value]
    for _ in range(MOST_LEVELS):
        level = [
            inner
            for entry in level
            if type(entry) in _CONTAINERS
            for inner in (entry.values() if type(entry) is dict else entry)
        ]
        if not level:
            return True
    return False


_SPECIAL_DECODERS: Final[Mapping[str, Decoder]] = {
    "quantity": _decode_quantity,
    "quantity-text": _decode_quantity_text,
    "duration": _decode_duration,
    "int-or-string": _decode_int_or_string,
    "number": _decode_number,
    "any": _decode_any,
}


def _list_decoder(node: ListOf) -> Decoder:
    item, plain_type = decoder(node.item), _plain_type(node.item)
    keys, max_items, is_set = node.keys, node.max_items, node.is_set
    defaults = _key_defaults(node) if keys else {}

    def decode(value: Any, where: Where, findings: Findings) -> Any:
        if type(value) is not list:
            return _wrong_type(value, "array", where, findings)
        if max_items is not None and len(value) > max_items:
            findings.error(where, "count", f"must have at most {max_items} items, got {len(value)}")
        result = []
        for index, entry in enumerate(value):
            decoded = entry if type(entry) is plain_type else item(entry, (where, index), findings)
            if decoded is not INVALID:
                result.append(decoded)
        if keys and len(result) > 1:
            _check_unique(value, keys, defaults, where, findings)
        elif is_set and len(set(map(str, result))) < len(result):
            findings.error(where, "duplicate", "must not hold a value twice")
        return result

    return decode


def _key_defaults(node: ListOf) -> dict[str, object]:
    if not isinstance(node.item, Ref):
        return {}
    rows = embedded_types.TYPES[node.item.name]
    return {key: rows[key][3] for key in node.keys if rows[key][3] is not None}


def _check_unique(
    entries: list[Any], keys: tuple[str, ...], defaults: Mapping[str, object], where: Where, findings: Findings
) -> None:
    seen: set[tuple[str, ...]] = set()
    for index, entry in enumerate(entries):
        if type(entry) is not dict:
            continue
        identity = tuple(repr(entry.get(key, defaults.get(key))) for key in keys)
        if identity in seen:
            named = ", ".join(f"{key} {shown(entry.get(key, defaults.get(key)))}" for key in keys)
            findings.error((where, index), "duplicate", f"repeats the entry with {named}")
        seen.add(identity)


def _map_decoder(node: MapOf) -> Decoder:
    item, plain_type = decoder(node.item), _plain_type(node.item)
    max_properties = node.max_properties

    def decode(value: Any, where: Where, findings: Findings) -> Any:
        if type(value) is not dict:
            return _wrong_type(value, "object", where, findings)
        if max_properties is not None and len(value) > max_properties:
            findings.error(where, "count", f"must have at most {max_properties} entries, got {len(value)}")
        result = {}
        for key, entry in value.items():
            if type(entry) is plain_type:
                result[key] = entry
            elif entry is not None:
                decoded = item(entry, (where, key), findings)
                if decoded is not INVALID:
                    result[key] = decoded
        return result

    return decode


_compiled: dict[tuple[str, Callable[[Struct], Struct] | None], Decoder] = {}


def _ref_decoder(node: Ref) -> Decoder:
    """Return the decoder of the type that *node* names, the same for all who name it."""
    key = (node.name, node.form)
    if key not in _compiled:
        _compiled[key] = _struct_decoder(referred(node))
    return _compiled[key]


class _FieldDecoders(dict[str, Decoder]):
    """The decoders of a struct's fields, each compiled when its field first has a value: most never have one."""

    def __init__(self, fields: Mapping[str, Field]) -> None:
        super().__init__()
        self._fields = fields

    def __missing__(self, key: str) -> Decoder:
        compiled = self[key] = decoder(self._fields[key].node)
        return compiled


def _struct_decoder(node: Struct) -> Decoder:  # noqa: C901 - one loop, kept flat: every render passes through it often
    fields = {
        key: (_plain_type(field.node), field.attribute or key, _drops_zero(node, field), field)
        for key, field in node.fields.items()
    }
    decoders = _FieldDecoders(node.fields)
    expected = tuple(
        (key, field.attribute or key, _missing_value(node, field))
        for key, field in node.fields.items()
        if field.required or field.default is not ABSENT or (field.emit == "always" and not node.build)
    )
    build, closed = node.build, node.closed and not node.keeps_unknown
    has_extras = build is None and (node.keeps_unknown or bool(node.demands))

    def decode(value: Any, where: Where, findings: Findings) -> Any:  # noqa: C901 - as above
        if type(value) is not dict:
            return _wrong_type(value, "object", where, findings)
        result: dict[str, Any] = {}
        for key, entry in value.items():
            known = fields.get(key)
            if known is None:
                if closed:
                    _note_unknown(key, node, where, findings)
                continue
            plain_type, attribute, drops_zero, field = known
            if type(entry) is plain_type:
                decoded = entry
            elif entry is None:
                if field.null_hint:
                    findings.warn((where, key), "null", "null counts as not given", field.null_hint)
                continue
            else:
                decoded = decoders[key](entry, (where, key), findings)
                if decoded is INVALID:
                    continue
            if decoded or not drops_zero:
                result[attribute] = decoded
        for key, attribute, missing in expected:
            if attribute not in result and (missing is not REQUIRED or value.get(key) is None):
                _fill(result, attribute, missing, (where, key), findings)
        return result if build is None else build(**result)

    return _with_extras(node, decode) if has_extras else decode


def _with_extras(node: Struct, decode: Decoder) -> Decoder:
    """Return *decode* with what few structs need: unknown keys are kept, demands are checked."""
    unknown_kept, demands, fields = node.keeps_unknown, node.demands, node.fields

    def decode_with_extras(value: Any, where: Where, findings: Findings) -> Any:
        result = decode(value, where, findings)
        if result is INVALID:
            return result
        if unknown_kept:
            result.update((key, copied(entry)) for key, entry in value.items() if key not in fields)
        for demand in demands:
            if result.get(demand.when) is True and any(key not in result for key in demand.needs):
                findings.error(where, demand.rule, demand.message)
        return result

    return decode_with_extras


def _plain_type(node: Node) -> type | None:
    """Return the Python type whose values *node* takes as they are, if any: the short way through a decoder."""
    if isinstance(node, Scalar) and not (node.enum or node.min_length or _has_text_limits(node)):
        return _PYTHON_TYPES.get(node.kind)
    return None


def _drops_zero(node: Struct, field: Field) -> bool:
    return field.emit in {"non-zero", "non-empty"} and not node.keeps_zeros and node.build is None


def _missing_value(node: Struct, field: Field) -> object:
    """Return what stands for an absent key: its default, REQUIRED, or the zero value that a typed client writes."""
    if field.default is not ABSENT:
        return ABSENT if not field.default and _drops_zero(node, field) else field.default
    if field.required:
        return REQUIRED
    if isinstance(field.node, Scalar):
        return {"string": "", "quantity": "0", "duration": "0s"}.get(field.node.kind, ABSENT)
    return {} if isinstance(field.node, Ref | Struct) else ABSENT


def _fill(result: dict[str, Any], attribute: str, missing: object, where: Where, findings: Findings) -> None:
    if missing is REQUIRED:
        findings.error(where, "required", "is required")
    elif missing is not ABSENT:
        result[attribute] = {} if missing == {} else missing


def _note_unknown(key: str, node: Struct, where: Where, findings: Findings) -> None:
    hint = nearest(key, tuple(node.fields))
    if hint is None and node.fields and len(node.fields) <= _MOST_LISTED:
        hint = f"known fields: {', '.join(sorted(node.fields))}"
    findings.warn((where, key), "unknown-field", "is not a known field and is dropped", hint)


def nearest(text: object, known: tuple[str, ...]) -> str | None:
    """Return ``did you mean X?`` for the known name that is closest to *text*, if any is close."""
    if not isinstance(text, str):
        return None
    folded = {name.lower(): name for name in known}
    if text.lower() in folded:
        return f"did you mean {folded[text.lower()]}?"
    import difflib  # noqa: PLC0415 - only needed once something is wrong

    close = difflib.get_close_matches(text, known, n=1)
    return f"did you mean {close[0]}?" if close else None


_CONTAINERS: Final = frozenset({dict, list})


def copied(value: Any) -> Any:
    """Return a copy of a plain JSON value that shares no list or mapping with it."""
    kind = type(value)
    if kind is not dict and kind is not list:
        return value
    copy = value.copy()
    for place, entry in value.items() if kind is dict else enumerate(value):
        if type(entry) is dict or type(entry) is list:
            copy[place] = copied(entry)
    return copy

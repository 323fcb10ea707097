"""JSON documents as kubectl reads them, before it falls back to YAML: quickly, and with the same numbers.

Positions of mistakes are found by reading the same text again as YAML, which JSON nearly is.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import attrs

from dynamo_render.errors import UnreadableInput
from dynamo_render.kube import yaml_reader, yaml_scalars, yaml_stream
from dynamo_render.kube.patterns import pattern

if TYPE_CHECKING:
    import json

    from dynamo_render.kube.yaml_stream import Piece

_BLANK = pattern(r"[ \t\n\r]*")
_SURROGATE_ESCAPE = pattern(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_LONE_SURROGATE = pattern("[\ud800-\udfff]")
_MOST_DIGITS = 20


class _RefusedJson(Exception):
    """JSON that is well formed and still not for us; *token* is what to point at."""

    def __init__(self, message: str, token: str) -> None:
        self.message = message
        self.token = token
        super().__init__(message)


def looks_like_json(text: str) -> bool:
    """Whether *text* is to be tried as JSON first."""
    return text.lstrip().startswith(("{", "["))


def start_of_value(text: str, offset: int) -> int:
    """Return the offset of the next character that is not blank."""
    match = _BLANK.match(text, offset)
    return match.end() if match else offset


def json_value(text: str, start: int, source: str) -> tuple[Any, int] | None:
    """Return the JSON value at *start* and the offset behind it, or None where none stands or it nests too deep.

    Raises UnreadableInput for duplicate keys and for numbers beyond the range of floats.
    """
    try:
        value, end = _decoder().raw_decode(text, start)
    except _RefusedJson as refused:
        raise _located(refused, text, start, source) from None
    except (ValueError, RecursionError):
        return None
    brackets = text.count("[", start, end) + text.count("{", start, end)
    if brackets > yaml_reader.MOST_LEVELS and _is_too_deep(value):
        return None
    return (_without_lone_surrogates(value) if _SURROGATE_ESCAPE.search(text, start, end) else value), end


def as_yaml(piece: Piece) -> Piece:
    """Return *piece* with the same places and what only JSON takes replaced: surrogate escapes, some characters."""
    text = _SURROGATE_ESCAPE.sub(r"\\u0020", piece.text)
    return attrs.evolve(piece, text=yaml_stream.with_forbidden_masked(text))


def _located(refused: _RefusedJson, text: str, start: int, source: str) -> Exception:
    """Return the error for *refused* with the best position there is."""
    try:
        yaml_reader.read_piece(as_yaml(yaml_stream.piece_of(text, start, len(text), source)))
    except UnreadableInput as error:
        if error.message == refused.message:
            return error
    offset = max(text.find(refused.token, start), start)
    return yaml_stream.refusal_at(refused.message, text, offset, source)


@cache
def _decoder() -> json.JSONDecoder:
    import json  # noqa: PLC0415 - YAML does without

    return json.JSONDecoder(
        object_pairs_hook=_mapping, parse_int=_whole_number, parse_float=_number, parse_constant=_no_json
    )


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) == len(pairs):
        return mapping
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise _RefusedJson(yaml_reader.duplicate_key(key), f'"{key}"')
        seen.add(key)
    return mapping


def _whole_number(digits: str) -> yaml_scalars.Scalar:
    # Python reads no more than 4,300 digits at once; far fewer are beyond 64 bits.
    return yaml_scalars.json_scalar(int(digits)) if len(digits) <= _MOST_DIGITS else _number(digits)


def _number(digits: str) -> float:
    """Return the number; whole floats are integers as in YAML, as long as that is the same number."""
    value = float(digits)
    if math.isinf(value):
        raise _RefusedJson(f"the number {digits} is out of range", digits)
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _no_json(word: str) -> None:
    """Refuse NaN and Infinity, which Python takes for JSON."""
    raise ValueError(word)


def _is_too_deep(value: object) -> bool:
    level = [value]
    for _ in range(yaml_reader.MOST_LEVELS):
        level = [child for parent in level for child in _collections_in(parent)]
        if not level:
            return False
    return True


def _collections_in(parent: Any) -> list[Any]:
    children = parent.values() if isinstance(parent, dict) else parent
    return [child for child in children if isinstance(child, dict | list)]


def _without_lone_surrogates(value: Any) -> Any:
    """Return *value* with a replacement character for every half of a surrogate pair, as Go decodes JSON."""
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_without_lone_surrogates(key): _without_lone_surrogates(item) for key, item in value.items()}
    return [_without_lone_surrogates(item) for item in value] if isinstance(value, list) else value

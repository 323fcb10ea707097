"""Types of YAML scalars, decided as kubectl decides them.

kubectl reads YAML 1.1 with exceptions of its own (no base 60, ``0o`` octals, ``1e3`` a number) and then passes all
through JSON, where ``1.0`` becomes 1 and every mapping key becomes text. This module knows these two steps for one
scalar; it must not know about documents or positions.
"""

from __future__ import annotations

import binascii
import math
import re
import struct
from functools import lru_cache

from dynamo_render.kube.patterns import pattern

Scalar = str | int | float | bool | None

_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_FIRST_OF_TYPED = frozenset("0123456789+-.~yYnNtTfFoO")

_INTEGER = pattern(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|0[0-7]*|[1-9][0-9]{0,19})")
_LEADING_ZERO = pattern(r"[-+]?0[0-7]")
_FLOAT = pattern(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_DOT_FLOAT = pattern(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?")
_SIGN_AFTER_PREFIX = pattern(r"0b([-+][01]+)")

# The powers of ten of numbers that are keys and keep all their zeros.
_EXPONENTS_LEFT_OUT = range(-4, 6)

_TAG_PREFIX = "tag:yaml.org,2002:"
_CHECKED_TAGS = frozenset(_TAG_PREFIX + name for name in ("bool", "int", "float", "null", "timestamp"))
_TIMESTAMP = (
    r"[0-9]{4}-(?P<month>[0-9]{1,2})-(?P<day>[0-9]{1,2})"
    r"(?:(?:[Tt]| +)(?:[01]?[0-9]|2[0-3]):[0-5]?[0-9]:[0-5]?[0-9](?:[.,][0-9]+)?)?"
    r"(?P<zone>Z|[-+](?:[01][0-9]|2[0-4]):[0-5][0-9])?"
)


def scalar_value(text: str, tag: str | None, *, plain: bool) -> Scalar:
    """Return what the scalar *text* means to kubectl, before JSON; *plain* says that it is not quoted.

    Raises ValueError when the tag asks for another type than the text has.
    """
    if tag is None:
        return plain_value(text) if plain else text
    if tag == _TAG_PREFIX + "binary":
        return _decoded_base64(text)
    if tag not in _CHECKED_TAGS:
        return text
    return _checked(text, tag.removeprefix(_TAG_PREFIX))


def plain_value(text: str) -> Scalar:
    """Return what an unquoted and untagged *text* means to kubectl, before JSON."""
    if text and text[0] not in _FIRST_OF_TYPED:
        return text
    return _typed(text)


def json_scalar(value: Scalar) -> Scalar:
    """Return *value* as it arrives after JSON: whole floats are integers, integers beyond 64 bits are floats.

    Raises ValueError for NaN and infinity.
    """
    if type(value) is float:
        return _json_number(value)
    if type(value) is int and not _fits_64_bits(value):
        return float(value)
    return value


def key_text(value: Scalar) -> str:
    """Return the text that kubectl makes of a mapping key; raises ValueError where kubectl makes none."""
    if type(value) is str:
        return value
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is float:
        return _single_precision_text(value)
    if type(value) is int and _fits_64_bits(value):
        return str(value)
    raise ValueError(f"{'null' if value is None else value} cannot be a mapping key")


@lru_cache(maxsize=4096)
def plain_json_scalar(text: str) -> Scalar:
    """Return the JSON value of an unquoted and untagged *text*; raises ValueError for NaN and infinity."""
    return json_scalar(plain_value(text))


@lru_cache(maxsize=4096)
def plain_key_text(text: str) -> str:
    """Return the mapping key that an unquoted and untagged *text* makes; raises ValueError where it makes none."""
    return key_text(plain_value(text))


def is_timestamp(text: str) -> bool:
    """Whether *text* spells a date, or a date with a time of day, that exists."""
    match = re.fullmatch(_TIMESTAMP, text)
    if match is None or (match["zone"] is not None) != ("T" in text or "t" in text):
        return False
    year, month, day = int(text[:4]), int(match["month"]), int(match["day"])
    is_leap_year = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = {2: 28 + is_leap_year, 4: 30, 6: 30, 9: 30, 11: 30}.get(month, 31)
    return month in range(1, 13) and day in range(1, days + 1)


def _typed(text: str) -> Scalar:
    if text in _WORDS:
        return _WORDS[text]
    if text[0] == ".":
        return _finite(text.replace("_", ""), text) if _DOT_FLOAT.fullmatch(text) else text
    if text[0] not in "0123456789+-":
        return text
    return _number(text.replace("_", ""), text)


def _number(digits: str, text: str) -> int | float | str:
    """Return the number that *digits* spell, or else *text*."""
    if _INTEGER.fullmatch(digits):
        whole = int(digits, 8 if _LEADING_ZERO.match(digits) else 0)
        if _fits_64_bits(whole) or (digits[0] not in "+-" and whole < 2**64):
            return whole
    if _FLOAT.fullmatch(digits):
        return _finite(digits, text)
    # A sign may follow the prefix of a binary number, but only a lower-case one: an accident of kubectl's reader.
    signed = _SIGN_AFTER_PREFIX.fullmatch(digits)
    if signed and _fits_64_bits(int(signed[1], 2)):
        return int(signed[1], 2)
    return text


def _finite(digits: str, text: str) -> float | str:
    """Return *digits* as a float, or *text* where that is beyond the range of floats."""
    value = float(digits)
    return text if math.isinf(value) else value


def _fits_64_bits(value: int) -> bool:
    return -(2**63) <= value < 2**63


def _json_number(value: float) -> int | float:
    if not math.isfinite(value):
        raise ValueError("NaN and infinity have no JSON form")
    if not value.is_integer() or abs(value) > 2**63:
        return value
    if abs(value) < 2**53:
        return int(value)
    # JSON carries the shortest digits that give the float back, filled up with zeros: they decide, not the exact value.
    from decimal import Decimal  # noqa: PLC0415 - slow to load and rarely needed

    whole = int(Decimal(repr(value)))
    return whole if _fits_64_bits(whole) else value


def _single_precision_text(value: float) -> str:
    """Return the shortest digits that tell *value* from its neighbours among 32-bit floats."""
    try:
        packed = struct.pack("<f", value)
    except OverflowError:
        return ".inf" if value > 0 else "-.inf"
    (narrow,) = struct.unpack("<f", packed)
    if not math.isfinite(narrow):
        return ".nan" if math.isnan(narrow) else ".inf" if narrow > 0 else "-.inf"
    precision = next(count for count in range(10) if struct.pack("<f", float(f"{narrow:.{count}e}")) == packed)
    scientific = f"{narrow:.{precision}e}"
    exponent = int(scientific.partition("e")[2])
    return f"{narrow:.{max(precision - exponent, 0)}f}" if exponent in _EXPONENTS_LEFT_OUT else scientific


def _checked(text: str, wanted: str) -> Scalar:
    """Return the value of *text* if it has the type named *wanted*."""
    if wanted == "timestamp" and is_timestamp(text):
        return text
    value = plain_value(text)
    found = "null" if value is None else type(value).__name__
    if found == wanted:
        return value
    if wanted == "float" and type(value) is int and _fits_64_bits(value):
        return float(value)
    raise ValueError(f"{text!r} cannot be read as !!{wanted}")


def _decoded_base64(text: str) -> str:
    try:
        raw = binascii.a2b_base64(text.replace("\n", "").replace("\r", ""), strict_mode=True)
    except ValueError:
        raise ValueError("!!binary without valid base64") from None
    # Bytes that are no UTF-8 each become one replacement character on the way through JSON.
    return re.sub("[\udc80-\udcff]", "\ufffd", raw.decode("utf-8", "surrogateescape"))

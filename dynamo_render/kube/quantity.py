"""Kubernetes quantities: which texts are one, the text Kubernetes would store, and the number behind it.

Specification: rendering.md appendix A. Values are exact; nothing here rounds except where Kubernetes does, and nothing
decides what a quantity is used for.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from dynamo_render.kube.patterns import pattern

if TYPE_CHECKING:
    from decimal import Decimal

_GRAMMAR = pattern(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<fraction>[0-9]*))?"
    r"(?:(?P<suffix>[numkMGTPE]|[KMGTPE]i)|[eE](?P<exponent>[+-]?[0-9]+))?"
)
# The schema is laxer than the parser: it lets an exponent have a fraction.
_SCHEMA_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_SCHEMA = pattern(rf"[+-]?{_SCHEMA_NUMBER}(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?{_SCHEMA_NUMBER})?")

_DECIMAL_EXPONENTS = {"": 0, "n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL_SUFFIXES = {exponent: suffix for suffix, exponent in _DECIMAL_EXPONENTS.items()}
_BINARY_BITS = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_BINARY_SUFFIXES = ("", *_BINARY_BITS)

_FINEST_EXPONENT = -9
_BINARY_CAP = 2**63 - 1
_KEPT_DECIMAL_DIGITS = 18
_KEPT_BINARY_DIGITS = 15

# Kubernetes sets no such limits, but spends minutes on a text like 1e2147483648. Nobody means more than these.
_MAX_LENGTH = 256
_MAX_EXPONENT = 999

_SMALLEST_PLAIN_FLOAT, _BEYOND_PLAIN_FLOATS = 1e-6, 1e21
_CACHE_SIZE = 4096


class InvalidQuantity(ValueError):
    """A text or JSON value is no quantity; the message quotes it and says why."""


class _Spelling(NamedTuple):
    """A quantity as written: digits without leading zeros, and what the suffix says."""

    negative: bool
    whole: str
    fraction: str
    bits: int | None
    exponent: int
    is_exponent_form: bool

    @property
    def digits(self) -> str:
        return self.whole + self.fraction

    @property
    def scale(self) -> int:
        """The power of ten of the last digit."""
        return self.exponent - len(self.fraction)


class _Amount(NamedTuple):
    """A magnitude: *mantissa* times ten to the *exponent*, never finer than a billionth."""

    mantissa: int
    exponent: int


@lru_cache(maxsize=_CACHE_SIZE)
def normalise(text: str) -> str:
    """Return the text that Kubernetes stores for *text*; raise InvalidQuantity when it is no quantity.

    Some texts that are not the shortest form are kept as written, because Kubernetes keeps them (``+5``, ``1.500``).
    """
    spelling = _spelling(text)
    amount = _amount(spelling)
    if amount.mantissa == 0:
        return "0"
    if _is_kept_as_written(spelling):
        return text
    magnitude = _decimal_text(amount, spelling, text) if spelling.bits is None else _binary_text(amount, spelling, text)
    return f"-{magnitude}" if spelling.negative else magnitude


def is_quantity(text: str) -> bool:
    """Say whether *text* is a quantity as it stands, without blanks around it."""
    try:
        normalise(text)
    except InvalidQuantity:
        return False
    return True


def is_zero(text: str) -> bool:
    """Say whether *text* is a quantity of zero, in any spelling; False for what is no quantity."""
    try:
        return normalise(text) == "0"
    except InvalidQuantity:
        return False


def from_json(value: str | int | float) -> str:  # noqa: PYI041 - what JSON and YAML readers give
    """Return the stored text of a typed quantity field; raise InvalidQuantity for a value that Kubernetes refuses.

    Numbers are taken as Go writes them in JSON. Blanks around a text are dropped, but only spaces: Kubernetes looks at
    the JSON source, where a tab or a line break is an escape sequence and no quantity.
    """
    if isinstance(value, str):
        return normalise(value.strip(" "))
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidQuantity(f"must be a quantity such as 500m or 8Gi, got {_json_kind(value)}")
    return normalise(_json_number(value))


def fits_schema(value: object) -> bool:
    """Say whether the schema of a quantity field lets *value* pass: a whole number, or a text of the grammar."""
    if isinstance(value, str):
        return _SCHEMA.fullmatch(value) is not None
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


def as_number(text: str) -> Decimal:
    """Return the exact value of *text*, rounded and capped as Kubernetes does; raise InvalidQuantity."""
    from decimal import Decimal  # noqa: PLC0415 - few renders compare quantities

    normalise(text)  # so that what cannot be written is refused here as well
    spelling = _spelling(text)
    amount = _amount(spelling)
    return Decimal(f"{'-' if spelling.negative else ''}{amount.mantissa}E{amount.exponent}")


def _spelling(text: str) -> _Spelling:
    match = _GRAMMAR.fullmatch(text) if len(text) <= _MAX_LENGTH else None
    if match is None or not (match["whole"] or match["fraction"]):
        raise InvalidQuantity(_refusal(text))
    suffix = match["suffix"] or ""
    exponent = int(match["exponent"] or _DECIMAL_EXPONENTS.get(suffix, 0))
    if abs(exponent) > _MAX_EXPONENT:
        raise InvalidQuantity(_beyond_exponent(text))
    return _Spelling(
        negative=match["sign"] == "-",
        whole=match["whole"].lstrip("0") or "0",
        fraction=match["fraction"] or "",
        bits=_BINARY_BITS.get(suffix),
        exponent=exponent,
        is_exponent_form=match["exponent"] is not None,
    )


def _amount(spelling: _Spelling) -> _Amount:
    """Return the magnitude of *spelling*, rounded up to billionths and, for binary suffixes, capped."""
    mantissa, exponent = int(spelling.digits) << (spelling.bits or 0), spelling.scale
    if exponent < _FINEST_EXPONENT:
        mantissa = -(-mantissa // 10 ** (_FINEST_EXPONENT - exponent))
        exponent = _FINEST_EXPONENT
    if spelling.bits is not None and mantissa > _BINARY_CAP * 10**-exponent:
        return _Amount(_BINARY_CAP, 0)
    return _Amount(mantissa, exponent)


def _is_kept_as_written(spelling: _Spelling) -> bool:
    """Apply rule 2 of the appendix, for amounts that are not zero."""
    digits = spelling.digits
    if spelling.bits is not None:
        is_small = _KEPT_BINARY_DIGITS - len(digits) - spelling.bits * 3 // 10 - 1 >= 0
        return not spelling.fraction and is_small and int(digits) % 8 != 0
    return (
        len(digits) <= _KEPT_DECIMAL_DIGITS
        and spelling.scale >= _FINEST_EXPONENT
        and spelling.scale % 3 == 0
        and not digits.endswith("000")
        and not digits.startswith("0")
    )


def _decimal_text(amount: _Amount, spelling: _Spelling, text: str) -> str:
    mantissa, exponent = amount
    while mantissa % 10 == 0:
        mantissa, exponent = mantissa // 10, exponent + 1
    shift = exponent % 3
    mantissa, exponent = mantissa * 10**shift, exponent - shift
    if exponent > _MAX_EXPONENT:
        raise InvalidQuantity(_beyond_exponent(text))
    if spelling.is_exponent_form:
        return f"{mantissa}e{exponent}" if exponent else str(mantissa)
    if exponent not in _DECIMAL_SUFFIXES:
        raise InvalidQuantity(f'"{text}" is too large: no suffix is above E; write an exponent, such as 1e{exponent}')
    return f"{mantissa}{_DECIMAL_SUFFIXES[exponent]}"


def _binary_text(amount: _Amount, spelling: _Spelling, text: str) -> str:
    whole, rest = divmod(amount.mantissa, 10**-amount.exponent)
    if rest or whole < 1024:  # noqa: PLR2004 - the base itself
        return _decimal_text(amount, spelling, text)
    steps = 0
    while whole % 1024 == 0:
        whole, steps = whole // 1024, steps + 1
    return f"{whole}{_BINARY_SUFFIXES[steps]}"


def _json_number(value: float) -> str:
    """Return *value* as Go writes it: whole numbers beyond 64 bits and fractions as the shortest float text."""
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return str(value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InvalidQuantity("must be a quantity, got a number that JSON cannot hold")
    if number != 0 and not _SMALLEST_PLAIN_FLOAT <= abs(number) < _BEYOND_PLAIN_FLOATS:
        return repr(number).replace("e-0", "e-")

    from decimal import Decimal  # noqa: PLC0415 - only fractions and huge numbers come here

    return format(Decimal(repr(number)), "f").removesuffix(".0")


def _beyond_exponent(text: str) -> str:
    return f'"{text}" is not a usable quantity: its exponent is beyond {_MAX_EXPONENT}'


def _refusal(text: str) -> str:
    if not text:
        return "a quantity must not be empty"
    if len(text) > _MAX_LENGTH:
        return f"a quantity must be at most {_MAX_LENGTH} characters long, got {len(text)}"
    if text != text.strip():
        return f'"{text}" is not a quantity: blanks around it are not allowed'
    number = re.match(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)", text)
    if number is None:
        return f'"{text}" is not a quantity: it must start with a number'
    rest = text[number.end() :]
    return f'"{text}" is not a quantity: "{rest}" is none of the suffixes n u m k M G T P E, Ki Mi Gi Ti Pi Ei or e<n>'


def _json_kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "a list" if isinstance(value, (list, tuple)) else "an object"

"""Durations as Go programs read and print them, in whole nanoseconds.

Specification: operator-config.md section 2.1. Nothing here knows the clock or which setting a duration belongs to.
"""

from __future__ import annotations

from dynamo_render.kube.patterns import pattern

_MICROSECOND, _MILLISECOND, _SECOND = 1_000, 1_000_000, 1_000_000_000
_MINUTE, _HOUR = 60 * _SECOND, 3600 * _SECOND
_UNITS = {
    "ns": 1,
    "us": _MICROSECOND,
    "\u00b5s": _MICROSECOND,  # micro sign
    "\u03bcs": _MICROSECOND,  # Greek letter mu
    "ms": _MILLISECOND,
    "s": _SECOND,
    "m": _MINUTE,
    "h": _HOUR,
}
_TERM = pattern(r"(?P<whole>[0-9]*)(?:\.(?P<fraction>[0-9]*))?(?P<unit>[^0-9.]+)")
_LIMIT = 2**63
_MAX_LENGTH = 1000


class InvalidDuration(ValueError):
    """A text is no duration, or a duration does not fit 64 bits; the message says which."""


def parse(text: str) -> int:
    """Return the nanoseconds that *text* says; raise InvalidDuration when Go would refuse it."""
    unsigned = text[1:] if text[:1] in ("+", "-") else text
    if unsigned == "0":
        return 0
    if not unsigned:
        raise InvalidDuration(f'"{text}" is not a duration: write a number and a unit, such as 90s or 1h30m')
    magnitude = _magnitude(unsigned, text)
    # The most negative number has no positive twin.
    if magnitude > (_LIMIT if text.startswith("-") else _LIMIT - 1):
        raise InvalidDuration(f'"{_shown(text)}" is too long for a duration: at most about 292 years fit')
    return -magnitude if text.startswith("-") else magnitude


def format(nanoseconds: int) -> str:  # noqa: A001 - read as durations.format
    """Return *nanoseconds* as Go prints them, ``1h30m0s`` or ``1.5ms``; raise InvalidDuration beyond 64 bits."""
    if not -_LIMIT <= nanoseconds < _LIMIT:
        raise InvalidDuration("a duration must fit 64 bits of nanoseconds")
    sign = "-" if nanoseconds < 0 else ""
    magnitude = abs(nanoseconds)
    if magnitude < _SECOND:
        return sign + _below_a_second(magnitude)
    minutes, rest = divmod(magnitude, _MINUTE)
    seconds = f"{_decimal(rest, _SECOND)}s"
    if not minutes:
        return sign + seconds
    hours, minutes = divmod(minutes, 60)
    return f"{sign}{hours}h{minutes}m{seconds}" if hours else f"{sign}{minutes}m{seconds}"


def _magnitude(unsigned: str, text: str) -> int:
    if len(unsigned) > _MAX_LENGTH:
        raise InvalidDuration(f"a duration must be at most {_MAX_LENGTH} characters long, got {len(unsigned)}")
    total, position = 0, 0
    while position < len(unsigned):
        term = _TERM.match(unsigned, position)
        if term is None or not (term["whole"] or term["fraction"]):
            raise InvalidDuration(f'"{text}" is not a duration: each number needs a unit, such as 90s or 1h30m')
        if term["unit"] not in _UNITS:
            raise InvalidDuration(f'"{text}" is not a duration: "{term["unit"]}" is none of the units ns us ms s m h')
        total += _nanoseconds(term["whole"], term["fraction"] or "", _UNITS[term["unit"]])
        position = term.end()
    return total


def _nanoseconds(whole: str, fraction: str, unit: int) -> int:
    """Return one term in nanoseconds.

    Go multiplies the fraction as a float and cuts the rest off, which may be one nanosecond less than the exact value.
    """
    digits, scale = 0, 1.0
    for digit in fraction:
        longer = digits * 10 + int(digit)
        if digits > (_LIMIT - 1) // 10 or longer > _LIMIT:
            break
        digits, scale = longer, scale * 10
    return int(whole or "0") * unit + int(digits * (unit / scale))


def _below_a_second(magnitude: int) -> str:
    if magnitude == 0:
        return "0s"
    if magnitude < _MICROSECOND:
        return f"{magnitude}ns"
    if magnitude < _MILLISECOND:
        return f"{_decimal(magnitude, _MICROSECOND)}\u00b5s"
    return f"{_decimal(magnitude, _MILLISECOND)}ms"


def _decimal(amount: int, unit: int) -> str:
    """Return *amount* divided by *unit*, a power of ten, exactly and without trailing zeros."""
    whole, rest = divmod(amount, unit)
    if not rest:
        return str(whole)
    return f"{whole}.{rest:0{len(str(unit)) - 1}d}".rstrip("0")


def _shown(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}..."  # noqa: PLR2004 - enough to recognise it

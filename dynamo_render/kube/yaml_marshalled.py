"""Plain JSON values as the text that Kubernetes' own marshaller ("JSON, then YAML") prints. controllers-other.md A.

For texts that end up inside objects and are compared with those of the released operator: arguments, annotations. What
people read is written by `yaml_writer`, which is safer for readers of either YAML version.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from dynamo_render.kube.yaml_scalars import is_timestamp

WIDTH = 80
"""The column behind which long lines are folded."""

_WORDS = frozenset(
    [
        "y",
        "Y",
        "yes",
        "Yes",
        "YES",
        "n",
        "N",
        "no",
        "No",
        "NO",
        "true",
        "True",
        "TRUE",
        "false",
        "False",
        "FALSE",
        "on",
        "On",
        "ON",
        "off",
        "Off",
        "OFF",
        "~",
        "null",
        "Null",
        "NULL",
        "<<",
        ".nan",
        ".NaN",
        ".NAN",
        ".inf",
        ".Inf",
        ".INF",
        "+.inf",
        "+.Inf",
        "+.INF",
        "-.inf",
        "-.Inf",
        "-.INF",
    ]
) | {""}
_NUMBER = re.compile(
    r"[-+]?(?:0[bB][01]+|0[oO]?[0-7]+|0[xX][0-9a-fA-F]+|[0-9]+|(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)"
)
_SEXAGESIMAL = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_UNPRINTABLE = re.compile("[^ -~\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
_UNPRINTABLE_IN_LITERAL = re.compile("[^\n -~\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
_NEEDS_SINGLE_QUOTES = re.compile(r"""\A[ #,\[\]{}&*!|>'"%@`]|\A[?:-](?:[ ]|\Z)|\A---|\A\.\.\.|: |:\Z| \#| \Z""")
_ESCAPES = {
    "\0": "0", "\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r", "\x1b": "e",
    '"': '"', "\\": "\\", "\x85": "N", "\xa0": "_", "\u2028": "L", "\u2029": "P",
}  # fmt: skip


def marshalled(value: Any) -> str:
    """Return *value* as one YAML document with exactly one final newline."""
    if isinstance(value, Mapping) and value:
        return "".join(_mapping(value, "", ""))
    if isinstance(value, list) and value:
        return "".join(_sequence(value, "", ""))
    return f"{_scalar(value, '', 0)}\n"


def _mapping(mapping: Mapping[str, Any], lead: str, indent: str) -> Iterator[str]:
    """Yield the lines of a mapping at *indent*; the first starts with *lead* instead."""
    for key in sorted(mapping, key=functools.cmp_to_key(_compared)):
        head = f"{lead}{_key(key)}:"
        lead = indent
        value = mapping[key]
        if isinstance(value, Mapping) and value:
            yield f"{head}\n"
            yield from _mapping(value, f"{indent}  ", f"{indent}  ")
        elif isinstance(value, list) and value:
            yield f"{head}\n"
            yield from _sequence(value, indent, indent)
        else:
            yield f"{head} {_scalar(value, indent, len(head) + 1)}\n"


def _sequence(items: list[Any], lead: str, indent: str) -> Iterator[str]:
    """Yield the lines of a sequence whose dashes stand at *indent*; the first line starts with *lead* instead."""
    deeper = f"{indent}  "
    for item in items:
        head = f"{lead}- "
        lead = indent
        if isinstance(item, Mapping) and item:
            yield from _mapping(item, head, deeper)
        elif isinstance(item, list) and item:
            yield from _sequence(item, head, deeper)
        else:
            yield f"{head}{_scalar(item, indent, len(head))}\n"


def _scalar(value: Any, indent: str, column: int) -> str:
    """Return *value* as it is written from *column* on; further lines are indented below *indent*."""
    if isinstance(value, str):
        return _string(value, f"{indent}  ", column)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return _number(value)
    return "{}" if isinstance(value, Mapping) else "[]"


def _number(value: float) -> str:
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return str(value)
    number = float(value)
    if number.is_integer():
        whole = int(Decimal(repr(number)))
        if -(2**63) <= whole < 2**64:
            return str(whole)
    return _float_digits(Decimal(repr(number)).normalize())


def _float_digits(number: Decimal) -> str:
    """Return a number that is not whole, or beyond 64 bits, with its shortest digits."""
    exponent = number.adjusted()
    if -4 <= exponent < 6:  # noqa: PLR2004 - where the notation changes
        return format(number, "f")
    sign, digits, _power = number.as_tuple()
    first, rest = digits[0], "".join(map(str, digits[1:]))
    return f"{'-' if sign else ''}{first}{'.' if rest else ''}{rest}e{exponent:+03d}"


def _string(text: str, indent: str, column: int) -> str:
    if "\n" in text and not _cannot_be_literal(text):
        return _literal(text, indent)
    if "\n" in text or _is_no_string(text) or _UNPRINTABLE.search(text):
        return _double_quoted(text, indent, column)
    if _NEEDS_SINGLE_QUOTES.search(text):
        return _single_quoted(text, indent, column)
    return _folded(text, indent, column)


def _key(key: str) -> str:
    """Return a key, which is never folded and always stands on one line."""
    if "\n" in key or _is_no_string(key) or _UNPRINTABLE.search(key):
        return '"' + "".join(map(_escaped, key)) + '"'
    if _NEEDS_SINGLE_QUOTES.search(key):
        return "'" + key.replace("'", "''") + "'"
    return key


def _cannot_be_literal(text: str) -> bool:
    return text.endswith(" ") or " \n" in text or bool(_UNPRINTABLE_IN_LITERAL.search(text))


def _literal(text: str, indent: str) -> str:
    start = "2" if text[0] in " \n" else ""
    if not text.endswith("\n"):
        end = "-"
    elif text == "\n" or text.endswith("\n\n"):
        end = "+"
    else:
        end = ""
    lines = text.removesuffix("\n").split("\n")
    return "\n".join([f"|{start}{end}", *(indent + line if line else "" for line in lines)])


def _is_no_string(text: str) -> bool:
    """Whether some reader takes the plain *text* for something else than a string."""
    if text in _WORDS:
        return True
    if not text[0].isdigit() and text[0] not in "+-.":
        return False
    return bool(
        _NUMBER.fullmatch(text.replace("_", ""))
        or _SEXAGESIMAL.fullmatch(text)
        or (text[:4].isdigit() and is_timestamp(text))
    )


def _folded(text: str, indent: str, column: int) -> str:
    """Return plain *text*, with line breaks instead of single spaces behind the width."""
    return _with_breaks(text, indent, column, ends=False)


def _single_quoted(text: str, indent: str, column: int) -> str:
    return "'" + _with_breaks(text, indent, column + 1, ends=True).replace("'", "''") + "'"


def _with_breaks(text: str, indent: str, column: int, *, ends: bool) -> str:
    """Return *text* folded; with *ends*, its first and last characters stay where they are."""
    out: list[str] = []
    for index, character in enumerate(text):
        is_end = ends and index in (0, len(text) - 1)
        alone = text[index - 1 : index] != " " and text[index + 1 : index + 2] != " "
        if character == " " and column > WIDTH and alone and not is_end:
            out.append(f"\n{indent}")
            column = len(indent)
        else:
            out.append(character)
            column += 2 if ends and character == "'" else 1
    return "".join(out)


def _double_quoted(text: str, indent: str, column: int) -> str:
    out, column = ['"'], column + 1
    for index, character in enumerate(text):
        is_end = index in (0, len(text) - 1)
        if character == " " and column > WIDTH and text[index - 1] != " " and not is_end:
            mark = "\\" if text[index + 1] == " " else ""
            out.append(f"\n{indent}{mark}")
            column = len(indent) + len(mark)
        else:
            out.append(_escaped(character))
            column += len(out[-1])
    return "".join([*out, '"'])


def _escaped(character: str) -> str:
    if character in _ESCAPES and character != "\xa0":
        return f"\\{_ESCAPES[character]}"
    if not _UNPRINTABLE.match(character):
        return character
    code = ord(character)
    if code <= 0xFF:  # noqa: PLR2004 - as long as the escape
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"  # noqa: PLR2004 - as long as the escape


def _compared(first: str, second: str) -> int:
    """Return a negative number if *first* stands before *second*, a positive one if behind it."""
    for index, (one, other) in enumerate(zip(first, second, strict=False)):
        if one == other:
            continue
        if one.isalpha() or other.isalpha():
            if one.isalpha() and other.isalpha():
                return ord(one) - ord(other)
            return 1 if one.isalpha() else -1
        mine, theirs = _digits(first, second, index), _digits(second, first, index)
        return -1 if (*mine, one) < (*theirs, other) else 1
    return len(first) - len(second)


def _digits(text: str, other: str, index: int) -> tuple[int, int]:
    """Return the number that starts at *index*, 0 without one, and how many digits it has."""
    found = re.match(r"\d*", text[index:])
    digits = found[0] if found else ""
    before = re.search(r"\d*\Z", text[:index])
    leads = "0" in (text[index], other[index]) and before is not None and before[0].strip("0")
    return int(f"{'1' if leads else ''}{digits}" or 0), len(digits)

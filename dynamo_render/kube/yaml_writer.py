"""Plain JSON values as YAML that every reader takes for the same values, whether it knows YAML 1.1 or 1.2.

Strings are quoted when some reader would take them for something else, and lists stand at the column of their key.
Nothing here knows what a document means, save the order of the first keys that people expect.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dynamo_render.kube.patterns import pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_FIRST_KEYS = ("apiVersion", "kind", "metadata", "spec")
_FIRST_METADATA_KEYS = ("name", "namespace", "labels", "annotations")

# Readers look for the colon of a key no further than 1,024 characters.
_LONGEST_SIMPLE_KEY = 1000

# Cheap to compile: what is not ASCII passes here and is looked at character by character elsewhere.
_PLAIN = re.compile(
    r"(?!---|\.\.\.)(?:-{0,2}[A-Za-z0-9_/$(]|[+.~\\]|[^\0-\x7f])(?:[^\0- :#]|:(?! |\Z)|(?<! )#| +(?![ #]|\Z))*"
)
_NOT_ASCII_TEXT = re.compile("[^ -~]")
_MISLEADING_IN_LITERAL = pattern(r"\A[\n\t ]*\Z|\A\t|\n\t")
_START_OF_FILLED_LINE = pattern(r"\n(?=[^\n])")

_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", ".inf", "+.inf", "-.inf", ".nan"))
_NUMBER_STARTS = frozenset("0123456789+-.")
_NUMBER_LIKE = pattern(
    r"[-+]?(?:"
    r"[0-9_]*\.?[0-9_]*(?:[eE][-+]?[0-9_]+)?"
    r"|0[xXoObB][-+]?[0-9a-fA-F_]*"
    r"|[0-9_]+(?::[0-9_]+)+(?:\.[0-9_]*)?"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ].*)?)"
)

_ESCAPED = pattern(r'[^ -~]|["\\]')
_SHORT_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def write_documents(objects: Iterable[object]) -> str:
    """Return *objects* as a stream of YAML documents, with ``---`` between them.

    Raises what ``write_document`` raises.
    """
    return "---\n".join(map(write_document, objects))


def write_document(value: object) -> str:
    """Return *value* as one YAML document that ends in a line break.

    Raises ValueError for NaN, infinity and halves of surrogate pairs, TypeError for what is no JSON value.
    """
    if type(value) is str:
        return _indented(_string_text(value), "  ") + "\n"
    lines: list[str] = []
    if type(value) is dict and value:
        _write_mapping(lines.append, _in_usual_order(value), "", "")
    elif type(value) is list and value:
        _write_list(lines.append, value, "", "")
    else:
        return _inline_text(value) + "\n"
    return "".join(lines)


def _in_usual_order(document: dict[str, Any]) -> dict[str, Any]:
    """Return *document* with the keys first that people look for first."""
    ordered = _with_first(document, _FIRST_KEYS)
    if type(ordered.get("metadata")) is dict:
        ordered["metadata"] = _with_first(ordered["metadata"], _FIRST_METADATA_KEYS)
    return ordered


def _with_first(mapping: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {**{key: mapping[key] for key in keys if key in mapping}, **mapping}


def _write_mapping(write: Callable[[str], None], mapping: dict[str, Any], lead: str, indent: str) -> None:
    """Write every entry on lines that start with *indent*; the first starts with *lead* instead."""
    deeper = indent + "  "
    for key, value in mapping.items():
        head = lead + _key_text(key)
        if "\n" in head:
            head = head.replace("\n", "\n" + indent)
        lead = indent
        kind = type(value)
        if kind is str:
            text = _string_text(value)
            write(f"{head} {text}\n" if "\n" not in text else f"{head} {_indented(text, deeper)}\n")
        elif kind is dict and value:
            write(head + "\n")
            _write_mapping(write, value, deeper, deeper)
        elif kind is list and value:
            write(head + "\n")
            _write_list(write, value, indent, indent)
        else:
            write(f"{head} {_inline_text(value)}\n")


def _write_list(write: Callable[[str], None], items: Sequence[Any], lead: str, indent: str) -> None:
    """Write every item behind a dash at *indent*; the first line starts with *lead* instead."""
    deeper = indent + "  "
    for item in items:
        head = lead + "- "
        lead = indent
        kind = type(item)
        if kind is dict and item:
            _write_mapping(write, item, head, deeper)
        elif kind is str:
            text = _string_text(item)
            write(f"{head}{text}\n" if "\n" not in text else f"{head}{_indented(text, deeper)}\n")
        elif kind is list and item:
            _write_list(write, item, head, deeper)
        else:
            write(f"{head}{_inline_text(item)}\n")


def _inline_text(value: object) -> str:
    """Return *value*, anything but a string or a collection with something in it, on one line."""
    if value is None:
        return "null"
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is int:
        return str(value)
    if type(value) is float:
        return _float_text(value)
    if value == {}:
        return "{}"
    if value == []:
        return "[]"
    raise TypeError(f"{type(value).__name__} is no JSON value")


def _float_text(value: float) -> str:
    """Return the shortest digits that every reader takes for the number *value*."""
    if not math.isfinite(value):
        raise ValueError("NaN and infinity have no JSON form")
    # Readers that pass through JSON make integers of these, from digits that are shortened first: give them all digits.
    if 2**53 <= abs(value) < 2**63:
        return str(int(value))
    mantissa, mark, exponent = repr(value).partition("e")
    # YAML 1.1 knows no number with an exponent and without a point.
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}{mark}{exponent}"


@lru_cache(maxsize=8192)
def _key_text(key: str) -> str:
    """Return the key and its colon; a very long key takes two lines, which are not indented yet."""
    if type(key) is not str:
        raise TypeError(f"{key!r} is no JSON key")
    text = _string_text(key)
    if "\n" in text:
        text = _double_quoted(key)
    return f"{text}:" if len(text) <= _LONGEST_SIMPLE_KEY else f"? {text}\n:"


def _indented(text: str, indent: str) -> str:
    return _START_OF_FILLED_LINE.sub("\n" + indent, text) if "\n" in text else text


@lru_cache(maxsize=8192)
def _string_text(text: str) -> str:
    """Return *text* in the most readable style that is safe; the lines of a literal are not indented yet."""
    unusual = {character for character in _NOT_ASCII_TEXT.findall(text) if not _is_printable(character)}
    if not unusual:
        return _single_line(text)
    if "\n" in unusual and unusual <= {"\n", "\t"} and not _MISLEADING_IN_LITERAL.search(text):
        return _literal(text)
    return _double_quoted(text)


def _single_line(text: str) -> str:
    if _PLAIN.fullmatch(text) and not _is_ambiguous(text):
        return text
    if '"' in text or "\\" in text:
        return "'" + text.replace("'", "''") + "'"
    return _double_quoted(text)


def _is_ambiguous(text: str) -> bool:
    """Whether some reader takes the plain scalar *text* for something else than a string."""
    return text.lower() in _WORDS or (text[0] in _NUMBER_STARTS and bool(_NUMBER_LIKE.fullmatch(text)))


def _is_printable(character: str) -> bool:
    """Whether people see a *character* beyond ASCII; the list is ours, that of Python grows with its versions."""
    return (
        "\u00a1" <= character <= "\u1fff"
        or "\u2010" <= character <= "\u2027"
        or "\u2030" <= character <= "\ud7ff"
        or "\ue000" <= character <= "\ufefe"
        or "\uff00" <= character <= "\ufffd"
        or character >= "\U00010000"
    )


def _literal(text: str) -> str:
    """Return *text* as a block scalar, with an indentation indicator where its first line would mislead."""
    indicator = "2" if text[0] in " \n" else ""
    if not text.endswith("\n"):
        return f"|{indicator}-\n{text}"
    keep = "+" if text.endswith("\n\n") else ""
    return f"|{indicator}{keep}\n{text[:-1]}"


def _double_quoted(text: str) -> str:
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if _is_printable(character):
        return character
    if "\ud800" <= character <= "\udfff":
        raise ValueError(f"half of a surrogate pair, U+{code:04X}, is no text")
    return f"\\x{code:02X}" if character <= "\xff" else f"\\u{code:04X}"

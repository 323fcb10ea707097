"""The usual form of YAML, read without a YAML library: blocks of mappings and lists with scalars of one line.

That is how nearly all resources are written, and loading a library takes longer than reading them. Whatever is not
plainly of that form (tags, merged mappings, folded texts, brackets over several lines, and every mistake) is left to
the library, which also has to say what is wrong and where. Both must read the same; a law of the tests says so.
"""

from __future__ import annotations

import re
from typing import Any, Final

from dynamo_render.kube import yaml_scalars
from dynamo_render.kube.patterns import pattern

UNUSUAL: Final = object()

_MOST_LEVELS = 50
_MOST_KEY_CHARACTERS = 500

# Within these, the document is far below the size at which the library starts to count what aliases repeat.
_MOST_NODES_BESIDE_ALIASES = 600
_MOST_REPEATED_VALUES = 200

_OTHER_BREAKS = re.compile("[\t\r\x85\u2028\u2029]")
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_ANCHOR = pattern(r"[&*][A-Za-z0-9_-]+")
_FLOW_TOKEN = pattern(
    r"""(?P<mark>[\[\]{},])|"(?P<double>[^"\\]*)"|'(?P<single>[^']*)'"""
    r"|(?P<word>-{0,2}[A-Za-z0-9_/$(][A-Za-z0-9_./=$()-]*)(?P<key>:[ ])?"
)
_PLAIN_STARTS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/.$(+~\\")
_LITERALS = {"|": "\n", "|-": ""}


class _Unusual(Exception):
    """Something that is left to the library."""


def read(text: str) -> Any:
    """Return the value of the one document in *text*, None for an empty one, or UNUSUAL."""
    if _OTHER_BREAKS.search(text):
        return UNUSUAL
    try:
        return _Document(text).value()
    except _Unusual:
        return UNUSUAL


class _Document:
    """Reads the lines of one document from top to bottom; *at* is the line that comes next."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._commas = text.count(",")
        self._at = 0
        self._levels = 0
        self._anchors: dict[str, Any] = {}
        self._repeated = 0

    def value(self) -> Any:
        """Return the value of the whole document."""
        indent = self._next_indent()
        if indent < 0:
            return None
        value = self._block(indent)
        if self._next_indent() >= 0:
            raise _Unusual
        return value

    def _next_indent(self) -> int:
        """Skip blank lines and comments; return the indent of the line that comes next, -1 at the end."""
        lines = self._lines
        while self._at < len(lines):
            line = lines[self._at]
            content = line.lstrip(" ")
            if content and content[0] != "#":
                return len(line) - len(content)
            self._at += 1
        return -1

    def _block(self, indent: int) -> Any:
        """Return the collection whose first line comes next."""
        self._levels += 1
        if self._levels > _MOST_LEVELS:
            raise _Unusual
        is_list = _is_item(self._lines[self._at][indent:])
        value = self._list(indent) if is_list else self._mapping(indent)
        self._levels -= 1
        return value

    def _mapping(self, indent: int) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        while True:
            key, colon, rest = self._lines[self._at][indent:].partition(":")
            if not _is_key(key, colon, rest):
                raise _Unusual
            name = _key_text(key)
            if name in mapping:
                raise _Unusual
            self._at += 1
            mapping[name] = self._value(rest.strip(" "), indent, lists_may_start_at=indent)
            following = self._next_indent()
            if following != indent:
                return mapping if following < indent else _unusual()

    def _list(self, indent: int) -> list[Any]:
        items: list[Any] = []
        while True:
            line = self._lines[self._at]
            if not _is_item(line[indent:]):
                return items  # a key at the column of the dashes: the list belongs to the key before it
            rest = line[indent + 1 :].strip(" ")
            key, colon, behind = rest.partition(":")
            if _is_key(key, colon, behind):
                # The dash counts as indentation of the mapping behind it.
                column = line.index(rest, indent + 1)
                self._lines[self._at] = " " * column + rest
                items.append(self._block(column))
            elif _is_item(rest):
                raise _Unusual
            else:
                self._at += 1
                items.append(self._value(rest, indent, lists_may_start_at=indent + 1))
            following = self._next_indent()
            if following != indent:
                return items if following < indent else _unusual()

    def _value(self, text: str, indent: int, *, lists_may_start_at: int) -> Any:
        """Return the value that starts with *text* behind a key or dash in a collection at *indent*."""
        if text and text[0] == "|":
            return self._literal(_without_comment(text), indent)
        if text and text[0] == "*":
            return self._copied(self._anchors.get(_anchor(text), UNUSUAL), self._levels)
        if text and text[0] == "&":
            return self._anchored(_anchor(text), indent, lists_may_start_at)
        if text and text[0] != "#":
            return _scalar(text)
        return self._value_below(indent, lists_may_start_at)

    def _value_below(self, indent: int, lists_may_start_at: int) -> Any:
        below = self._next_indent()
        if below > indent:
            return self._block(below)
        if below == lists_may_start_at and _is_item(self._lines[self._at][below:]):
            return self._block(below)
        return None

    def _anchored(self, name: str, indent: int, lists_may_start_at: int) -> Any:
        """Return the collection that comes next, and remember it under *name*."""
        self._anchors.pop(name, None)
        value = self._value_below(indent, lists_may_start_at)
        if not value or 3 * len(self._lines) + self._commas > _MOST_NODES_BESIDE_ALIASES:
            raise _Unusual
        self._anchors[name] = value
        return value

    def _copied(self, value: Any, levels: int) -> Any:
        """Return a copy of what an anchor names."""
        self._repeated += 1
        if value is UNUSUAL or levels > _MOST_LEVELS or self._repeated > _MOST_REPEATED_VALUES:
            raise _Unusual
        if type(value) is dict:
            return {key: self._copied(entry, levels + 1) for key, entry in value.items()}
        return [self._copied(entry, levels + 1) for entry in value] if type(value) is list else value

    def _literal(self, style: str, indent: int) -> str:
        """Return the text of the lines that come next and are deeper than *indent*."""
        if style not in _LITERALS:
            raise _Unusual
        column = -1
        content: list[str] = []
        while self._at < len(self._lines):
            line = self._lines[self._at]
            bare = line.lstrip(" ")
            if column < 0 and bare:
                column = len(line) - len(bare)
                if column <= indent or any(len(blank) > column for blank in content):
                    raise _Unusual
            if bare and len(line) - len(bare) < column:
                break
            if not bare and (column < 0 or len(line) <= column):
                content.append(line if column < 0 else "")
            elif not bare:
                raise _Unusual
            else:
                content.append(line[column:])
            self._at += 1
        return _joined(content, column) + _LITERALS[style]


def _joined(content: list[str], column: int) -> str:
    """Return the lines of a literal as its text, without the blank ones at its end."""
    if column < 0:
        raise _Unusual
    while not content[-1]:
        content.pop()
    return "\n".join(line if line.strip(" ") else "" for line in content)


def _unusual() -> Any:
    raise _Unusual


def _is_item(content: str) -> bool:
    """Whether *content*, what stands on a line behind its indent, starts an item of a list."""
    return content.startswith("- ") or content == "-"


def _is_key(key: str, colon: str, rest: str) -> bool:
    return (
        bool(colon)
        and (not rest or rest[0] == " ")
        and len(key) < _MOST_KEY_CHARACTERS
        and _KEY.fullmatch(key) is not None
    )


def _key_text(key: str) -> str:
    try:
        return yaml_scalars.plain_key_text(key)
    except ValueError:
        raise _Unusual from None


def _without_comment(text: str) -> str:
    return text.partition(" #")[0].rstrip(" ")


def _scalar(text: str) -> Any:
    """Return the value of a scalar that stands on one line, perhaps with a comment behind it."""
    first = text[0]
    if first in "\"'":
        end = text.find(first, 1)
        behind = text[end + 1 :]
        if end < 0 or "\\" in text[:end] or (behind and not behind.lstrip(" ").startswith("#")) or behind[:1] == "#":
            raise _Unusual
        return text[1:end]
    if first in "[{":
        return _flow(_without_comment(text))
    if " #" in text:
        text = _without_comment(text)
    if not (first in _PLAIN_STARTS or (first == "-" and text[1:2] not in {"", " "})):
        raise _Unusual
    if ": " in text or text[-1] == ":":
        raise _Unusual
    return _plain(text)


def _anchor(text: str) -> str:
    """Return the name behind the mark of an anchor or alias that stands alone."""
    found = _without_comment(text)
    return found[1:] if _ANCHOR.fullmatch(found) else _unusual()


def _flow(text: str) -> Any:
    """Return the value of a collection in brackets on one line."""
    value, end = _flow_value(text, 0, 0)
    return value if end == len(text) else _unusual()


def _flow_value(text: str, at: int, levels: int) -> tuple[Any, int]:
    """Return the value at offset *at*, and the offset behind it."""
    found = _FLOW_TOKEN.match(text, at)
    if found is None or found["key"] or levels > _MOST_LEVELS:
        raise _Unusual
    if found["mark"] == "[":
        return _flow_list(text, found.end(), levels + 1)
    if found["mark"] == "{":
        return _flow_mapping(text, found.end(), levels + 1)
    if found["mark"]:
        raise _Unusual
    quoted = found["double"] if found["double"] is not None else found["single"]
    return (_plain(found["word"]) if quoted is None else quoted), found.end()


def _flow_list(text: str, at: int, levels: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    at = _behind_blanks(text, at)
    if text[at : at + 1] == "]":
        return items, at + 1
    while True:
        item, at = _flow_value(text, at, levels)
        items.append(item)
        at, is_last = _behind_mark(text, at, "]")
        if is_last:
            return items, at


def _flow_mapping(text: str, at: int, levels: int) -> tuple[dict[str, Any], int]:
    mapping: dict[str, Any] = {}
    at = _behind_blanks(text, at)
    if text[at : at + 1] == "}":
        return mapping, at + 1
    while True:
        key = _FLOW_TOKEN.match(text, at)
        if key is None or not key["key"] or not _is_key(key["word"], ":", ""):
            raise _Unusual
        name = _key_text(key["word"])
        if name in mapping:
            raise _Unusual
        mapping[name], at = _flow_value(text, _behind_blanks(text, key.end()), levels)
        at, is_last = _behind_mark(text, at, "}")
        if is_last:
            return mapping, at


def _behind_mark(text: str, at: int, closing: str) -> tuple[int, bool]:
    """Return the offset behind the comma or the *closing* mark that comes next, and whether it is the latter."""
    at = _behind_blanks(text, at)
    mark = text[at : at + 1]
    if mark not in {",", closing}:
        raise _Unusual
    return _behind_blanks(text, at + 1) if mark == "," else at + 1, mark == closing


def _behind_blanks(text: str, at: int) -> int:
    while text[at : at + 1] == " ":
        at += 1
    return at


def _plain(text: str) -> Any:
    try:
        return yaml_scalars.plain_json_scalar(text)
    except ValueError:
        raise _Unusual from None

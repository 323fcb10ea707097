"""The pieces of a YAML or JSON stream, cut where kubectl cuts them, and what the parser says about a piece.

Every piece is one document with its place in the whole text, so that whoever reads it can point at a line and column.
What the values mean is decided elsewhere.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

from dynamo_render.errors import UnreadableInput
from dynamo_render.kube.patterns import pattern
from dynamo_render.values import Value, frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Result = TypeVar("Result")

_SEPARATOR = re.compile(r"^---(.*)$\n?", re.MULTILINE)
_NOT_ASCII_TEXT = re.compile("[^\t\n\r -~]")

NOT_IN_DOCUMENT = "kubectl ignores or refuses what stands outside a document, separate documents with '---'"

_NO_DOCUMENT = "did not find expected <document start>"
_NEVER_CLOSED = "found unexpected end of stream"
_COLON_IN_FLOW = "found unexpected ':'"
_ESCAPED_SLASH = pattern(r"(?<!\\)(?:\\\\)*\\/")
_HIDEABLE_COLON = pattern(r"""[&*!][^\s,\[\]{}]*|(?<=[^\s,\[\]{}"'?:&*!]):(?=\S)""")
_MOST_REPAIRS = 100


@frozen
class Piece(Value):
    """The text of one document, and the stream and the offset it was cut from."""

    text: str
    source: str
    stream: str
    offset: int

    @property
    def origin(self) -> tuple[int, int]:
        """The line and column in the stream, from 1, where the piece starts; found only when something is wrong."""
        return line_and_column(self.stream, self.offset)

    def refusal(self, message: str, mark: Any) -> UnreadableInput:
        """Return the error that points at *mark* of the parser."""
        line, column = position(self.origin, mark)
        return UnreadableInput(message, source=self.source, line=line, column=column)


def position(origin: tuple[int, int], mark: Any) -> tuple[int, int]:
    """Return the line and column, from 1, of *mark* of the parser in a piece that starts at *origin*."""
    line, column = origin
    return line + mark.line, mark.column + (column if mark.line == 0 else 1)


def yaml_pieces(text: str, source: str, start: int = 0) -> Iterator[Piece]:
    """Yield every document of *text* from the offset *start*; a line that starts with ``---`` ends one.

    Raises UnreadableInput for such a line with more than a comment behind the dashes, as kubectl does.
    """
    for separator in _SEPARATOR.finditer(text, start):
        trailing = separator[1].strip()
        if trailing and not trailing.startswith("#"):
            offset = separator.start(1) + separator[1].index(trailing)
            raise refusal_at("only a comment may follow '---'", text, offset, source)
        yield _yaml_piece(text, start, separator.start(), source)
        start = separator.end()
    yield _yaml_piece(text, start, len(text), source)


def _yaml_piece(text: str, start: int, end: int, source: str) -> Piece:
    """Return the document between two offsets; raises UnreadableInput for characters that YAML forbids."""
    for found in _NOT_ASCII_TEXT.finditer(text, start + text.startswith("\ufeff", start), end):
        if not _is_allowed(found[0]):
            raise refusal_at(f"the character U+{ord(found[0]):04X} is not allowed", text, found.start(), source)
    return piece_of(text, start, end, source)


def piece_of(text: str, start: int, end: int, source: str) -> Piece:
    """Return the document between two offsets of *text*, always with a line break at its end."""
    body = text[start:end].removeprefix("\ufeff")
    return Piece(body if body.endswith("\n") else body + "\n", source, text, start)


def with_forbidden_masked(text: str) -> str:
    """Return *text* with a question mark for every character that YAML forbids."""
    return _NOT_ASCII_TEXT.sub(lambda found: found[0] if _is_allowed(found[0]) else "?", text)


def _is_allowed(character: str) -> bool:
    """Whether YAML takes a *character* beyond the usual ones of ASCII."""
    if "\ud800" <= character <= "\udfff":
        return False
    # A byte order mark inside a document is allowed by YAML, but its readers disagree on whether it is content.
    return character == "\x85" or (character >= "\xa0" and character not in "\ufeff\ufffe\uffff")


def refusal_at(message: str, text: str, offset: int, source: str) -> UnreadableInput:
    """Return the error that points at *offset* of the whole *text*."""
    line, column = line_and_column(text, offset)
    return UnreadableInput(message, source=source, line=line, column=column)


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Return the line and column, from 1, of *offset* in *text*."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def parsed(piece: Piece, consume: Callable[[Callable[[], Any]], Result]) -> Result:
    """Return what *consume* makes of the parser events of *piece*, which it gets one by one from its argument.

    Raises UnreadableInput where the text is no YAML. *consume* may be called again from the start.
    """
    from ruamel.yaml.error import MarkedYAMLError  # noqa: PLC0415 - slow to load, and JSON does without

    text, stand_in = piece.text, ""
    for _ in range(_MOST_REPAIRS):
        try:
            return consume(_without_escaped_slashes(_event_source(text, stand_in), text, piece))
        except MarkedYAMLError as error:
            offset = error.problem_mark.index
            if error.problem == _COLON_IN_FLOW:
                stand_in = stand_in or _unused_character(text)
                text = _with_colons_hidden(text, offset, stand_in)
            elif text.startswith("\\'", offset):
                text = f"{text[:offset]}\\x27{text[offset + 2 :]}"
            else:
                raise piece.refusal(_reason(error, text), _culprit(error)) from None
    raise refusal_at("too many ':' in flow collections, quote them", piece.stream, piece.offset, piece.source)


def _event_source(text: str, stand_in: str) -> Callable[[], Any]:
    """Return the function that gives the next parser event, with colons again where *stand_in* is."""
    from _ruamel_yaml import CParser  # noqa: PLC0415 - slow to load, and JSON does without

    next_event: Callable[[], Any] = CParser(text).get_event
    if not stand_in:
        return next_event

    def next_event_with_colons() -> Any:
        event = next_event()
        if hasattr(event, "value"):
            event.value = event.value.replace(stand_in, ":")
        return event

    return next_event_with_colons


def _without_escaped_slashes(next_event: Callable[[], Any], text: str, piece: Piece) -> Callable[[], Any]:
    """Return *next_event*, refusing what the parser library takes and kubectl does not: an escaped ``/`` in quotes."""
    if "\\/" not in text:
        return next_event

    def next_event_checked() -> Any:
        event = next_event()
        if getattr(event, "style", None) == '"' and _ESCAPED_SLASH.search(
            text, event.start_mark.index, event.end_mark.index
        ):
            raise piece.refusal(r"\/ is no escape in YAML, write / alone", event.start_mark)
        return event

    return next_event_checked


def _with_colons_hidden(text: str, offset: int, stand_in: str) -> str:
    """Return *text* with *stand_in* for the colon at *offset* and for all that are as surely part of a plain scalar.

    The parser library refuses ``[http://host]``, which kubectl reads as a list of one string.
    """

    def hidden(match: re.Match[str]) -> str:
        return stand_in if match[0] == ":" else match[0]

    hidden_at_offset = text[:offset] + stand_in + text[offset + 1 :]
    return _HIDEABLE_COLON.sub(hidden, hidden_at_offset)


def _unused_character(text: str) -> str:
    """Return a private-use character that *text* does not hold."""
    return next(character for character in map(chr, range(0xE000, 0xF8FF)) if character not in text)


def _culprit(error: Any) -> Any:
    """Return the mark to point at: where a quote opens rather than the end of the text that does not close it."""
    return error.context_mark if error.problem == _NEVER_CLOSED else error.problem_mark


def _reason(error: Any, text: str) -> str:
    """Return in words what the parser did not like."""
    mark = error.problem_mark
    if text.startswith("\t", mark.index):
        return "a tab cannot indent YAML, use spaces"
    if error.problem == _NO_DOCUMENT:
        return NOT_IN_DOCUMENT
    return f"{error.problem} {error.context or ''}".strip()

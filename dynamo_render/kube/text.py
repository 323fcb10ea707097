"""YAML and JSON text in and out: read as Kubernetes reads it, written so that every reader agrees on it.

The front of this room's ``yaml_*`` modules. It knows streams of documents and positions in them; it must not know what
a document means, and it never opens files.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from dynamo_render.errors import UnreadableInput
from dynamo_render.kube import yaml_json, yaml_reader, yaml_stream
from dynamo_render.kube.yaml_writer import write_document, write_documents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dynamo_render.kube.yaml_places import Place
    from dynamo_render.kube.yaml_stream import Piece

__all__ = ["Places", "locate", "read_documents", "read_with_places", "write_document", "write_documents"]

_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_documents(text: str | bytes, source: str = "<text>") -> Iterator[object]:
    """Yield every document of *text* that is not empty, as plain JSON values with the types that kubectl gives them.

    Raises UnreadableInput with *source*, line and column when it comes to what is no YAML or JSON, and to what has no
    JSON form: duplicate keys, NaN, collections as keys, aliases without end. The values share no mutable state.
    """
    return (value for value, _ in _documents(_decoded(text, source), source))


class Places:
    """Knows where the values of one document stand, once asked."""

    __slots__ = ("_piece", "_root")

    def __init__(self, piece: Piece) -> None:
        """Keep the text of the document."""
        self._piece = piece
        self._root: Place | None = None

    def find(self, path: tuple[str | int, ...], *, key: bool = False) -> tuple[int, int]:
        """Return line and column in the whole text, as `locate` does."""
        from dynamo_render.kube import yaml_places  # noqa: PLC0415 - only messages need places

        if self._root is None:
            self._root = yaml_places.places(self._piece)
        return self._root.find(path, key=key)


def read_with_places(
    text: str | bytes, source: str, refused: Callable[[UnreadableInput], None]
) -> Iterator[tuple[object, Places]]:
    """Yield every document as `read_documents` does, with its places; *refused* gets what cannot be read.

    One document that cannot be read does not hide those behind it, as long as it is clear where they start.
    """
    try:
        for value, piece in _documents(_decoded(text, source), source, refused):
            yield value, Places(piece)
    except UnreadableInput as error:
        refused(error)


def locate(
    text: str | bytes, source: str, document: int, path: tuple[str | int, ...], *, key: bool = False
) -> tuple[int, int]:
    """Return line and column, from 1, of the value at *path* in the document with index *document* as they are read.

    With *key* it is the position of the key that the path ends in. For what is missing it is the nearest thing above.
    Raises UnreadableInput as reading does.
    """
    from dynamo_render.kube import yaml_places  # noqa: PLC0415 - only messages need places

    found = next(islice(_documents(_decoded(text, source), source), document, None), None)
    return yaml_places.places(found[1]).find(path, key=key) if found else (1, 1)


def _raise(error: UnreadableInput) -> None:
    raise error


def _documents(
    text: str, source: str, refused: Callable[[UnreadableInput], None] = _raise
) -> Iterator[tuple[object, Piece]]:
    """Yield the value of every document that is not empty, and its text; *refused* gets why one document is refused.

    Like kubectl: JSON values one behind the other as long as there are any, and YAML from there unless that was more
    than one.
    """
    start, count = 0, 0
    if yaml_json.looks_like_json(text):
        while found := yaml_json.json_value(text, yaml_json.start_of_value(text, start), source):
            value, end = found
            if value is not None:
                yield value, yaml_stream.piece_of(text, yaml_json.start_of_value(text, start), end, source)
            start, count = end, count + 1
        start = yaml_json.start_of_value(text, start) if count else 0
    if count and start == len(text):
        return
    if count > 1:
        raise yaml_stream.refusal_at("more JSON was expected here", text, start, source)
    for piece in yaml_stream.yaml_pieces(text, source, start):
        try:
            read = yaml_reader.read_piece(piece)
        except UnreadableInput as error:
            refused(error)
            continue
        if read is not None:
            yield read, piece


def _decoded(text: str | bytes, source: str) -> str:
    """Return *text* as characters, without byte order mark; raises UnreadableInput for bytes that are no text."""
    if isinstance(text, str):
        _refuse_surrogates(text, source)
        return text.removeprefix("\ufeff")
    encoding = "utf-16" if text.startswith(_UTF_16_MARKS) else "utf-8"
    try:
        return text.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = text[: error.start].decode(encoding, "replace")
        message = f"byte 0x{text[error.start]:02X} is no {encoding.upper()}"
        raise yaml_stream.refusal_at(message, before, len(before), source) from None


def _refuse_surrogates(text: str, source: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        message = f"the character U+{ord(text[error.start]):04X} is not allowed"
        raise yaml_stream.refusal_at(message, text, error.start, source) from None

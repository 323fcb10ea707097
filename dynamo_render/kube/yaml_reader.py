"""One YAML document as plain JSON values, with the types, keys and merges that kubectl gives it.

The parser's events are read one at a time, without recursion and without a tree in between, so that neither depth nor
aliases can hurt: both have limits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dynamo_render.kube import yaml_blocks, yaml_scalars, yaml_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dynamo_render.errors import UnreadableInput
    from dynamo_render.kube.yaml_scalars import Scalar
    from dynamo_render.kube.yaml_stream import Piece

# Far deeper than any resource, and shallow enough for whoever walks the values by recursion.
MOST_LEVELS = 200

# Small documents may repeat themselves as they like.
_FREE_NODES = 1000

MERGE_TAG = "tag:yaml.org,2002:merge"

_COLLECTION_AS_KEY = "a mapping or a list cannot be a key"
_NOT_MERGEABLE = "'<<' needs a mapping, an alias of one, or a list of these"

_NO_KEY = object()
_MERGE_KEY = object()


def read_piece(piece: Piece) -> object:
    """Return the value of the only document of *piece*, None for an empty one.

    Raises UnreadableInput with the position of what is wrong.
    """
    value = yaml_blocks.read(piece.text)
    return read_with_library(piece) if value is yaml_blocks.UNUSUAL else value


def read_with_library(piece: Piece) -> object:
    """Return what `read_piece` returns, whatever the form of the document."""
    return yaml_stream.parsed(piece, lambda next_event: _DocumentReader(piece).read(next_event))


def is_merge_key(event: Any) -> bool:
    """Whether the scalar *event*, found where a key is expected, merges the mapping that follows."""
    return event.value == "<<" and bool(event.implicit[0] or event.tag == MERGE_TAG)


def duplicate_key(key: str) -> str:
    """Return what to say when *key* stands twice in one mapping."""
    return f"the key {key!r} is already set in this mapping"


class _OpenList:
    """A sequence whose end has not been read."""

    __slots__ = ("anchor", "value")
    wants_key = False

    def __init__(self, anchor: str | None) -> None:
        self.anchor = anchor
        self.value: list[object] = []

    def put(self, value: object) -> None:
        """Add *value* at the end."""
        self.value.append(value)


class _OpenMapping:
    """A mapping whose end has not been read, and the key that waits for its value."""

    __slots__ = ("anchor", "key", "merged", "value")

    def __init__(self, anchor: str | None) -> None:
        self.anchor = anchor
        self.key: Any = _NO_KEY
        self.value: dict[str, object] = {}
        self.merged: set[str] = set()

    @property
    def wants_key(self) -> bool:
        """Whether the next node is a key."""
        return self.key is _NO_KEY

    def start(self, key: str) -> None:
        """Take *key* for the next value; raises ValueError when it has a value that no merge brought."""
        if key in self.value and key not in self.merged:
            raise ValueError(duplicate_key(key))
        self.merged.discard(key)
        self.key = key

    def put(self, value: object) -> None:
        """Set or merge *value* under the waiting key; raises ValueError when it cannot be merged."""
        if self.key is _MERGE_KEY:
            self._merge(value)
        else:
            self.value[self.key] = value
        self.key = _NO_KEY

    def _merge(self, value: object) -> None:
        # A merge overrides what stands above it and gives way to what stands below: the order of kubectl, not of YAML.
        sources: list[Any] = value[::-1] if isinstance(value, list) else [value]
        if any(type(source) is not dict for source in sources):
            raise ValueError(_NOT_MERGEABLE)
        for source in sources:
            self.merged.update(source.keys() - self.value.keys())
            self.value.update(source)


class _Anchored:
    """What an anchor names: a scalar as written or a finished collection, its nodes and its levels."""

    __slots__ = ("levels", "nodes", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.nodes, self.levels = _extent(value)


class _DocumentReader:
    """Builds the value of one document from its events."""

    def __init__(self, piece: Piece) -> None:
        self._piece = piece
        self._open: list[_OpenList | _OpenMapping] = []
        self._anchors: dict[str, _Anchored | None] = {}
        self._nodes = 0
        self._aliased_nodes = 0
        self._root: object = None

    def read(self, next_event: Callable[[], Any]) -> object:
        """Return the value; an empty document is None, a second one is an error."""
        from ruamel.yaml import events  # noqa: PLC0415 - slow to load, and JSON does without

        steps: dict[type, Callable[[Any], None]] = {
            events.ScalarEvent: self._scalar,
            events.MappingStartEvent: lambda event: self._start(_OpenMapping(event.anchor), event),
            events.SequenceStartEvent: lambda event: self._start(_OpenList(event.anchor), event),
            events.MappingEndEvent: self._end,
            events.SequenceEndEvent: self._end,
            events.AliasEvent: self._alias,
        }
        next_event()
        if type(next_event()) is events.StreamEndEvent:
            return None
        while type(event := next_event()) is not events.DocumentEndEvent:
            steps[type(event)](event)
        after = next_event()
        if type(after) is not events.StreamEndEvent:
            raise self._refusal(yaml_stream.NOT_IN_DOCUMENT, after)
        return self._root

    def _scalar(self, event: Any) -> None:
        self._nodes += 1
        try:
            if self._open and self._open[-1].wants_key:
                self._key(event)
            elif event.implicit[0] and event.tag is None and event.anchor is None:
                self._put(yaml_scalars.plain_json_scalar(event.value), event)
            else:
                self._put(yaml_scalars.json_scalar(self._written(event)), event)
        except ValueError as error:
            raise self._refusal(str(error), event) from None

    def _key(self, event: Any) -> None:
        mapping: Any = self._open[-1]
        if is_merge_key(event):
            mapping.key = _MERGE_KEY
        elif event.implicit[0] and event.tag is None and event.anchor is None:
            mapping.start(yaml_scalars.plain_key_text(event.value))
        else:
            mapping.start(yaml_scalars.key_text(self._written(event)))

    def _written(self, event: Any) -> Scalar:
        """Return the scalar before JSON, and remember it under its anchor."""
        value = yaml_scalars.scalar_value(event.value, event.tag, plain=event.implicit[0])
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchored(value)
        return value

    def _start(self, collection: _OpenList | _OpenMapping, event: Any) -> None:
        self._nodes += 1
        if self._open and self._open[-1].wants_key:
            raise self._refusal(_COLLECTION_AS_KEY, event)
        self._limit_levels(len(self._open) + 1, event)
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        self._open.append(collection)

    def _end(self, event: Any) -> None:
        collection = self._open.pop()
        if collection.anchor is not None and self._anchors[collection.anchor] is None:
            self._anchors[collection.anchor] = _Anchored(collection.value)
        self._put(collection.value, event)

    def _alias(self, event: Any) -> None:
        anchored = self._anchored(event)
        self._limit_aliases(anchored.nodes, event)
        self._limit_levels(len(self._open) + anchored.levels, event)
        try:
            self._repeat(anchored.value, event)
        except ValueError as error:
            raise self._refusal(str(error), event) from None

    def _repeat(self, value: Any, event: Any) -> None:
        """Take the anchored *value* where the alias stands: as a key, to be merged, or as a value of its own."""
        target = self._open[-1]
        if isinstance(target, _OpenMapping) and target.wants_key:
            if isinstance(value, dict | list):
                raise ValueError(_COLLECTION_AS_KEY)
            target.start(yaml_scalars.key_text(value))
        elif isinstance(target, _OpenMapping) and target.key is _MERGE_KEY and isinstance(value, list):
            raise ValueError(_NOT_MERGEABLE)
        elif isinstance(value, dict | list):
            self._put(_copy(value), event)
        else:
            self._put(yaml_scalars.json_scalar(value), event)

    def _anchored(self, event: Any) -> _Anchored:
        if event.anchor not in self._anchors:
            raise self._refusal(f"the anchor {event.anchor!r} is not defined above", event)
        anchored = self._anchors[event.anchor]
        if anchored is None:
            raise self._refusal(f"the anchor {event.anchor!r} contains itself", event)
        return anchored

    def _put(self, value: object, event: Any) -> None:
        if not self._open:
            self._root = value
            return
        try:
            self._open[-1].put(value)
        except ValueError as error:
            raise self._refusal(str(error), event) from None

    def _limit_levels(self, levels: int, event: Any) -> None:
        if levels > MOST_LEVELS:
            raise self._refusal(f"nested deeper than {MOST_LEVELS} levels", event)

    def _limit_aliases(self, nodes: int, event: Any) -> None:
        self._nodes += nodes + 1
        self._aliased_nodes += nodes
        if self._nodes > _FREE_NODES and self._aliased_nodes > self._nodes * _allowed_share_of_aliases(self._nodes):
            raise self._refusal("aliases make too much of this document", event)

    def _refusal(self, message: str, event: Any) -> UnreadableInput:
        return self._piece.refusal(message, event.start_mark)


def _allowed_share_of_aliases(nodes: int) -> float:
    """Return how much of a document of *nodes* may come from aliases: the limit of kubectl, about 400,000 nodes."""
    return min(0.99, max(0.10, 0.99 - 0.89 * (nodes - 400_000) / 3_600_000))


def _copy(value: Any) -> Any:
    """Return *value* with collections of its own."""
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def _extent(value: object) -> tuple[int, int]:
    """Return how many nodes *value* has, keys included, and how many levels of collections."""
    if not isinstance(value, dict | list):
        return 1, 0
    children: Iterable[object] = value.values() if isinstance(value, dict) else value
    extents = [_extent(child) for child in children]
    keys = len(value) if isinstance(value, dict) else 0
    return 1 + keys + sum(nodes for nodes, _ in extents), 1 + max((levels for _, levels in extents), default=0)

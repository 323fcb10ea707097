"""Where the keys and values of a YAML document stand. Slow, and only for messages that point into the text.

The tree of places has the shape that the reader gives the values: converted keys, merged mappings, aliases followed to
their anchors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dynamo_render.kube import yaml_json, yaml_reader, yaml_scalars, yaml_stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from dynamo_render.kube.yaml_stream import Piece

Position = tuple[int, int]

_MERGE = object()


class Place:
    """The position of a value, and the places below it by key or index."""

    __slots__ = ("below", "keys", "position")

    def __init__(self, position: Position) -> None:
        """Stand at *position*, with nothing below yet."""
        self.position = position
        self.keys: dict[str | int, Position] = {}
        self.below: dict[str | int, Place] = {}

    def find(self, path: tuple[str | int, ...], *, key: bool) -> Position:
        """Return the position of what *path* names, of its key if *key*, or else of the nearest thing above it."""
        place, position = self, self.position
        for step in path:
            if step not in place.below:
                return position
            found = place.below[step]
            position = place.keys.get(step, found.position) if key else found.position
            place = found
        return position


def places(piece: Piece) -> Place:
    """Return the place of the document in *piece*, which must be readable and not empty."""
    readable = yaml_json.as_yaml(piece)
    return yaml_stream.parsed(readable, lambda next_event: _PlaceReader(readable.origin).read(next_event))


class _Level:
    """A collection that is open, and the key that waits for its value."""

    __slots__ = ("is_list", "key", "key_position", "place")

    def __init__(self, place: Place, *, is_list: bool) -> None:
        self.place = place
        self.is_list = is_list
        self.key: Any = None
        self.key_position: Position = place.position

    def put(self, child: Place) -> None:
        if self.is_list:
            self.place.below[len(self.place.below)] = child
        elif self.key is _MERGE:
            self._merge(child)
        else:
            self.place.below[self.key] = child
            self.place.keys[self.key] = self.key_position
        self.key = None

    def _merge(self, child: Place) -> None:
        for source in (child,) if child.keys else reversed(child.below.values()):
            self.place.below.update(source.below)
            self.place.keys.update(source.keys)


class _PlaceReader:
    """Builds the tree of places of one document from its events."""

    def __init__(self, origin: Position) -> None:
        self._origin = origin
        self._levels: list[_Level] = []
        self._anchors: dict[str, tuple[Place, Any]] = {}
        self._root = Place(origin)

    def read(self, next_event: Callable[[], Any]) -> Place:
        from ruamel.yaml import events  # noqa: PLC0415 - slow to load, and JSON does without

        starts = (events.MappingStartEvent, events.SequenceStartEvent)
        while type(event := next_event()) is not events.DocumentEndEvent:
            if isinstance(event, events.ScalarEvent):
                self._scalar(event)
            elif isinstance(event, starts):
                self._start(event, is_list=isinstance(event, events.SequenceStartEvent))
            elif isinstance(event, events.AliasEvent):
                self._put(*self._anchors[event.anchor])
            elif isinstance(event, events.CollectionEndEvent):
                self._put(self._levels.pop().place, None)
        return self._root

    def _scalar(self, event: Any) -> None:
        place = Place(yaml_stream.position(self._origin, event.start_mark))
        if self._levels and self._wants_key() and yaml_reader.is_merge_key(event):
            self._levels[-1].key = _MERGE
            return
        value = yaml_scalars.scalar_value(event.value, event.tag, plain=event.implicit[0])
        self._remember(event, place, value)
        self._put(place, value)

    def _start(self, event: Any, *, is_list: bool) -> None:
        place = Place(yaml_stream.position(self._origin, event.start_mark))
        self._remember(event, place, None)
        self._levels.append(_Level(place, is_list=is_list))

    def _put(self, place: Place, value: Any) -> None:
        if not self._levels:
            self._root = place
        elif self._wants_key():
            self._levels[-1].key = yaml_scalars.key_text(value)
            self._levels[-1].key_position = place.position
        else:
            self._levels[-1].put(place)

    def _remember(self, event: Any, place: Place, value: Any) -> None:
        if event.anchor is not None:
            self._anchors[event.anchor] = (place, value)

    def _wants_key(self) -> bool:
        level = self._levels[-1]
        return not level.is_list and level.key is None

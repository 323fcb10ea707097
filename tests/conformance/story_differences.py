"""Where our own run of a story differs from the recorded one, step by step and field by field. Judges nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs

from tests.conformance import story_states
from tests.conformance.story_states import ADAPTER, COMPONENT, GRAPH, MODEL, Json, Path, State

EXISTS = "exists"
"""The field of an object that one side has and the other has not."""

Parts = Iterator[tuple[Path, Any, Any]]


@attrs.frozen(eq=False)
class Difference:
    """One field that is not what was recorded, after the last of the states so far, *theirs* and *mine*."""

    story: str
    place: str
    path: Path
    recorded: Any
    ours: Any
    theirs: Sequence[State] = attrs.field(repr=False)
    mine: Sequence[State] = attrs.field(repr=False)

    @property
    def kind(self) -> str:
        """The kind of the object."""
        return self.place.partition("/")[0]

    @property
    def name(self) -> str:
        """The name of the object."""
        return self.place.partition("/")[2]

    @property
    def field(self) -> str:
        """The path as text."""
        return ".".join(map(str, self.path))

    def __str__(self) -> str:
        """Return one line for the report of a test."""
        step = f"{self.story} {len(self.theirs) - 1}"
        return f"{step}: {self.place} {self.field}: recorded {self.recorded!r}, ours {self.ours!r}"

    def value_in(self, state: State) -> Any:
        """Return what this field is in another state."""
        if self.path == (EXISTS,):
            return self.place in state.resources or self.place in state.objects
        resource = state.resources.get(self.place, {})
        if len(self.path) == 1 and self.path[0] in resource:
            return resource[self.path[0]]
        return story_states.value_at(state.objects.get(self.place), self.path)


def differences(story: str, theirs: Sequence[State], mine: Sequence[State]) -> Iterator[Difference]:
    """Yield every difference after every step of which the recording has a state at rest."""
    for index, (recorded, ours) in enumerate(zip(theirs, mine, strict=False), start=1):
        if recorded.settled:
            for place, path, his, own in _unequal(recorded, ours):
                yield Difference(story, place, path, his, own, theirs[:index], mine[:index])


def _unequal(recorded: State, ours: State) -> Iterator[tuple[str, Path, Any, Any]]:
    if not ours.settled:
        yield "Namespace/story", ("at rest",), True, False
    for place in sorted(recorded.resources.keys() | ours.resources.keys()):
        yield from _unequal_parts(place, recorded.resources.get(place), ours.resources.get(place), _fields)
    for place in sorted(recorded.objects.keys() | ours.objects.keys()):
        his, own = recorded.objects.get(place), ours.objects.get(place)
        # Whether resources of our group exist is told above, and not all of them are recorded with their content.
        is_told = place.startswith((GRAPH, COMPONENT, ADAPTER, MODEL)) and (his is None or own is None)
        if place not in recorded.unknown and not is_told:
            yield from _unequal_parts(place, his, own, story_states.unequal_leaves)


def _unequal_parts(
    place: str, recorded: Json | None, ours: Json | None, compare: Callable[[Json, Json], Parts]
) -> Iterator[tuple[str, Path, Any, Any]]:
    if recorded is None or ours is None:
        if recorded is not ours:
            yield place, (EXISTS,), recorded is not None, ours is not None
        return
    yield from ((place, *part) for part in compare(recorded, ours))


def _fields(recorded: Json, ours: Json) -> Parts:
    for field in sorted(recorded.keys() | ours.keys()):
        if recorded.get(field) != ours.get(field):
            yield (field,), recorded.get(field), ours.get(field)

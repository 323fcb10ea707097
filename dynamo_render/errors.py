"""What can be wrong, as values: problems with a path, and the exceptions that carry them.

Nothing here formats text for a terminal or knows about files; the command line adds positions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from dynamo_render.values import Value, frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dynamo_render.facts import FactQuery

Severity = Literal["error", "warning"]


@frozen
class Problem(Value):
    """One thing that is wrong with, or doubtful about, an input.

    *path* holds the keys and list indexes from the top of the document; *rule* is a stable id such as ``schema/type``
    or ``SVC-V03`` of the specification.
    """

    rule: str
    path: tuple[str | int, ...]
    message: str
    hint: str | None = None
    severity: Severity = "error"

    def __str__(self) -> str:
        """Return ``rule: path: message`` as the command line prints it after the position."""
        where = field_path(self.path)
        return f"{self.rule}: {where}: {self.message}" if where else f"{self.rule}: {self.message}"


def field_path(path: Iterable[object]) -> str:
    """Return *path* as users write it: ``spec.services.Decode.volumeMounts[0].mountPoint``.

    A step that is no key stands in brackets, as it shows itself.
    """
    text = ""
    for step in path:
        if not isinstance(step, str):
            text += f"[{step}]"
        elif step and all(character.isalnum() or character in "_-" for character in step):
            text += f".{step}" if text else step
        else:
            text += f'["{step}"]'
    return text


class DynamoRenderError(Exception):
    """Base of every exception that this package raises on purpose."""


class InvalidInput(DynamoRenderError):
    """Something the user gave is wrong; *problems* holds all of it, never the first only."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        """Keep *problems* as a tuple, errors and the warnings found beside them."""
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class InvalidResource(InvalidInput):
    """The custom resource cannot be rendered as it is."""


class InvalidSettings(InvalidInput):
    """The operator settings are unusable."""


class InvalidFacts(InvalidInput):
    """The cluster facts are unusable or contradict themselves."""


class MissingFacts(DynamoRenderError):
    """A render needs facts that were not given; *query* says which."""

    def __init__(self, query: FactQuery) -> None:
        """Keep *query*, so that the caller can gather the facts and ask again."""
        self.query = query
        super().__init__(f"facts are needed and not given: {query}")


class UnreadableInput(DynamoRenderError):
    """A text is not YAML or JSON as Kubernetes reads it; *line* and *column* count from 1."""

    def __init__(self, message: str, *, source: str, line: int | None = None, column: int | None = None) -> None:
        """Keep the position beside the *message*."""
        self.message = message
        self.source = source
        self.line = line
        self.column = column
        position = ":".join(str(part) for part in (source, line, column) if part is not None)
        super().__init__(f"{position}: {message}")


class RenderBug(DynamoRenderError):
    """A mistake of this package; never the user's, never swallowed."""

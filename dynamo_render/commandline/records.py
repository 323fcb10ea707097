"""Settings, facts and observed state from files: read, structured, and complained about with positions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from dynamo_render.commandline.contract import Console, Stopped
from dynamo_render.commandline.inputs import Source, content
from dynamo_render.commandline.messages import Path, Report
from dynamo_render.errors import InvalidInput, Problem, UnreadableInput
from dynamo_render.kube import structural, text
from dynamo_render.kube.text import Places
from dynamo_render.values import Value, frozen

PARTS = frozenset({"settings", "facts", "observed"})

_NO_OBJECT = "is no Kubernetes object: apiVersion, kind and metadata.name are needed"

Record = TypeVar("Record")
Json = dict[str, Any]


@frozen
class RecordFile(Value):
    """What one file says about one part; *prefix* leads to it where the file holds several parts."""

    name: str
    mapping: Mapping[str, Any]
    places: Places | None = None
    prefix: Path = ()

    def report(self, problems: tuple[Problem, ...], report: Report) -> None:
        """Report *problems* of the mapping where they stand in the file."""
        report.problems(self.name, problems, self.places, self.prefix)

    def structured(self, structure: Callable[[Mapping[str, Any]], Record], report: Report) -> Record:
        """Return what *structure* makes of the mapping; raises Stopped when it refuses, with everything reported."""
        try:
            return structure(self.mapping)
        except InvalidInput as error:
            self.report(error.problems, report)
            raise Stopped from None


def read(path: str, part: str, console: Console, report: Report) -> RecordFile:
    """Return what the file at *path* says about *part*: all of it, or what stands below the name of the part.

    Raises Stopped when it cannot be used, with everything reported.
    """
    return only_part(path, documents(path, console, report), part, report)


def documents(path: str, console: Console, report: Report) -> list[tuple[object, Places]]:
    """Return the documents of the file at *path*; raises Stopped where one cannot be read, with all reported."""
    refused: list[UnreadableInput] = []
    found: list[tuple[object, Places]] = []
    try:
        found.extend(text.read_with_places(content(Source(path), console), path, refused.append))
    except UnreadableInput as error:
        refused.append(error)
    for refusal in refused:
        report.unreadable(refusal)
    if refused:
        raise Stopped
    return found


def live_objects(path: str, documents: list[tuple[object, Places]], report: Report) -> tuple[Json, ...] | None:
    """Return the Kubernetes objects that *documents* hold, members of lists too; None where they hold none.

    Raises Stopped when one of them is no object, with all of these reported.
    """
    values = [value for value, _places in documents if isinstance(value, dict) and "apiVersion" in value]
    if not values or len(values) < len(documents):
        return None
    found: list[Any] = []
    is_refused = False
    for value, (_, places) in zip(values, documents, strict=True):
        items = value.get("items")
        members = [(("items", index), each) for index, each in enumerate(items)] if isinstance(items, list) else None
        for prefix, each in members if members is not None else [((), value)]:
            found.append(each)
            if not _is_object(each):
                is_refused = True
                report.problems(path, [Problem("input/object", (), _NO_OBJECT)], places, prefix)
    if is_refused:
        raise Stopped
    return tuple(found)


def _is_object(value: object) -> bool:
    """Whether *value* says which object it is, with texts only."""
    if not isinstance(value, dict) or not isinstance(value.get("metadata"), dict):
        return False
    metadata = value["metadata"]
    named = (value.get("apiVersion"), value.get("kind"), metadata.get("name"))
    return all(isinstance(text, str) and text for text in named) and isinstance(metadata.get("namespace", ""), str)


def only_part(path: str, documents: list[tuple[object, Places]], part: str, report: Report) -> RecordFile:
    """Return the part of the only document of a file; an empty file says nothing."""
    if not documents:
        return RecordFile(path, {})
    value, places = documents[0]
    if len(documents) > 1:
        raise _refused(RecordFile(path, {}, documents[1][1]), "is a second document, only one is expected", report)
    if not isinstance(value, dict):
        raise _refused(RecordFile(path, {}, places), f"must be object, got {structural.kind_of(value)}", report)
    if not value or not value.keys() <= PARTS:
        return RecordFile(path, value, places)
    inner = value.get(part)
    if inner is None:
        return RecordFile(path, {})
    found = RecordFile(path, inner, places, (part,))
    if not isinstance(inner, dict):
        raise _refused(found, f"must be object, got {structural.kind_of(inner)}", report)
    return found


def _refused(file: RecordFile, message: str, report: Report) -> Stopped:
    file.report((Problem("record/type", (), message),), report)
    return Stopped()

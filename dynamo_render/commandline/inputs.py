"""The documents that a user names in files, folders and standard input.

They are read one input at a time, so that memory does not grow with them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs

from dynamo_render.commandline.contract import PROGRAM, Console
from dynamo_render.commandline.messages import Path, Report
from dynamo_render.errors import Problem, UnreadableInput
from dynamo_render.kinds import GROUP, KINDS
from dynamo_render.kube import text
from dynamo_render.kube.text import Places
from dynamo_render.values import Value, frozen

STDIN = "-"
ENDINGS = (".yaml", ".yml", ".json")

_OUR_KINDS = tuple(sorted({kind for _version, kind in KINDS}))


@frozen
class Source(Value):
    """A file or standard input; *named* says that the user named it, and did not only name a folder above it."""

    path: str
    named: bool = True

    @property
    def name(self) -> str:
        """How messages call it."""
        return "<stdin>" if self.path == STDIN else self.path


@frozen
class Document(Value):
    """One resource as it was read: its value, and where it stands."""

    source: str
    value: Any
    places: Places
    prefix: Path = ()


def sources(arguments: Sequence[str], report: Report) -> list[Source]:
    """Return the files below *arguments*, sorted within each; what cannot be listed is reported.

    Below a folder these are regular files that end in .yaml, .yml or .json. Names that start with a dot are left out,
    folders too.
    """
    found: list[Source] = []
    for argument in arguments:
        if argument != STDIN and os.path.isdir(argument):
            files = sorted(_files_below(argument, report))
            if not files:
                report.problems(argument, [Problem("input/empty", (), f"holds no {', '.join(ENDINGS)} file")])
            found.extend(Source(path, named=False) for path in files)
        else:
            found.append(Source(argument))
    return found


def _files_below(folder: str, report: Report) -> Iterator[str]:
    def failed(error: OSError) -> None:
        report.unreadable(_cannot_read(str(error.filename), error))

    for here, folders, files in os.walk(folder, onerror=failed):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            path = os.path.join(here, name)
            # Opening a pipe or a device that happens to lie there could wait for ever.
            if name.lower().endswith(ENDINGS) and not name.startswith(".") and not _is_special(path):
                yield path


def _is_special(path: str) -> bool:
    return os.path.exists(path) and not os.path.isfile(path)


def content(source: Source, console: Console) -> bytes:
    """Return the bytes of *source*; raises UnreadableInput where that fails."""
    try:
        if source.path == STDIN:
            return console.stdin.read() if console.stdin else b""
        with open(source.path, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise _cannot_read(source.name, error) from None


def _cannot_read(name: str, error: OSError | ValueError) -> UnreadableInput:
    reason = getattr(error, "strerror", None) or str(error)
    return UnreadableInput(f"cannot be read: {reason.lower()}", source=name)


def documents(source: Source, console: Console, report: Report) -> Iterator[Document]:
    """Yield the resources of *source* that are ours, members of lists too.

    Objects of other kinds are skipped with a note; what cannot be read is reported.
    """
    skipped: Counter[str] = Counter()
    for document in every_document(source, console, report):
        if kind := _foreign_kind(document.value, is_expected=source.named):
            skipped[kind] += 1
        else:
            yield document
    if skipped:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(skipped.items()))
        report.note(source.name, f"skipped what is not for {PROGRAM}: {kinds}")


def every_document(source: Source, console: Console, report: Report) -> Iterator[Document]:
    """Yield whatever *source* holds, members of lists one by one; what cannot be read is reported."""
    seen = 0

    def refused(error: UnreadableInput) -> None:
        nonlocal seen
        seen += 1
        report.unreadable(error)

    try:
        data = content(source, console)
    except UnreadableInput as error:
        report.unreadable(error)
        return
    for value, places in text.read_with_places(data, source.name, refused):
        seen += 1
        yield from _members(Document(source.name, value, places))
    if not seen:
        _report_empty(source, report)


def _report_empty(source: Source, report: Report) -> None:
    """Say that *source* holds no document: an error where the user named it, a note where a folder led to it."""
    if source.named:
        message = f"holds no document, expected a {' or '.join(_OUR_KINDS)}"
        report.problems(source.name, [Problem("input/empty", (), message)])
    else:
        report.note(source.name, "holds no document")


def _members(document: Document) -> Iterator[Document]:
    """Yield *document* itself or, for a list, its members."""
    items = _items(document.value)
    if items is None:
        yield document
        return
    for index, item in enumerate(items):
        yield from _members(attrs.evolve(document, value=item, prefix=(*document.prefix, "items", index)))


def _items(value: object) -> list[Any] | None:
    """Return the members of a list of objects, as kubectl prints several; None for anything else."""
    if not isinstance(value, dict):
        return None
    kind, items = value.get("kind"), value.get("items")
    is_list = isinstance(kind, str) and kind.endswith("List") and isinstance(items, list)
    return items if is_list else None


def _foreign_kind(value: object, *, is_expected: bool) -> str | None:
    """Return the kind of an object that is surely not meant for us; misspelled kinds of ours are not foreign.

    What is no Kubernetes object at all is foreign too, unless the user named the file it *is_expected* in.
    """
    found = value if isinstance(value, dict) else {}
    version, kind = found.get("apiVersion"), found.get("kind")
    if version is None and kind is None:
        return None if is_expected else "document without kind"
    if not (isinstance(version, str) and isinstance(kind, str) and version and kind) or kind in _OUR_KINDS:
        return None
    if version.partition("/")[0] == GROUP and is_nearly_one_of(kind, _OUR_KINDS):
        return None
    return kind


def is_nearly_one_of(kind: str, kinds: Iterable[str]) -> bool:
    """Whether *kind* is one of *kinds* with a typing error; other kinds of Dynamo are further away than that."""
    import difflib  # noqa: PLC0415 - only for other kinds of our API group

    return bool(difflib.get_close_matches(kind.lower(), [name.lower() for name in kinds], n=1, cutoff=0.9))

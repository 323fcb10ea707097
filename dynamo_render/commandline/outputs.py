"""The forms in which objects leave: YAML, JSON, JSON lines or names on standard output, or one file for each.

Everything is written as it comes; nothing is kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TextIO

from dynamo_render.commandline.contract import UsageError
from dynamo_render.commandline.messages import Report
from dynamo_render.errors import Problem
from dynamo_render.kube import text

FORMATS = ("yaml", "json", "jsonl", "name")
FILE_FORMATS = ("yaml", "json")

Item = Mapping[str, Any]


class Output(Protocol):
    """Takes items one by one; *source* is the input that one comes from."""

    def write(self, item: Item, source: str) -> None:
        """Write one item."""

    def close(self) -> None:
        """Write what belongs behind the last item."""


def chosen(form: str, folder: str | None, stream: TextIO, report: Report) -> Output:
    """Return the output that the user asked for; raises UsageError for a form that cannot go to a folder."""
    if folder is None:
        return _JsonList(stream) if form == "json" else _Lines(stream, form)
    if form not in FILE_FORMATS:
        raise UsageError(f"--output-dir writes {' or '.join(FILE_FORMATS)}, not {form}")
    return _Folder(folder, form, report)


class _Lines:
    """Forms in which one item follows the other."""

    def __init__(self, stream: TextIO, form: str) -> None:
        self._stream = stream
        self._separator = "---\n" if form == "yaml" else ""
        self._written = {"yaml": text.write_document, "jsonl": _json_line, "name": _name_line}[form]
        self._before = ""

    def write(self, item: Item, source: str) -> None:  # noqa: ARG002 - only folders tell sources apart
        self._stream.write(self._before + self._written(item))
        self._before = self._separator

    def close(self) -> None:
        """There is no end mark."""


class _JsonList:
    """One JSON document, a v1 List of all items as kubectl prints it, however many there are."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_open = False

    def write(self, item: Item, source: str) -> None:  # noqa: ARG002 - only folders tell sources apart
        before = ",\n" if self._is_open else self._head() + "\n"
        self._is_open = True
        body = _json_text(item).replace("\n", "\n        ")
        self._stream.write(f"{before}        {body}")

    def close(self) -> None:
        self._stream.write("\n    ]\n}\n" if self._is_open else self._head() + "]\n}\n")

    def _head(self) -> str:
        return '{\n    "apiVersion": "v1",\n    "kind": "List",\n    "items": ['


class _Folder:
    """One file for each item, with a name that the item alone decides."""

    def __init__(self, folder: str, form: str, report: Report) -> None:
        os.makedirs(folder, exist_ok=True)
        self._folder = folder
        self._form = form
        self._report = report
        self._sources: dict[str, str] = {}
        self._written: Callable[[Item], str] = text.write_document if form == "yaml" else _json_document

    def write(self, item: Item, source: str) -> None:
        """Write the file of *item*; report one that another input wants to be different."""
        name = f"{file_stem(item)}.{self._form}"
        path, body = os.path.join(self._folder, name), self._written(item)
        if name in self._sources:
            if body != _text_of(path):
                self._report_collision(source, name)
            return
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(body)
        self._sources[name] = source

    def close(self) -> None:
        """All files are closed."""

    def _report_collision(self, source: str, name: str) -> None:
        message = f"{name} is already written from {self._sources[name]}, with other content"
        hint = "two inputs lead to the same object; give them other names or namespaces, or render them apart"
        self._report.problems(source, [Problem("output/collision", (), message, hint)])


def file_stem(item: Item) -> str:
    """Return ``namespace.kind.name``: namespaces and kinds hold no dots, so that different items differ here too."""
    kind, namespace, name = _identity(item)
    parts = (namespace, kind, name) if namespace else (kind, name)
    return ".".join(_file_name(part) for part in parts)


def _identity(item: Item) -> tuple[str, str, str]:
    """Return the kind in lower case, the namespace and the name."""
    if "pod" in item:
        return "pod", item["namespace"], item["pod"]
    metadata = item["metadata"]
    return item["kind"].lower(), metadata.get("namespace", ""), metadata["name"]


def _file_name(part: str) -> str:
    """Return *part* with percent codes for what a file name should not hold."""
    if part.isascii() and part.replace("-", "").replace(".", "").isalnum():
        return part
    return "".join(
        character if character.isascii() and (character.isalnum() or character in "-.") else _percent_codes(character)
        for character in part
    )


def _percent_codes(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode())


def _text_of(path: str) -> str:
    with open(path, encoding="utf-8", newline="\n") as file:
        return file.read()


def _name_line(item: Item) -> str:
    """Return ``kind.group/name`` as kubectl prints names."""
    kind, _namespace, name = _identity(item)
    group, slash, _version = item.get("apiVersion", "").partition("/")
    return f"{kind}.{group}/{name}\n" if slash else f"{kind}/{name}\n"


def _json_text(item: Item) -> str:
    import json  # noqa: PLC0415 - only needed for JSON

    return json.dumps(item, indent=4, ensure_ascii=False)


def _json_document(item: Item) -> str:
    return _json_text(item) + "\n"


def _json_line(item: Item) -> str:
    import json  # noqa: PLC0415 - only needed for JSON

    return json.dumps(item, ensure_ascii=False, separators=(",", ":")) + "\n"

"""How differences between objects are shown: as text in the form of a unified diff, and as plain data.

Decides nothing about what differs, or about which pods restart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dynamo_render.commandline.messages import printable
from dynamo_render.kube.diff import Change, Identity, ObjectChange
from dynamo_render.kube.text import write_document
from dynamo_render.restarts import PodImpact

_HUES = {"---": "\x1b[1m", "+++": "\x1b[1m", "@@ ": "\x1b[36m", "-": "\x1b[31m", "+": "\x1b[32m"}
_PLAIN = "\x1b[0m"

NOTHING = "/dev/null"


def lines(changes: Iterable[ObjectChange]) -> Iterator[str]:
    """Yield the lines of a unified diff: a head for every object, and below it one section for every field."""
    for change in changes:
        name = shown(change.identity)
        yield f"--- {NOTHING if change.old is None else name}"
        yield f"+++ {NOTHING if change.new is None else name}"
        if change.kind == "changed":
            for inner in change.changes:
                yield from _section(inner)
        else:
            yield f"@@ {change.kind} @@"
            yield from _whole(change.old, "-") if change.new is None else _whole(change.new, "+")


def shown(identity: Identity) -> str:
    """Return how messages name an object: ``Deployment team-a/demo-frontend (apps/v1)``."""
    version, kind, namespace, name = identity
    return printable(f"{kind} {namespace}/{name} ({version})" if namespace else f"{kind} {name} ({version})")


def impact_lines(impacts: Iterable[PodImpact]) -> Iterator[str]:
    """Yield what happens to which pods, and because of what; templates that change together are named together."""
    together: dict[tuple[Identity, tuple[str, ...]], list[PodImpact]] = {}
    for impact in impacts:
        reasons = tuple(printable(change.where()) for change in impact.because)
        together.setdefault((impact.identity, reasons), []).append(impact)
    for (identity, reasons), same in together.items():
        yield f"  {shown(identity)}: {', '.join(_told(impact) for impact in same)}"
        yield from (f"      {reason}" for reason in reasons)


def _told(impact: PodImpact) -> str:
    numbers = {"restart": impact.restarting, "start": impact.starting, "stop": impact.stopping}
    said = " and ".join(f"{number} {verb}" for verb, number in numbers.items() if number)
    return f"{printable(impact.template)} ({said or 'no pods now'})"


def coloured(line: str) -> str:
    """Return a line of a unified diff with the colour of its kind."""
    hue = _HUES.get(line[:3]) or _HUES.get(line[:1])
    return f"{hue}{line}{_PLAIN}" if hue else line


def text_lines(old: str, new: str, old_name: str, new_name: str) -> Iterator[str]:
    """Yield the lines of a unified diff of two texts, without what would move the cursor."""
    import difflib  # noqa: PLC0415 - few calls have something to compare line by line

    old_lines, new_lines = ([printable(line) for line in text.split("\n")] for text in (old, new))
    return difflib.unified_diff(old_lines, new_lines, old_name, new_name, lineterm="")


def _section(change: Change) -> Iterator[str]:
    head = f"@@ {printable(change.where())}{' (order)' if change.kind == 'reordered' else ''} @@"
    yield head
    if change.kind == "added":
        yield from _whole(change.new, "+")
    elif change.kind == "removed":
        yield from _whole(change.old, "-")
    else:
        yield from _replaced(_yaml(change.old), _yaml(change.new), head)


def _replaced(old: list[str], new: list[str], head: str) -> Iterator[str]:
    if len(old) == len(new) == 1:
        yield f"-{old[0]}"
        yield f"+{new[0]}"
        return
    hunks = 0
    for line in text_lines("\n".join(old), "\n".join(new), "", ""):
        if line.startswith("@@"):
            hunks += 1
            if hunks > 1:
                yield head
        elif hunks:
            yield line


def _whole(value: object, sign: str) -> Iterator[str]:
    return (f"{sign}{line}" for line in _yaml(value))


def _yaml(value: Any) -> list[str]:
    """Return the lines of *value*; those of an order are the entries by their keys."""
    if isinstance(value, tuple):
        return [printable(str(step)) for step in value]
    return write_document(value).splitlines()


def data_of_object(change: ObjectChange) -> dict[str, Any]:
    """Return an object's differences as plain JSON values."""
    head = {**_data_of_identity(change.identity), "change": change.kind}
    if change.kind == "added":
        return {**head, "new": change.new}
    if change.kind == "removed":
        return {**head, "old": change.old}
    return {**head, "fields": [_data_of_change(inner) for inner in change.changes]}


def data_of_impact(impact: PodImpact) -> dict[str, Any]:
    """Return what happens to the pods of a template as plain JSON values."""
    return {
        **_data_of_identity(impact.identity),
        "template": impact.template,
        "restarting": impact.restarting,
        "starting": impact.starting,
        "stopping": impact.stopping,
        "because": [change.where() for change in impact.because],
    }


def _data_of_identity(identity: Identity) -> dict[str, str]:
    return dict(zip(("apiVersion", "kind", "namespace", "name"), identity, strict=True))


def _data_of_change(change: Change) -> dict[str, Any]:
    data: dict[str, Any] = {"path": change.where(), "change": change.kind}
    if change.kind != "added":
        data["old"] = _plain(change.old)
    if change.kind != "removed":
        data["new"] = _plain(change.new)
    return data


def _plain(value: Any) -> Any:
    return [str(step) for step in value] if isinstance(value, tuple) else value

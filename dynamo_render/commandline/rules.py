"""The command ``rules``: prints every rule with its id, severity and one sentence."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TextIO

from dynamo_render import rules
from dynamo_render.commandline.contract import FINE, Command, Console
from dynamo_render.errors import field_path
from dynamo_render.rules.contract import NULL, Example, Rule

MOST_LINES = 30

_EXAMPLE = """\
dynamo-render rules
dynamo-render rules -o json | jq -r '.[].id'"""

_HEAD = """\
# Rules

Everything that `dynamo-render validate` checks. This page is made by `dynamo-render rules -o markdown`.

A rule is silenced for one call by `--ignore ID`, and for one resource by its annotation `dynamo-render/ignore: ID,...`.
The examples show what is laid over a small resource that has nothing wrong with it.
"""


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", choices=tuple(_WRITERS), default="text", help="form of the table (default: text)"
    )


def _run(arguments: Namespace, console: Console) -> int:
    _WRITERS[arguments.output](console.stdout)
    return FINE


def _text(stream: TextIO) -> None:
    width = max(map(len, rules.RULES))
    stream.writelines(f"{rule.id:<{width}}  {rule.severity:<7}  {rule.sentence}\n" for rule in rules.RULES.values())


def _json(stream: TextIO) -> None:
    import json  # noqa: PLC0415 - only needed for JSON

    listed = [
        {
            "id": rule.id,
            "severity": rule.severity,
            "family": family,
            "sentence": rule.sentence,
            "section": rule.section,
            "refuses": _example(rule.refuses),
            "accepts": _example(rule.accepts),
        }
        for family, members in rules.FAMILIES.items()
        for rule in members
    ]
    json.dump(listed, stream, indent=2, ensure_ascii=False)
    stream.write("\n")


def _example(example: Example) -> dict[str, Any]:
    around = {"old": example.old_resource(), "user": example.user, "facts": example.facts, "settings": example.settings}
    return {"resource": example.resource(), **{name: value for name, value in around.items() if value}}


def markdown() -> Iterator[str]:
    """Yield the lines of the page in the documents."""
    yield from _HEAD.splitlines()
    for family, members in rules.FAMILIES.items():
        yield from ("", f"## {family}", "", "| Rule | Severity | Says | Specification |", "|---|---|---|---|")
        for rule in members:
            yield f"| [`{rule.id}`](#{_anchor(rule.id)}) | {rule.severity} | {rule.sentence} | {rule.section} |"
        for rule in members:
            yield from _section(rule)


def _section(rule: Rule) -> Iterator[str]:
    yield from ("", f"### {rule.id}", "", rule.sentence, "")
    yield from _shown("Refused" if rule.severity == "error" else "Warned about", rule.refuses)


def _shown(title: str, example: Example) -> Iterator[str]:
    from dynamo_render.kube.text import write_document  # noqa: PLC0415 - only needed for examples

    gone = [f"without `{field_path(path)}`" for path in _gone(example.edit)]
    if example.old is not None:
        gone.append("as a change" + (f" by `{example.user}`" if example.user else ""))
    gone.extend(_around(example))
    edit = _without_gone(example.edit)
    yield f"{title}{', ' if gone else ''}{' and '.join(gone)}{':' if edit else '.'}"
    if edit:
        lines = write_document(edit).splitlines()
        cut = [*lines[:MOST_LINES], "# and so on"] if len(lines) > MOST_LINES else lines
        yield from ("", "```yaml", *cut, "```")


def _around(example: Example) -> Iterator[str]:
    """Yield the surroundings that an example needs."""
    import json  # noqa: PLC0415 - only needed for examples

    for name, value in (("facts", example.facts), ("settings", example.settings)):
        if value is not None:
            yield f"with the {name} `{json.dumps(value)}`"


def _gone(edit: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of the keys that an edit takes away."""
    if isinstance(edit, Mapping):
        for key, value in edit.items():
            if value is None:
                yield (*path, key)
            else:
                yield from _gone(value, (*path, key))


def _without_gone(edit: Any) -> Any:
    if edit is NULL:
        return None
    if isinstance(edit, list | tuple):
        return [_without_gone(entry) for entry in edit]
    if not isinstance(edit, Mapping):
        return edit
    kept = {key: _without_gone(value) for key, value in edit.items() if value is not None}
    return {key: value for key, value in kept.items() if value != {} or edit[key] == {}}


def _anchor(name: str) -> str:
    return name.lower().replace("/", "")


def _markdown(stream: TextIO) -> None:
    stream.writelines(f"{line}\n" for line in markdown())


_WRITERS: Mapping[str, Callable[[TextIO], None]] = {"text": _text, "json": _json, "markdown": _markdown}

COMMAND = Command(
    summary="list every rule of validate",
    description="List every rule of `validate` with its severity and what it says.",
    example=_EXAMPLE,
    arguments=_arguments,
    run=_run,
)

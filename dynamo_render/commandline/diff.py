"""The command ``diff``: prints what changes in rendered objects between two inputs, or two ways to render one."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from typing import Any

from dynamo_render import restarts
from dynamo_render.commandline import differences, inputs, options
from dynamo_render.commandline.contract import FINDINGS, UNUSABLE, Command, Console, Stopped, UsageError
from dynamo_render.commandline.inputs import Document
from dynamo_render.commandline.messages import Report, wants_colour
from dynamo_render.commandline.sides import Side, Sides
from dynamo_render.kube.diff import ObjectChange
from dynamo_render.profiles import PROFILES
from dynamo_render.restarts import PodImpact
from dynamo_render.values import Value, frozen

FORMATS = ("text", "json")
TEMPLATES_CHANGE = 3

_EXAMPLE = """\
dynamo-render diff main/graphs/ branch/graphs/ --settings settings.yaml
dynamo-render diff graphs/ --from-profile 0.9-shipped --to-profile 0.9
dynamo-render diff graph.yaml --to-facts with-grove.yaml --detailed-exitcode
dynamo-render diff rendered-before/ rendered-after/ --as-is"""

# What may differ between the sides, and where the parser puts what holds for both.
_SIDED = {"profile": "setting_profile", "settings": "settings", "facts": "facts"}


def _arguments(parser: ArgumentParser) -> None:
    parser.usage = "%(prog)s [OPTION ...] OLD [NEW]"
    parser.add_argument(
        "inputs",
        metavar="INPUT",
        nargs="*",
        help="file, folder or - for standard input: the old and the new one, or one to render in two ways",
    )
    parser.add_argument("-o", "--output", choices=FORMATS, default="text", help="form of the output (default: text)")
    parser.add_argument(
        "--detailed-exitcode",
        action="store_true",
        help=f"exit with {TEMPLATES_CHANGE} instead of {FINDINGS} when a pod template changes",
    )
    parser.add_argument(
        "--as-is", action="store_true", help="render nothing; compare the objects in the inputs, of any kind"
    )
    parser.add_argument("--namespace", help="namespace of resources that name none (default: default)")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colour of the output")
    sides = parser.add_argument_group("what differs between the sides; other options hold for both")
    for side, name in (("from", "old"), ("to", "new")):
        sides.add_argument(f"--{side}-profile", choices=tuple(PROFILES), help=f"release that the {name} side follows")
        sides.add_argument(f"--{side}-settings", metavar="FILE", help=f"settings of the operator of the {name} side")
        sides.add_argument(f"--{side}-facts", metavar="FILE", help=f"facts about the cluster of the {name} side")
    options.add_arguments(parser)


@frozen
class _Comparison(Value):
    """What differs between the sides, what that means for pods, and how many pods there were before."""

    changes: Sequence[ObjectChange]
    impacts: Sequence[PodImpact]
    pods: int

    def number(self, kind: str) -> int:
        """Return how many objects are changed, added or removed."""
        return sum(change.kind == kind for change in self.changes)

    def pods_that(self, verb: str) -> int:
        """Return how many pods are restarting, starting or stopping."""
        return sum(getattr(impact, verb) for impact in self.impacts)


def _run(arguments: Namespace, console: Console) -> int:
    _check_usage(arguments)
    report = Report(console.stderr, colour=wants_colour(arguments.color, console.stderr, console.environ))
    try:
        old, new = _as_is(arguments, console, report) if arguments.as_is else _rendered(arguments, console, report)
    except Stopped:
        return report.status
    refused = old.refused() | new.refused()
    before, after = old.without(refused), new.without(refused)
    changes = restarts.object_changes(before, after)
    comparison = _Comparison(changes, restarts.impacts(changes), restarts.pods(before))
    colour = wants_colour(arguments.color, console.stdout, console.environ)
    for line in _json(comparison) if arguments.output == "json" else _text(comparison, colour=colour):
        console.stdout.write(line + "\n")
    return _status(comparison, report.status, detailed=arguments.detailed_exitcode)


def _check_usage(arguments: Namespace) -> None:
    given = arguments.inputs
    differing = [f"--{side}-{name}" for side in ("from", "to") for name in _SIDED if _of_side(arguments, side, name)]
    if len(given) not in (1, 2):
        raise UsageError("name the old and the new INPUT, or one that is rendered in two ways")
    if given == [inputs.STDIN, inputs.STDIN]:
        raise UsageError("standard input can be one side only")
    if arguments.as_is and differing:
        raise UsageError(f"--as-is renders nothing, so that {differing[0]} has no meaning")
    if len(given) == 1 and not differing:
        raise UsageError("name a second INPUT, or what differs, such as --to-profile, --to-settings or --to-facts")


def _of_side(arguments: Namespace, side: str, name: str) -> Any:
    return getattr(arguments, f"{side}_{name}")


def _rendered(arguments: Namespace, console: Console, report: Report) -> tuple[Side, Side]:
    """Return both sides rendered; raises Stopped when they cannot be compared, with the reason reported."""
    surroundings = [options.resolved(_arguments_of(arguments, side), console, report) for side in ("from", "to")]
    read = [list(_documents(given, console, report, inputs.documents)) for given in arguments.inputs]
    if arguments.observed is not None and max(map(len, read)) > 1:
        hint = "compare the resources one by one, each with its own file"
        report.unusable("--observed", "option/observed", "describes one resource, and there are more", hint)
    _stop_if_unreadable(report)
    sides = Sides(report, arguments.namespace, console.environ)
    # One input is read once and rendered in two ways: standard input cannot be read again.
    old, new = read[0], read[-1]
    return sides.rendered(old, surroundings[0], "old"), sides.rendered(new, surroundings[1], "new")


def _as_is(arguments: Namespace, console: Console, report: Report) -> tuple[Side, Side]:
    sides = Sides(report, arguments.namespace, console.environ)
    found = [sides.as_is(_documents(given, console, report, inputs.every_document)) for given in arguments.inputs]
    _stop_if_unreadable(report)
    return found[0], found[1]


def _arguments_of(arguments: Namespace, side: str) -> Namespace:
    """Return the arguments as they hold for one side."""
    own = {common: value for name, common in _SIDED.items() if (value := _of_side(arguments, side, name)) is not None}
    return Namespace(**{**vars(arguments), **own})


def _documents(given: str, console: Console, report: Report, reader: Any) -> Iterator[Document]:
    for source in inputs.sources([given], report):
        yield from reader(source, console, report)


def _stop_if_unreadable(report: Report) -> None:
    """Stop when a part of a side is not known: what it holds would look added or removed."""
    if report.status == UNUSABLE:
        raise Stopped


def _status(comparison: _Comparison, status: int, *, detailed: bool) -> int:
    if status == UNUSABLE or not comparison.changes:
        return status
    replaces = any(impact.because for impact in comparison.impacts)
    return TEMPLATES_CHANGE if detailed and replaces else FINDINGS


def _text(comparison: _Comparison, *, colour: bool) -> Iterator[str]:
    if not comparison.changes:
        return
    for line in differences.lines(comparison.changes):
        yield differences.coloured(line) if colour else line
    yield ""
    yield ", ".join(_numbers(comparison, ("changed", "added", "removed"), "object", _Comparison.number))
    verbs = ("restarting", "starting", "stopping")
    yield ", ".join(_numbers(comparison, verbs, "pod", _Comparison.pods_that)) + f" (of {comparison.pods})"
    yield from differences.impact_lines(comparison.impacts)


def _numbers(comparison: _Comparison, kinds: Sequence[str], thing: str, number: Any) -> Iterator[str]:
    """Yield how many things there are of each kind, the thing named once."""
    for kind in kinds:
        count = number(comparison, kind)
        yield f"{count} {thing}{'' if count == 1 else 's'} {kind}" if kind == kinds[0] else f"{count} {kind}"


def _json(comparison: _Comparison) -> Iterator[str]:
    import json  # noqa: PLC0415 - only needed for JSON

    data = {
        "objects": [differences.data_of_object(change) for change in comparison.changes],
        "pods": [differences.data_of_impact(impact) for impact in comparison.impacts],
        "summary": {
            "objects": {kind: comparison.number(kind) for kind in ("changed", "added", "removed")},
            "pods": {
                "before": comparison.pods,
                **{verb: comparison.pods_that(verb) for verb in ("restarting", "starting", "stopping")},
            },
        },
    }
    yield json.dumps(data, indent=4, ensure_ascii=False)


COMMAND = Command(
    summary="print what changes between two sets of resources, settings, facts or profiles",
    description="Print what changes in the rendered objects between two inputs, or between two ways to render one, by "
    "object and field; and which pods restart because of it. Nothing is printed when nothing changes.",
    example=_EXAMPLE,
    arguments=_arguments,
    run=_run,
)

"""The command ``golden``: holds the resources in a folder to what they rendered to when somebody last looked."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from dynamo_render.commandline import golden_cases, golden_reports, golden_verdicts
from dynamo_render.commandline.contract import Command, Console, UsageError
from dynamo_render.commandline.golden_cases import Case, Found
from dynamo_render.commandline.golden_verdicts import Finding, Verdict
from dynamo_render.commandline.messages import Report, printable, wants_colour
from dynamo_render.profiles import PROFILES

_EXAMPLE = """\
dynamo-render golden update deploy/graphs      # once, and whenever a difference is wanted: look at it, then commit
dynamo-render golden check deploy/graphs       # in CI
dynamo-render golden check deploy/graphs --case 'team-a/*' -o github"""


def _arguments(parser: ArgumentParser) -> None:
    parser.usage = "%(prog)s {check,update} [OPTION ...] DIR"
    parser.add_argument(
        "action", choices=("check", "update"), help="compare with what is stored, or store what is rendered now"
    )
    parser.add_argument(
        "directory", metavar="DIR", help="folder with the cases; settings.yaml and facts.yaml count from here down"
    )
    parser.add_argument(
        "-o", "--output", choices=golden_reports.FORMATS, default="text", help="form of the findings (default: text)"
    )
    parser.add_argument(
        "--case",
        metavar="PATTERN",
        action="append",
        default=[],
        help="only cases whose name matches, such as 'team-a/*'; repeatable",
    )
    parser.add_argument(
        "--profile",
        choices=tuple(PROFILES),
        action="append",
        default=[],
        help="a profile that every case which is a folder must hold; repeatable; a case that is a file follows "
        "the first one, unless its settings name another",
    )
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colour of differences")


def _run(arguments: Namespace, console: Console) -> int:
    report = Report(console.stderr, colour=wants_colour(arguments.color, console.stderr, console.environ))
    directory = arguments.directory
    if not os.path.isdir(directory):
        raise UsageError(f"{directory} is not a folder")
    found = _selected(golden_cases.found(directory), arguments.case)
    if not found.cases:
        hint = "a case is a file with a custom resource, or a folder with input.yaml"
        report.unusable(directory, "golden/empty", "holds no case" + " of that name" * bool(arguments.case), hint)
    if arguments.action == "update":
        verdicts = list(_updated(found, arguments.profile, console))
    else:
        verdicts = list(_checked(found, arguments.profile))
    colour = wants_colour(arguments.color, console.stdout, console.environ)
    for line in golden_reports.FORMS[arguments.output](directory, verdicts, colour=colour):
        console.stdout.write(line + "\n")
    _conclude(directory, len(found.cases), verdicts, report)
    return report.status


def _selected(found: Found, patterns: Sequence[str]) -> Found:
    """Return the cases whose names match one of *patterns*; files that belong to no case count only without any."""
    if not patterns:
        return found
    cases = (case for case in found.cases if any(fnmatchcase(case.name, pattern) for pattern in patterns))
    return Found(tuple(cases), ())


def _checked(found: Found, profiles: Sequence[str]) -> Iterator[Verdict]:
    for case in found.cases:
        yield from golden_verdicts.verdicts(case, profiles)
    yield from golden_verdicts.verdicts_on_strays(found)


def _updated(found: Found, profiles: Sequence[str], console: Console) -> Iterator[Verdict]:
    """Store what every case renders to, say which files that changed, and yield what was left to do."""
    for case in found.cases:
        yield Verdict(case.name, "", tuple(_stored(case, profiles, console)))
    yield from golden_verdicts.verdicts_on_strays(found)


def _stored(case: Case, profiles: Sequence[str], console: Console) -> Iterator[Finding]:
    for done in golden_verdicts.updated(case, profiles):
        if isinstance(done, Finding):
            yield done
        else:
            console.stderr.write(f"{done[0]} {printable(done[1])}\n")


def _conclude(directory: str, cases: int, verdicts: Iterable[Verdict], report: Report) -> None:
    """Let the exit code say what was found, and sum it up."""
    findings = [finding for verdict in verdicts for finding in verdict.findings]
    if findings:
        report.raise_status(2 if any(finding.kind == "unusable" for finding in findings) else 1)
    if cases:
        report.note(directory, f"{_count(cases, 'case')}, {_count(len(findings), 'finding')}")


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


COMMAND = Command(
    summary="hold a folder of resources to what they rendered to before",
    description="Compare what the resources in a folder render to with what is stored beside them, or store it. "
    "Settings and facts are read from files in the folder, and from nowhere else.",
    example=_EXAMPLE,
    arguments=_arguments,
    run=_run,
)

"""The cases of a golden folder: which files belong to each, and which belong to none. Never writes.

A case is a folder with ``input.yaml``, or a file ``NAME.yaml`` beside which ``NAME.expected.yaml`` stands or should.
What a case renders to, and whether that is what is stored, is for `golden_verdicts` to say.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence

import attrs

from dynamo_render.commandline import inputs
from dynamo_render.commandline.contract import Console
from dynamo_render.commandline.messages import Report
from dynamo_render.profiles import PROFILES
from dynamo_render.values import Value, frozen

INPUT = "input"
EXPECTED = "expected"
PROBLEMS = "problems"
EXPECTED_ENDING = ".expected.yaml"

# What a folder may hold for the cases in it; all but the last hold for the folders below it, too.
SETTINGS, FACTS, OBSERVED = "settings.yaml", "facts.yaml", "observed.yaml"

# The runner prints through its caller, and reads files only.
QUIET = Console(None, io.StringIO(), io.StringIO(), {})


@frozen
class Case(Value):
    """One case: its *name* below the golden folder, the file with its *input*, and the folders that surround it.

    *folders* lead from the golden folder to the case's own. *results* is where a case that is a folder keeps one result
    for each profile; for a case that is a file it is None, and *expected* is its only result.
    """

    name: str
    input: str
    folders: tuple[str, ...]
    results: str | None = None
    expected: str = ""

    def file(self, kind: str, profile: str) -> str:
        """Return the path of the result of *kind* in one profile."""
        return self.expected if self.results is None else os.path.join(self.results, kind, f"{profile}.yaml")


@frozen
class Stray(Value):
    """A file that looks like a part of a case, and is none; *reason* says why."""

    path: str
    reason: str


@frozen
class Found(Value):
    """What a golden folder holds."""

    cases: tuple[Case, ...]
    strays: tuple[Stray, ...]


@attrs.define(eq=False)
class _Search:
    cases: list[Case] = attrs.field(factory=list)
    strays: list[Stray] = attrs.field(factory=list)


def found(directory: str) -> Found:
    """Return the cases below *directory*, sorted by name, and the files that seem to belong to one and do not.

    Files and folders that start with a dot are not looked at. Raises OSError where a folder cannot be listed.
    """
    search = _Search()
    _look_into(directory, (directory,), search)
    return Found(tuple(sorted(search.cases, key=lambda case: case.name)), tuple(search.strays))


def _look_into(folder: str, folders: tuple[str, ...], search: _Search) -> None:
    with os.scandir(folder) as entries:
        listed = sorted((entry for entry in entries if not entry.name.startswith(".")), key=lambda entry: entry.name)
    files = [entry.name for entry in listed if entry.is_file()]
    # A link may lead back up; it is not followed, as in the folders of other commands.
    below = [entry.name for entry in listed if entry.is_dir(follow_symlinks=False)]
    if input_files := [name for name in files if _stem(name) == INPUT]:
        _add_folder_case(files, input_files, folders, search)
        below = [name for name in below if name not in (EXPECTED, PROBLEMS)]
    elif os.path.basename(folder) in (EXPECTED, PROBLEMS) and len(folders) > 1 and _are_results(files):
        reason = f"there is no {INPUT}.yaml beside the folder {os.path.basename(folder)}"
        search.strays.extend(Stray(os.path.join(folder, name), reason) for name in files)
    else:
        _add_file_cases(files, folders, search)
    for name in below:
        inner = os.path.join(folder, name)
        _look_into(inner, (*folders, inner), search)


def _add_folder_case(files: list[str], input_files: list[str], folders: tuple[str, ...], search: _Search) -> None:
    folder = folders[-1]
    search.cases.append(Case(_name(folder, folders[0]), os.path.join(folder, input_files[0]), folders, folder))
    for name in files:
        path = os.path.join(folder, name)
        if name in input_files[1:]:
            search.strays.append(Stray(path, f"{input_files[0]} is the input of this case"))
        elif name.lower().endswith(inputs.ENDINGS) and name not in (input_files[0], SETTINGS, FACTS, OBSERVED):
            known = f"{INPUT}.yaml, {SETTINGS}, {FACTS} and {OBSERVED}"
            search.strays.append(Stray(path, f"no case reads it; a case that is a folder holds {known}"))
    for kind in (EXPECTED, PROBLEMS):
        for path in _files_in(os.path.join(folder, kind)):
            profile, ending = os.path.splitext(os.path.basename(path))
            if profile not in PROFILES or ending != ".yaml":
                search.strays.append(Stray(path, f"results are called PROFILE.yaml; profiles: {', '.join(PROFILES)}"))


def _add_file_cases(files: list[str], folders: tuple[str, ...], search: _Search) -> None:
    """Add the files that have, or lack, an expectation beside them; others are not for us."""
    folder, taken = folders[-1], dict[str, str]()
    expectations = {name for name in files if name.endswith(EXPECTED_ENDING)}
    for name in files:
        if name in expectations or name in (SETTINGS, FACTS, OBSERVED) or not name.lower().endswith(inputs.ENDINGS):
            continue
        path, expected = os.path.join(folder, name), _stem(name) + EXPECTED_ENDING
        if expected not in expectations and not _holds_resources(path):
            continue
        if other := taken.get(expected):
            search.strays.append(Stray(path, f"{other} has the same {expected}; give one of them another name"))
            continue
        taken[expected] = name
        case_name = _name(os.path.join(folder, _stem(name)), folders[0])
        search.cases.append(Case(case_name, path, folders, expected=os.path.join(folder, expected)))
    for name in sorted(expectations - taken.keys()):
        reason = f"there is no {name.removesuffix(EXPECTED_ENDING)}.yaml beside it"
        search.strays.append(Stray(os.path.join(folder, name), reason))


def _holds_resources(path: str) -> bool:
    """Whether the file at *path* holds something to render, or cannot be read, which its check will tell."""
    report = Report(io.StringIO())
    documents = inputs.documents(inputs.Source(path, named=False), QUIET, report)
    return any(True for _ in documents) or report.status != 0


def _are_results(files: Sequence[str]) -> bool:
    return bool(files) and all(_stem(name) in PROFILES for name in files)


def _stem(name: str) -> str:
    stem, ending = os.path.splitext(name)
    return stem if ending.lower() in inputs.ENDINGS else ""


def _name(path: str, directory: str) -> str:
    relative = os.path.relpath(path, directory)
    return os.path.basename(os.path.abspath(path)) if relative == "." else relative.replace(os.sep, "/")


def _files_in(folder: str) -> Iterator[str]:
    if os.path.isdir(folder):
        for name in sorted(os.listdir(folder)):
            if not name.startswith("."):
                yield os.path.join(folder, name)

"""What a case of a golden folder renders: its resources, and the settings, facts and live state that surround them.

Everything comes from files; flags and variables do not count, so that a case means the same to everybody.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dynamo_render.commandline import inputs, records
from dynamo_render.commandline.contract import Stopped
from dynamo_render.commandline.golden_cases import FACTS, OBSERVED, QUIET, SETTINGS, Case
from dynamo_render.commandline.messages import Report
from dynamo_render.commandline.records import RecordFile
from dynamo_render.errors import InvalidFacts, InvalidInput, InvalidSettings, Problem
from dynamo_render.facts import ClusterFacts
from dynamo_render.observed import Observed
from dynamo_render.profiles import PROFILES
from dynamo_render.settings import OperatorSettings
from dynamo_render.values import Value, frozen

_DELAYS = ("grove_termination_delay", "grove_termination_delay_seconds")


class Unusable(Exception):
    """A case cannot be rendered at all; str() says why, with positions."""


@frozen
class Content(Value):
    """What a case renders; *profile* is the one that its settings name, or empty."""

    resources: tuple[Any, ...]
    settings: OperatorSettings
    facts: ClusterFacts
    observed: Observed
    profile: str


def content(case: Case) -> Content:
    """Return what *case* renders; raises Unusable where a file is not readable or makes no sense."""
    stream = io.StringIO()
    report = Report(stream)
    try:
        found = _content(case, report)
    except Stopped:
        found = None
    if found is None or report.status:
        raise Unusable(stream.getvalue().rstrip("\n"))
    return found


def _content(case: Case, report: Report) -> Content:
    source = inputs.Source(case.input, named=case.results is not None)
    settings = _files(case, SETTINGS, report)
    return Content(
        resources=tuple(document.value for document in inputs.documents(source, QUIET, report)),
        settings=_structured(settings, _settings, report),
        facts=_structured(_files(case, FACTS, report), ClusterFacts.from_mapping, report),
        observed=_structured(_files(case, OBSERVED, report), _observed, report),
        profile=_joined(settings).get("profile", ""),
    )


def _settings(mapping: Mapping[str, Any]) -> OperatorSettings:
    settings = OperatorSettings.from_mapping(mapping)
    if settings.profile not in PROFILES:
        message = f'must be one of {", ".join(PROFILES)}, got "{settings.profile}"'
        raise InvalidSettings([Problem("settings/enum", ("profile",), message)])
    return settings


def _observed(mapping: Mapping[str, Any]) -> Observed:
    from dynamo_render.records import structured  # noqa: PLC0415 - loads the converter

    return structured(Observed, mapping, InvalidFacts)


def _files(case: Case, name: str, report: Report) -> list[RecordFile]:
    """Return the files called *name* that hold for *case*, the nearest last; raises Stopped as reading does.

    Live state holds for one resource, and so only for the case whose folder it stands in.
    """
    folders = case.folders if name != OBSERVED else case.folders[-1:] if case.results else ()
    paths = (os.path.join(folder, name) for folder in folders)
    return [records.read(path, name.removesuffix(".yaml"), QUIET, report) for path in paths if os.path.exists(path)]


def _joined(files: Sequence[RecordFile]) -> dict[str, Any]:
    """Return what *files* say together; a key of a nearer file takes the place of the same key of one further up."""
    joined: dict[str, Any] = {}
    for file in files:
        if any(name in file.mapping for name in _DELAYS):
            joined = {key: value for key, value in joined.items() if key not in _DELAYS}
        joined.update(file.mapping)
    return joined


def _structured(files: Sequence[RecordFile], structure: Callable[[Mapping[str, Any]], Any], report: Report) -> Any:
    """Return what *structure* makes of *files*; problems are reported where they stand, and then Stopped is raised."""
    try:
        return structure(_joined(files))
    except InvalidInput as error:
        for problem in error.problems:
            holders = [file for file in files if problem.path and problem.path[0] in file.mapping]
            (holders or list(files))[-1].report((problem,), report)
        raise Stopped from None

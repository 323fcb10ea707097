"""The cases in ``golden/``: what they hold, what they render to, which files they should have. Judges no result."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from dynamo_render import (
    ClusterFacts,
    InvalidFacts,
    InvalidResource,
    Observed,
    OperatorSettings,
    Problem,
    read_documents,
    render,
    write_documents,
)
from dynamo_render.errors import field_path
from dynamo_render.kube.text import write_document
from dynamo_render.profiles import PROFILES
from dynamo_render.records import structured

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "golden"
EXAMPLES = ROOT / "examples"
OPTIONAL_INPUTS = ("settings.yaml", "facts.yaml", "observed.yaml")


@attrs.frozen
class Outcome:
    """What a case leads to in one profile: the *file* that holds it, from the case's folder, and its *text*."""

    file: str
    text: str


@attrs.frozen
class Case:
    """A folder with an input and what surrounds it; *input_name* is the file of the custom resources."""

    folder: Path
    input_name: str = "input.yaml"

    @property
    def name(self) -> str:
        """The kind's folder and the case's own, as test ids show them."""
        return f"{self.folder.parent.name}/{self.folder.name}"

    def resources(self) -> list[dict[str, Any]]:
        """Return the custom resources of the case."""
        return _documents(self.folder / self.input_name)

    def settings(self, profile: str) -> OperatorSettings:
        """Return the settings of the case for one profile."""
        return OperatorSettings.from_mapping({**self._mapping("settings.yaml"), "profile": profile})

    def facts(self) -> ClusterFacts:
        """Return the facts of the case; without a file, those of a bare cluster."""
        return ClusterFacts.from_mapping(self._mapping("facts.yaml"))

    def observed(self) -> Observed:
        """Return the live state of the case; without a file, there is none."""
        return structured(Observed, self._mapping("observed.yaml"), InvalidFacts)

    def outcome(self, profile: str) -> Outcome:
        """Return the objects of the case as YAML, or the problems of the first resource that is refused."""
        settings, facts, observed = self.settings(profile), self.facts(), self.observed()
        objects: list[object] = []
        for resource in self.resources():
            try:
                objects += render(resource, settings=settings, facts=facts, observed=observed).objects
            except InvalidResource as refusal:
                errors = [_shown(problem) for problem in refusal.problems if problem.severity == "error"]
                return Outcome(f"problems/{profile}.yaml", write_document(errors))
        return Outcome(f"expected/{profile}.yaml", write_documents(objects))

    def _mapping(self, name: str) -> dict[str, Any]:
        path = self.folder / name
        return _documents(path)[0] if path.exists() else {}


def golden_cases() -> list[Case]:
    """Return the cases of ``golden/``, by name."""
    return [Case(path.parent) for path in sorted(GOLDEN.glob("*/*/input.yaml"))]


def examples() -> list[Case]:
    """Return the folders of ``examples/``, by name."""
    return [Case(path.parent, "graph.yaml") for path in sorted(EXAMPLES.glob("*/graph.yaml"))]


def stored_files() -> set[str]:
    """Return every file below the kinds' folders, from ``golden/``."""
    return {path.relative_to(GOLDEN).as_posix() for path in GOLDEN.glob("*/**/*") if path.is_file()}


def wanted_files() -> Iterator[str]:
    """Yield every file that the cases should have: their inputs, and one result for each profile."""
    for case in golden_cases():
        yield f"{case.name}/input.yaml"
        for name in OPTIONAL_INPUTS:
            if (case.folder / name).exists():
                yield f"{case.name}/{name}"
        for profile in PROFILES:
            yield f"{case.name}/{case.outcome(profile).file}"


def _documents(path: Path) -> list[dict[str, Any]]:
    return [document for document in read_documents(path.read_text("utf-8"), path.name) if isinstance(document, dict)]


def _shown(problem: Problem) -> dict[str, str]:
    shown = {"rule": problem.rule, "path": field_path(problem.path), "message": problem.message}
    return {**shown, "hint": problem.hint} if problem.hint else shown

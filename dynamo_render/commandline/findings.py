"""What a validation found, with positions, and its forms: text, JSON, JUnit, SARIF, commands of GitHub."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TextIO

import attrs

from dynamo_render.commandline.contract import FINDINGS, PROGRAM, UNUSABLE
from dynamo_render.commandline.messages import Path, Report, printable
from dynamo_render.errors import Problem, UnreadableInput, field_path
from dynamo_render.kube.text import Places
from dynamo_render.values import Value, frozen

UNREADABLE = "input/unreadable"

# Problems that are about a key, and not about what it is set to.
_ABOUT_KEYS = frozenset({"schema/unknown-field", "deprecated/removed-field"})
_ABOUT_SERVICES = "names/"


@frozen
class Finding(Value):
    """One problem in one file; *line* and *column* count from 1, and are None where nothing was read."""

    file: str
    line: int | None
    column: int | None
    rule: str
    severity: str
    path: str
    message: str
    hint: str | None

    @property
    def text(self) -> str:
        """The path and what is wrong with it."""
        return f"{self.path}: {self.message}" if self.path else self.message


@frozen
class Checked(Value):
    """One document that was looked at, or one that could not be, with its findings in the order of the text."""

    file: str
    name: str
    findings: tuple[Finding, ...]


class Collector(Report):
    """Keeps findings instead of writing them; notes and mistakes of the program are written as ever."""

    def __init__(self, stream: TextIO, *, strict: bool) -> None:
        """Write notes to *stream*; *strict* makes errors of warnings."""
        super().__init__(stream)
        self.checked: list[Checked] = []
        self._strict = strict

    def problems(self, source: str, found: Iterable[Problem], places: Places | None = None, prefix: Path = ()) -> None:
        """Keep problems that belong to no document."""
        self.document(source, "", found, places, prefix)

    def document(
        self, source: str, name: str, found: Iterable[Problem], places: Places | None = None, prefix: Path = ()
    ) -> None:
        """Keep what was found in the document *name* of *source*; *prefix* leads to it from the top of the text."""
        findings = [self._finding(source, problem, places, prefix) for problem in found]
        findings.sort(key=lambda finding: (finding.line or 0, finding.column or 0))
        self.checked.append(Checked(source, name, tuple(findings)))
        if any(finding.severity == "error" for finding in findings):
            self.raise_status(FINDINGS)

    def unreadable(self, error: UnreadableInput) -> None:
        """Keep a text that is no YAML or JSON."""
        self.unusable(error.source, UNREADABLE, error.message, None, (error.line, error.column))

    def unusable(
        self,
        source: str,
        rule: str,
        message: str,
        hint: str | None = None,
        position: tuple[int | None, int | None] = (None, None),
    ) -> None:
        """Keep what is wrong with a file as a whole."""
        finding = Finding(source, *position, rule, "error", "", message, hint)
        self.checked.append(Checked(source, "", (finding,)))
        self.raise_status(UNUSABLE)

    def _finding(self, source: str, problem: Problem, places: Places | None, prefix: Path) -> Finding:
        path = (*prefix, *problem.path)
        line, column = (None, None) if places is None else places.find(path, key=_is_about_key(problem))
        severity = "error" if self._strict else problem.severity
        return Finding(source, line, column, problem.rule, severity, field_path(path), problem.message, problem.hint)


def _is_about_key(problem: Problem) -> bool:
    return problem.rule in _ABOUT_KEYS or problem.rule.startswith(_ABOUT_SERVICES)


def written(form: str, checked: Sequence[Checked], stream: TextIO) -> None:
    """Write what was *checked* to *stream* in the *form* that is asked for."""
    _WRITERS[form](checked, stream)


def summary(checked: Sequence[Checked]) -> str:
    """Return one line that counts what was found."""
    findings = _all(checked)
    errors = sum(finding.severity == "error" for finding in findings)
    resources = sum(bool(item.name) for item in checked)
    parts = [_counted(errors, "error"), _counted(len(findings) - errors, "warning")]
    return f"{', '.join(parts)} in {_counted(resources, 'resource')}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _all(checked: Iterable[Checked]) -> list[Finding]:
    return [finding for item in checked for finding in item.findings]


def _text(checked: Sequence[Checked], stream: TextIO) -> None:
    for finding in _all(checked):
        position = ":".join(str(part) for part in (finding.file, finding.line, finding.column) if part is not None)
        mark = "warning: " if finding.severity == "warning" else ""
        stream.write(f"{printable(f'{position}: {mark}{finding.rule}: {finding.text}')}\n")
        if finding.hint:
            stream.write(f"    {printable(f'hint: {finding.hint}')}\n")


def _json(checked: Sequence[Checked], stream: TextIO) -> None:
    import json  # noqa: PLC0415 - only needed for JSON

    json.dump([attrs.asdict(finding) for finding in _all(checked)], stream, indent=2, ensure_ascii=False)
    stream.write("\n")


def _junit(checked: Sequence[Checked], stream: TextIO) -> None:
    from xml.etree import ElementTree as ET  # noqa: PLC0415 - only needed for XML, which is written and never read

    root = ET.Element("testsuites", name=PROGRAM)
    suites: dict[str, Any] = {}
    for item in checked:
        suite = suites.setdefault(item.file, None)
        if suite is None:
            suite = suites[item.file] = ET.SubElement(root, "testsuite", name=printable(item.file))
        case = ET.SubElement(suite, "testcase", classname=printable(item.file), name=printable(item.name or "document"))
        for finding in item.findings:
            _junit_finding(ET, case, finding)
    for suite in suites.values():
        cases = suite.findall("testcase")
        suite.set("tests", str(len(cases)))
        suite.set("failures", str(sum(case.find("failure") is not None for case in cases)))
        suite.set("errors", str(sum(case.find("error") is not None for case in cases)))
    ET.indent(root)
    stream.write(ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n")


def _junit_finding(module: Any, case: Any, finding: Finding) -> None:
    """Add a finding to the test case of its document; a warning is only told, as a case has no such verdict."""
    position = ":".join(str(part) for part in (finding.file, finding.line, finding.column) if part is not None)
    details = printable(f"{position}: {finding.rule}: {finding.text}")
    if finding.hint:
        details += printable(f" (hint: {finding.hint})")
    if finding.severity == "warning":
        told = case.find("system-out")
        told = module.SubElement(case, "system-out") if told is None else told
        told.text = f"{told.text or ''}warning: {details}\n"
        return
    verdict = "error" if finding.rule == UNREADABLE else "failure"
    entry = module.SubElement(case, verdict, message=printable(finding.text), type=finding.rule)
    entry.text = details


def _sarif(checked: Sequence[Checked], stream: TextIO) -> None:
    import json  # noqa: PLC0415 - only needed for JSON

    from dynamo_render import __version__, rules  # noqa: PLC0415 - the catalogue is needed here only

    findings = _all(checked)
    described = [_sarif_rule(name, rules.RULES.get(name)) for name in sorted({finding.rule for finding in findings})]
    driver = {"name": PROGRAM, "version": __version__, "rules": described}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": list(map(_sarif_result, findings))}
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    json.dump(log, stream, indent=2, ensure_ascii=False)
    stream.write("\n")


def _sarif_rule(name: str, rule: Any) -> dict[str, Any]:
    described: dict[str, Any] = {"id": name}
    if rule is not None:
        described["shortDescription"] = {"text": rule.sentence}
        described["defaultConfiguration"] = {"level": rule.severity}
    return described


def _sarif_result(finding: Finding) -> dict[str, Any]:
    from urllib.parse import quote  # noqa: PLC0415 - only needed for addresses

    message = f"{finding.text} ({finding.hint})" if finding.hint else finding.text
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(finding.file.replace("\\", "/"))}}
    if finding.line is not None:
        place["region"] = {"startLine": finding.line, "startColumn": finding.column or 1}
    location: dict[str, Any] = {"physicalLocation": place}
    if finding.path:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.path}]
    return {
        "ruleId": finding.rule,
        "level": finding.severity,
        "message": {"text": message},
        "locations": [location],
    }


def _github(checked: Sequence[Checked], stream: TextIO) -> None:
    for finding in _all(checked):
        properties = {"file": finding.file, "line": finding.line, "col": finding.column, "title": finding.rule}
        given = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items() if value is not None)
        text = f"{finding.text}\nhint: {finding.hint}" if finding.hint else finding.text
        stream.write(f"::{finding.severity} {given}::{_data(text)}\n")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


_WRITERS: Mapping[str, Callable[[Sequence[Checked], TextIO], None]] = {
    "text": _text,
    "json": _json,
    "junit": _junit,
    "sarif": _sarif,
    "github": _github,
}

FORMS = tuple(_WRITERS)

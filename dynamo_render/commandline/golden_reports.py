"""The forms in which verdicts on golden cases leave: text, JUnit XML, and annotations of GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from dynamo_render.commandline.differences import coloured
from dynamo_render.commandline.golden_verdicts import Finding, Verdict
from dynamo_render.commandline.messages import printable

FORMATS = ("text", "junit", "github")


class Form(Protocol):
    """Turns all verdicts of a run on *directory* into lines."""

    def __call__(self, directory: str, verdicts: Iterable[Verdict], *, colour: bool) -> Iterator[str]:
        """Yield lines without line breaks at their ends."""


def title(verdict: Verdict) -> str:
    """Return how a verdict is named: the case, and the profile in brackets."""
    return f"{verdict.case}[{verdict.profile}]" if verdict.profile else verdict.case


def text_of(finding: Finding, *, colour: bool = False) -> Iterator[str]:
    """Yield what is wrong with a file, and below it how it differs."""
    yield f"{printable(finding.path)}: {finding.kind}: {_lines_apart(finding.message)}"
    for line in finding.lines:
        yield coloured(line) if colour else line


def _text(directory: str, verdicts: Iterable[Verdict], *, colour: bool) -> Iterator[str]:  # noqa: ARG001 - a Form
    for verdict in verdicts:
        for finding in verdict.findings:
            yield from text_of(finding, colour=colour)


def _github(directory: str, verdicts: Iterable[Verdict], *, colour: bool) -> Iterator[str]:  # noqa: ARG001 - a Form
    for verdict in verdicts:
        for finding in verdict.findings:
            message = "\n".join((f"{finding.kind}: {finding.message}", *finding.lines))
            place = f"file={_property(finding.path)},title={_property(f'golden {title(verdict)}')}"
            yield f"::error {place}::{_data(message)}"


def _data(text: str) -> str:
    """Return *text* so that the runner takes it as one message."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _junit(directory: str, verdicts: Iterable[Verdict], *, colour: bool) -> Iterator[str]:  # noqa: ARG001 - a Form
    listed = list(verdicts)
    failed = sum(bool(verdict.findings) for verdict in listed)
    counts = f'tests="{len(listed)}" failures="{failed}" errors="0"'
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="dynamo-render golden" {counts}>'
    yield f"  <testsuite name={_attribute(directory)} {counts}>"
    for verdict in listed:
        head = f"    <testcase classname={_attribute(directory)} name={_attribute(title(verdict))}"
        if not verdict.findings:
            yield f"{head}/>"
            continue
        yield f"{head}>"
        yield _failure(verdict.findings)
        yield "    </testcase>"
    yield "  </testsuite>"
    yield "</testsuites>"


def _failure(findings: Sequence[Finding]) -> str:
    """Return the one failure that readers of this form look for, with the text of all *findings*."""
    kinds = _attribute(", ".join(dict.fromkeys(finding.kind for finding in findings)))
    message = _attribute("; ".join(f"{finding.path}: {finding.message}" for finding in findings))
    body = "\n".join(line for finding in findings for line in text_of(finding))
    return f"      <failure type={kinds} message={message}>{_escaped(body)}</failure>"


def _escaped(text: str) -> str:
    """Return *text* as XML; what XML has no form for is shown as Python would."""
    safe = "".join(one if one.isprintable() or one == "\n" else printable(one) for one in text)
    return safe.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _attribute(text: str) -> str:
    return '"' + _escaped(text).replace('"', "&quot;").replace("\n", "&#10;") + '"'


def _lines_apart(message: str) -> str:
    """Return a message of several lines with all of them below its head."""
    first, *others = (printable(line) for line in message.splitlines())
    return "\n".join((first, *(f"    {line}" for line in others)))


FORMS: Mapping[str, Form] = {"text": _text, "junit": _junit, "github": _github}

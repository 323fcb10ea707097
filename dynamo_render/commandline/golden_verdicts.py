"""What the cases of a golden folder render to, and whether that is what is stored; `updated` alone writes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from dynamo_render import pipeline, restarts
from dynamo_render.commandline import differences, golden_inputs
from dynamo_render.commandline.golden_cases import EXPECTED, PROBLEMS, Case, Found
from dynamo_render.commandline.golden_inputs import Content
from dynamo_render.errors import InvalidResource, MissingFacts, Problem, UnreadableInput, field_path
from dynamo_render.kube import text
from dynamo_render.profiles import PROFILES
from dynamo_render.values import Value, frozen

_OTHER = {EXPECTED: PROBLEMS, PROBLEMS: EXPECTED}


@frozen
class Outcome(Value):
    """What a case leads to in one profile: the *text* of the file of its *kind*, expected or problems."""

    kind: str
    text: str
    objects: tuple[Any, ...] = ()


@frozen
class Finding(Value):
    """What is wrong with one stored file, or with the one that should be there; *lines* show the difference."""

    path: str
    kind: str
    message: str
    lines: tuple[str, ...] = ()


@frozen
class Verdict(Value):
    """What came of one case in one profile; nothing is wrong without *findings*."""

    case: str
    profile: str
    findings: tuple[Finding, ...]


def verdicts(case: Case, profiles: Sequence[str] = ()) -> Iterator[Verdict]:
    """Yield what comes of *case* in every profile that it holds a result for, and in *profiles*. Writes nothing.

    A case that is a file holds one result: in the profile of its settings, or else in the first of *profiles*.
    """
    try:
        content = golden_inputs.content(case)
    except golden_inputs.Unusable as error:
        yield Verdict(case.name, "", (Finding(case.input, "unusable", str(error)),))
        return
    for profile in held_profiles(case, content, profiles):
        yield Verdict(case.name, profile, tuple(_findings(case, content, profile)))


def verdicts_on_strays(found: Found) -> Iterator[Verdict]:
    """Yield one verdict for every file that looks like a part of a case, and is none."""
    for stray in found.strays:
        yield Verdict(stray.path, "", (Finding(stray.path, "superfluous", stray.reason),))


def updated(case: Case, profiles: Sequence[str] = ()) -> Iterator[tuple[str, str] | Finding]:
    """Store what *case* renders to, in the profiles of `verdicts`; yield ``written`` or ``removed`` with each path.

    A finding is yielded instead where there is nothing to store.
    """
    try:
        content = golden_inputs.content(case)
        for profile in held_profiles(case, content, profiles):
            outcome = outcome_of(content, profile)
            if case.results is None and outcome.kind == PROBLEMS:
                yield _refused(case, outcome)
            else:
                yield from _store(case, profile, outcome)
    except golden_inputs.Unusable as error:
        yield Finding(case.input, "unusable", str(error))


def _store(case: Case, profile: str, outcome: Outcome) -> Iterator[tuple[str, str]]:
    path, other = case.file(outcome.kind, profile), case.file(_OTHER[outcome.kind], profile)
    if _stored(path) != outcome.text.encode():
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(outcome.text)
        yield "written", path
    if other != path and os.path.exists(other):
        os.remove(other)
        yield "removed", other


def held_profiles(case: Case, content: Content, profiles: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the profiles in which *case* has, or should have, a result."""
    own = content.profile or next(iter(profiles), content.settings.profile)
    if case.results is None:
        return (own,)
    stored = [name for name in PROFILES for kind in (EXPECTED, PROBLEMS) if os.path.exists(case.file(kind, name))]
    return tuple(dict.fromkeys((*stored, *profiles))) or (own,)


def outcome_of(content: Content, profile: str) -> Outcome:
    """Return what a case leads to in one profile: its objects, or what its resources are refused for.

    Raises Unusable where a fact is missing.
    """
    objects: list[Any] = []
    problems: list[Problem] = []
    settings = attrs.evolve(content.settings, profile=profile)
    for resource in content.resources:
        try:
            rendered = pipeline.render(resource, settings=settings, facts=content.facts, observed=content.observed)
            objects.extend(rendered.objects)
        except InvalidResource as refusal:
            problems.extend(refusal.problems)
        except MissingFacts as error:
            raise golden_inputs.Unusable(str(error)) from None
    if errors := [_shown(problem) for problem in problems if problem.severity == "error"]:
        return Outcome(PROBLEMS, text.write_document(errors))
    return Outcome(EXPECTED, text.write_documents(objects), tuple(objects))


def _shown(problem: Problem) -> dict[str, str]:
    shown = {"rule": problem.rule, "path": field_path(problem.path), "message": problem.message}
    return {**shown, "hint": problem.hint} if problem.hint else shown


def _findings(case: Case, content: Content, profile: str) -> Iterator[Finding]:
    try:
        outcome = outcome_of(content, profile)
    except golden_inputs.Unusable as error:
        yield Finding(case.input, "unusable", str(error))
        return
    if case.results is None and outcome.kind == PROBLEMS:
        yield _refused(case, outcome)
        return
    path, other = case.file(outcome.kind, profile), case.file(_OTHER[outcome.kind], profile)
    stored, has_other = _stored(path), other != path and os.path.exists(other)
    if stored is not None:
        yield from _difference(path, stored, outcome)
        if has_other:
            yield Finding(other, "superfluous", f"the case has {os.path.basename(os.path.dirname(path))} to hold")
    elif has_other:
        yield _turned(other, outcome)
    else:
        yield Finding(path, "missing", "is not there; look at what the case renders to, then run `golden update`")


def _refused(case: Case, outcome: Outcome) -> Finding:
    message = "only a case that is a folder can hold what it is refused for"
    return Finding(case.input, "refused", message, tuple(outcome.text.splitlines()))


def _turned(path: str, outcome: Outcome) -> Finding:
    if outcome.kind == PROBLEMS:
        return Finding(path, "differs", "the case is refused now", tuple(_added(outcome.text)))
    return Finding(path, "differs", f"the case was refused and renders to {len(outcome.objects)} objects now")


def _added(body: str) -> Iterator[str]:
    return (f"+{line}" for line in body.splitlines())


def _difference(path: str, stored: bytes, outcome: Outcome) -> Iterator[Finding]:
    """Yield how the stored file is not the outcome; line ends of another system are no difference."""
    old = stored.replace(b"\r\n", b"\n").decode("utf-8", "replace")
    if old == outcome.text:
        return
    if outcome.kind == EXPECTED:
        message, lines = _object_difference(path, stored, outcome)
        if lines:
            yield Finding(path, "differs", message, lines)
            return
    else:
        message = "the case is refused for something else"
    yield Finding(path, "differs", message, tuple(differences.text_lines(old, outcome.text, path, "rendered")))


def _object_difference(path: str, stored: bytes, outcome: Outcome) -> tuple[str, tuple[str, ...]]:
    """Return what differs by object and path; without lines where only the form, or the order, of objects differs."""
    try:
        documents: list[Any] = list(text.read_documents(stored, path))
        changes = restarts.object_changes(documents, outcome.objects)
    except UnreadableInput as error:
        return str(error), ()
    except (AttributeError, KeyError, TypeError):
        return "holds something that is no Kubernetes object", ()
    if not changes:
        return "holds the same objects in another order, or written in another way", ()
    return _counted(changes), tuple(differences.lines(changes))


def _counted(changes: Sequence[Any]) -> str:
    kinds = [change.kind for change in changes]
    counts = (f"{kinds.count(kind)} {kind}" for kind in ("changed", "added", "removed") if kind in kinds)
    return f"objects: {', '.join(counts)}"


def _stored(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None

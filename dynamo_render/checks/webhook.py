"""How the admission webhook chooses among problems: it stops early, and a refusal drops warnings. api.md 9.2."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from dynamo_render.errors import Problem

# Requests are told every refusal at once, with their warnings; models the first only.
_TOLD_WHOLE = "DGDR-"
_FAMILIES = ("SVC-", "DGD-", "DCD-", "DM-", _TOLD_WHOLE)


def stateless(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return those of *problems* that the webhook knows and would tell: the first group with a refusal, or warnings."""
    known = [problem for problem in problems if problem.rule.startswith(_FAMILIES)]
    refusals = [problem for problem in known if problem.severity == "error"]
    if not refusals or refusals[0].rule.startswith(_TOLD_WHOLE):
        return tuple(known)
    groups = [list(group) for _, group in itertools.groupby(sorted(refusals, key=_place), key=_group)]
    first = groups[0]
    # Of a service, and of a model, the webhook names the first rule of the specification's table.
    is_single = not first[0].rule.startswith("DGD-")
    return (min(first, key=lambda problem: problem.rule),) if is_single else tuple(first)


def verdict(before: tuple[Problem, ...], changes: Iterator[tuple[Problem, ...]]) -> tuple[Problem, ...]:
    """Return *before* if it refuses, else the first group of *changes* that does, else all warnings."""
    if any(problem.severity == "error" for problem in before):
        return before
    warnings = before
    for group in changes:
        if any(problem.severity == "error" for problem in group):
            return group
        warnings = (*warnings, *group)
    return warnings


def _group(problem: Problem) -> tuple[object, ...]:
    """Return what is told together: one claim, the restart, one service, or a resource that has none of these."""
    field = problem.path[1:2]
    if field == ("restart",):
        return problem.path[:2]
    return problem.path[:3] if field in {("pvcs",), ("services",)} else ()


def _place(problem: Problem) -> tuple[int, str, int]:
    """Sort as the webhook visits: the services as such, claims in their order, the restart, services by name."""
    field = problem.path[1] if problem.path[1:] else ""
    order = {"pvcs": 1, "restart": 2, "services": 3}.get(str(field), 0)
    step = problem.path[2] if order in {1, 3} and problem.path[2:] else ""
    if problem.rule == "DGD-V01":
        order = 0
    return (order, step, 0) if isinstance(step, str) else (order, "", step)

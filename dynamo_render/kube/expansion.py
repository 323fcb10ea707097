"""Variables of containers as the kubelet sees them: ``$(NAME)`` in commands, arguments and the environment.

Pure rules of Kubernetes. Where a value comes from at run time is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dynamo_render.kube.patterns import pattern
from dynamo_render.values import Value, frozen

_REFERENCE = pattern(r"\$(?:\$|\(([^)]*)\))")


@frozen
class Variable(Value):
    """One variable of a container; *value* is None where only the running cluster knows it, *source* says who does."""

    name: str
    value: str | None
    source: Mapping[str, Any] | None = None


def expanded(text: str, known: Mapping[str, str]) -> str:
    """Return *text* with the value of every ``$(NAME)`` that is known; ``$$`` stands for a dollar sign.

    References to other names stay as they are, and so does what only looks like a reference.
    """
    if "$" not in text:
        return text
    return _REFERENCE.sub(lambda found: "$" if found[1] is None else known.get(found[1], found[0]), text)


def variables(entries: Iterable[Mapping[str, Any]], fields: Mapping[str, str]) -> tuple[Variable, ...]:
    """Return the variables that the env *entries* of a container lead to, each name once, where it was set last.

    *fields* holds the values of field references that are known, by field path.
    """
    found: dict[str, Variable] = {}
    known: dict[str, str] = {}
    for entry in entries:
        variable = _variable(entry, known, fields)
        # The last entry of a name wins, but an entry sees only what stands above it.
        found.pop(variable.name, None)
        known.pop(variable.name, None)
        found[variable.name] = variable
        if variable.value is not None:
            known[variable.name] = variable.value
    return tuple(found.values())


def known_values(environment: Iterable[Variable]) -> dict[str, str]:
    """Return the values of the variables that have one, by name."""
    return {variable.name: variable.value for variable in environment if variable.value is not None}


def _variable(entry: Mapping[str, Any], known: Mapping[str, str], fields: Mapping[str, str]) -> Variable:
    value, source = entry.get("value"), entry.get("valueFrom")
    if value or not source:
        return Variable(entry["name"], expanded(value or "", known))
    path = source.get("fieldRef", {}).get("fieldPath")
    return Variable(entry["name"], fields.get(path), source)

"""DynamoModel: a model or an adapter that running components serve. Specification: controllers-other.md section 3.

A model leads to no objects. `machine` says what a pass over it calls and tells, `rules` what is refused; both are
loaded with the first model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dynamo_render.errors import Problem
from dynamo_render.facts import FactQuery
from dynamo_render.kinds.contract import Inputs, Kind, Reading
from dynamo_render.plans.graph import ResourcePlan
from dynamo_render.profiles import Profile


def _read(resource: Mapping[str, Any], profile: Profile) -> Reading:
    from dynamo_render.kinds.dynamo_model import rules  # noqa: PLC0415 - as above

    return rules.read(resource, profile)


def _updates(old: Reading, new: Reading, user: str) -> Iterator[tuple[Problem, ...]]:
    from dynamo_render.kinds.dynamo_model import rules  # noqa: PLC0415 - as above

    return rules.updates(old, new, user)


def _no_facts(_reading: Reading, _inputs: Inputs) -> FactQuery:
    return FactQuery()


def _no_objects(_reading: Reading, _inputs: Inputs, _problems: list[Problem]) -> ResourcePlan:
    return ResourcePlan(())


KIND = Kind(read=_read, needs=_no_facts, plan=_no_objects, update=_updates)

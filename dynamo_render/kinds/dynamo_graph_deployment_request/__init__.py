"""DynamoGraphDeploymentRequest: a model and targets, to be profiled and served. Specification: api.md section 6.

A request lives through stages, which are the business of `machine`; its plan is what a first pass makes. What is needed
for either is loaded with the first request.
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
    from dynamo_render.kinds.dynamo_graph_deployment_request import rules  # noqa: PLC0415 - as above

    return rules.read(resource, profile)


def _updates(old: Reading, new: Reading, user: str) -> Iterator[tuple[Problem, ...]]:
    from dynamo_render.kinds.dynamo_graph_deployment_request import rules  # noqa: PLC0415 - as above

    return rules.updates(old, new, user)


def _needed(reading: Reading, inputs: Inputs) -> FactQuery:
    from dynamo_render.kinds.dynamo_graph_deployment_request import plan  # noqa: PLC0415 - as above

    return plan.needed(reading, inputs)


def _planned(reading: Reading, inputs: Inputs, problems: list[Problem]) -> ResourcePlan:
    from dynamo_render.kinds.dynamo_graph_deployment_request import plan  # noqa: PLC0415 - as above

    return plan.planned(reading, inputs, problems)


KIND = Kind(read=_read, needs=_needed, plan=_planned, update=_updates)

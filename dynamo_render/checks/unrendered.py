"""Kinds without components: requests and models; and scaling adapters, which lead to no objects and no plan."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from dynamo_render.checks import models
from dynamo_render.errors import Problem
from dynamo_render.facts import FactQuery
from dynamo_render.kinds.contract import Inputs, Kind, Reading
from dynamo_render.kinds.dynamo_graph_deployment_request import rules as requests
from dynamo_render.kinds.shared import envelope
from dynamo_render.plans.graph import ResourcePlan
from dynamo_render.profiles import Profile
from dynamo_render.settings import OperatorSettings
from dynamo_render.spec.model import ModelSpec
from dynamo_render.spec.request import RequestSpec
from dynamo_render.spec.scaling_adapter import ScalingAdapterSpec


def problems(
    reading: Reading, settings: OperatorSettings, declared: Collection[tuple[str, str, str]]
) -> Iterator[Problem]:
    """Yield what is wrong with a resource of such a kind in what surrounds it."""
    if isinstance(reading.spec, RequestSpec):
        yield from requests.settings_problems(reading, settings)
        yield from requests.name_problems(reading)
    elif isinstance(reading.spec, ModelSpec):
        yield from models.served_problems(reading, declared)


def _no_rules(_spec: ScalingAdapterSpec, _profile: Profile) -> Iterator[Problem]:
    return iter(())


def _read_adapter(resource: Mapping[str, Any], profile: Profile) -> Reading:
    return envelope.read(resource, profile, ScalingAdapterSpec, _no_rules)


def _no_facts(_reading: Reading, _inputs: Inputs) -> FactQuery:
    return FactQuery()


def _no_plan(_reading: Reading, _inputs: Inputs, _problems: list[Problem]) -> ResourcePlan:
    return ResourcePlan(())


KINDS: Mapping[tuple[str, str], Kind] = {
    ("nvidia.com/v1alpha1", "DynamoGraphDeploymentScalingAdapter"): Kind(
        read=_read_adapter, needs=_no_facts, plan=_no_plan
    ),
}

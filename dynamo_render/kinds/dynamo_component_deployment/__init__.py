"""DynamoComponentDeployment: one component, written by a user or made from a graph. Specification: api.md section 5."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dynamo_render.errors import Problem
from dynamo_render.kinds.contract import Kind, Reading
from dynamo_render.kinds.dynamo_component_deployment import plan
from dynamo_render.kinds.shared import envelope
from dynamo_render.kinds.shared.component_rules import component_problems
from dynamo_render.kinds.shared.update_rules import backend_problems
from dynamo_render.profiles import Profile
from dynamo_render.spec.component import ComponentDeploymentSpec


def _problems(spec: ComponentDeploymentSpec, profile: Profile) -> Iterator[Problem]:
    return component_problems(spec, ("spec",), profile)


def _read(resource: Mapping[str, Any], profile: Profile) -> Reading:
    return envelope.read(resource, profile, ComponentDeploymentSpec, _problems)


def _update(old: Reading, new: Reading, user: str) -> Iterator[tuple[Problem, ...]]:  # noqa: ARG001 - the contract
    yield tuple(backend_problems("DCD-U01", old.spec.backend_framework, new.spec.backend_framework))


KIND = Kind(read=_read, needs=plan.needed, plan=plan.planned, update=_update)

"""What admission refuses in a DynamoModel, new or changed. Specification: api.md section 9.6."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dynamo_render.errors import Problem, field_path
from dynamo_render.kinds.contract import Reading
from dynamo_render.kinds.shared import envelope
from dynamo_render.profiles import Profile
from dynamo_render.spec.model import ModelSpec

LORA = "lora"
SCHEMES = ("s3://", "hf://")
"""Where adapters are loaded from; the engines know no other."""


def read(resource: Mapping[str, Any], profile: Profile) -> Reading:
    """Return a DynamoModel with everything that structure and admission find wrong with it."""
    return envelope.read(resource, profile, ModelSpec, _problems)


def updates(old: Reading, new: Reading, _user: str) -> Iterator[tuple[Problem, ...]]:
    """Yield the refusals of a change, in the groups in which admission evaluates them."""
    yield _unchanged("DM-U01", "modelType", old.spec.model_type, new.spec.model_type)
    yield _unchanged("DM-U02", "baseModelName", old.spec.base_model_name, new.spec.base_model_name)


def why_invalid(reading: Reading) -> str:
    """Return the first problem that stands in the way of a model, as its status tells it; empty without one."""
    errors = (problem for problem in reading.problems if problem.severity == "error")
    first = next(errors, None)
    if first is None:
        return ""
    subject = "source URI" if first.rule == "DM-V05" else field_path(first.path)
    return f"{subject} {first.message}"


def _problems(spec: ModelSpec, _profile: Profile) -> Iterator[Problem]:
    if spec.model_name == "":
        yield Problem("DM-V01", ("spec", "modelName"), "is required")
    if spec.base_model_name == "":
        yield Problem("DM-V02", ("spec", "baseModelName"), "is required")
    if spec.model_type != LORA:
        return
    if spec.source is None:
        hint = "give source.uri"
        yield Problem("DM-V03", ("spec", "source"), "is required when modelType is 'lora'", hint)
    elif not spec.source.uri:
        yield Problem("DM-V04", ("spec", "source", "uri"), "must be specified when modelType is 'lora'")
    elif not spec.source.uri.startswith(SCHEMES):
        message = f"must start with 's3://' or 'hf://', got: {spec.source.uri}"
        yield Problem("DM-V05", ("spec", "source", "uri"), message)


def _unchanged(rule: str, field: str, old: str, new: str) -> tuple[Problem, ...]:
    if old == new:
        return ()
    refusal = Problem(rule, ("spec", field), f'cannot be changed from "{old}" to "{new}"', "create another DynamoModel")
    message = "a change here leaves the endpoints of the old model behind"
    return refusal, Problem(rule.replace("-U", "-W"), ("spec", field), message, None, "warning")

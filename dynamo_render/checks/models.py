"""What admission refuses in a DynamoModel, and a base model that nobody serves. Specification: api.md 9.6."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from dynamo_render.errors import Problem
from dynamo_render.kinds.contract import Reading
from dynamo_render.kinds.shared import envelope
from dynamo_render.profiles import Profile
from dynamo_render.spec.model import ModelSpec

MODEL = "model"
_SCHEMES = ("s3://", "hf://")


def read(resource: Mapping[str, Any], profile: Profile) -> Reading:
    """Return a DynamoModel with everything that structure and admission find wrong with it."""
    return envelope.read(resource, profile, ModelSpec, _problems)


def updates(old: Reading, new: Reading, _user: str) -> Iterator[tuple[Problem, ...]]:
    """Yield the refusals of a change, in the groups in which admission evaluates them."""
    yield _unchanged("DM-U01", "modelType", old.spec.model_type, new.spec.model_type)
    yield _unchanged("DM-U02", "baseModelName", old.spec.base_model_name, new.spec.base_model_name)


def served_problems(reading: Reading, declared: Collection[tuple[str, str, str]]) -> Iterator[Problem]:
    """Yield a base model that no component in the same files serves."""
    base, namespace = reading.spec.base_model_name, reading.metadata.namespace or "default"
    served = {name for kind, where, name in declared if kind == MODEL and where in {"", namespace}}
    if base and base not in served:
        message = f'no component here serves "{base}"'
        hint = "set modelRef.name of the components that do, or validate their graph in the same call"
        yield Problem("sanity/model", ("spec", "baseModelName"), message, hint, "warning")


def _problems(spec: ModelSpec, _profile: Profile) -> Iterator[Problem]:
    if spec.model_name == "":
        yield Problem("DM-V01", ("spec", "modelName"), "is required")
    if spec.base_model_name == "":
        yield Problem("DM-V02", ("spec", "baseModelName"), "is required")
    if spec.model_type != "lora":
        return
    if spec.source is None:
        yield Problem("DM-V03", ("spec", "source"), "is required for modelType lora", "give source.uri")
    elif not spec.source.uri:
        yield Problem("DM-V04", ("spec", "source", "uri"), "is required for modelType lora")
    elif not spec.source.uri.startswith(_SCHEMES):
        message = f'must start with {" or ".join(_SCHEMES)} for modelType lora, got "{spec.source.uri}"'
        yield Problem("DM-V05", ("spec", "source", "uri"), message)


def _unchanged(rule: str, field: str, old: str, new: str) -> tuple[Problem, ...]:
    if old == new:
        return ()
    refusal = Problem(rule, ("spec", field), f'cannot be changed from "{old}" to "{new}"', "create another DynamoModel")
    message = "a change here leaves the endpoints of the old model behind"
    return refusal, Problem(rule.replace("-U", "-W"), ("spec", field), message, None, "warning")

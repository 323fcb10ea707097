"""A DynamoModel whose base model nobody serves. What else is wrong with one is `kinds.dynamo_model`'s to say."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from dynamo_render.errors import Problem
from dynamo_render.kinds.contract import Reading

MODEL = "model"


def served_problems(reading: Reading, declared: Collection[tuple[str, str, str]]) -> Iterator[Problem]:
    """Yield a base model that no component in the same files serves."""
    base, namespace = reading.spec.base_model_name, reading.metadata.namespace or "default"
    served = {name for kind, where, name in declared if kind == MODEL and where in {"", namespace}}
    if base and base not in served:
        message = f'no component here serves "{base}"'
        hint = "set modelRef.name of the components that do, or validate their graph in the same call"
        yield Problem("sanity/model", ("spec", "baseModelName"), message, hint, "warning")

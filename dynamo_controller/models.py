"""Which DynamoModels the pods of EndpointSlices can serve. Everything else about models is their state machine's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from dynamo_controller.ports import Kind, Object
from dynamo_controller.projection import MODEL_HASH_LABEL
from dynamo_controller.shell import Stores
from dynamo_render.kube import names

MODEL = Kind("nvidia.com/v1alpha1", "DynamoModel")

_hash = lru_cache(maxsize=4096)(names.model_hash)
"""Slices change often, and each change asks for the hashes of all base models of its namespace."""


def served_by(slices: Sequence[Object], stores: Stores) -> Iterator[Object]:
    """Yield the models whose base model the pods of one of the *slices*, all of one namespace, can serve."""
    hashes = {found["metadata"]["labels"][MODEL_HASH_LABEL] for found in slices}
    namespaces = {found["metadata"]["namespace"] for found in slices}
    for model in stores.all(MODEL):
        base = (model.get("spec") or {}).get("baseModelName")
        if model["metadata"]["namespace"] in namespaces and isinstance(base, str) and _hash(base) in hashes:
            yield model


def says_the_same(before: Object, now: Object) -> bool:
    """Whether two versions of a slice name the same pods in the same state, for the same models."""
    labels = [found["metadata"]["labels"] for found in (before, now)]
    return labels[0] == labels[1] and bool(before["endpoints"] == now["endpoints"])

"""Resources of our kinds to send to a server: examples, golden inputs, recorded public examples, and their components.

Every one is in the namespace `NAMESPACE`, so that a server needs no other.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator, Mapping
from typing import Any

from dynamo_render import ClusterFacts, InvalidResource, NamespaceFacts, render
from dynamo_render.rules import RULES
from dynamo_render.schemas.kinds import API_VERSION
from tests.conformance import comparison
from tests.golden.cases import examples, golden_cases

Json = dict[str, Any]

NAMESPACE = "default"

MAIN_KINDS = ("DynamoGraphDeployment", "DynamoComponentDeployment")
OTHER_KINDS = ("DynamoGraphDeploymentRequest", "DynamoModel", "DynamoGraphDeploymentScalingAdapter")

_WITHOUT_ADD_ONS = ClusterFacts(namespaces={NAMESPACE: NamespaceFacts()})


@functools.cache
def written() -> Mapping[str, tuple[Json, ...]]:
    """Return the resources of each kind, each once; fewer where the recordings are absent."""
    found: dict[str, dict[str, Json]] = {kind: {} for kind in (*MAIN_KINDS, *OTHER_KINDS)}
    for resource in _sources():
        if resource.get("kind") in found and resource.get("apiVersion") == API_VERSION:
            placed = in_namespace(resource)
            found[resource["kind"]][repr(placed)] = placed
    return {kind: tuple(resources.values()) for kind, resources in found.items()}


def in_namespace(resource: Json) -> Json:
    """Return a copy of *resource* in the namespace of these tests, without what its rules may not want to be told."""
    metadata = resource.get("metadata")
    placed = {**metadata, "namespace": NAMESPACE} if isinstance(metadata, dict) else metadata
    return copy.deepcopy({**resource, "metadata": placed})


def _sources() -> Iterator[Json]:
    graphs = [resource for case in (*examples(), *golden_cases()) for resource in case.resources()]
    graphs += [case.content["resource"] for case in comparison.cases() if case.source == "public-examples"]
    for graph in graphs:
        yield graph
        yield from _components_of(graph)
    for rule in RULES.values():
        yield from (example.resource() for example in (rule.accepts, rule.refuses))


def _components_of(graph: Json) -> Iterator[Json]:
    """Yield the resources of our kinds that a cluster without Grove gets for *graph*."""
    try:
        emitted = render(in_namespace(graph), facts=_WITHOUT_ADD_ONS).objects
    except InvalidResource:
        return
    for content in emitted:
        if content["apiVersion"] == API_VERSION:
            yield copy.deepcopy(content)

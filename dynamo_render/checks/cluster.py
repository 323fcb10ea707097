"""What a component needs of the cluster it goes to, by the facts that were given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dynamo_render.checks.parts import Part
from dynamo_render.errors import Problem
from dynamo_render.facts import ClusterFacts

POOL_GROUP = "inference.networking.k8s.io"


def cluster_problems(parts: Iterable[Part], facts: ClusterFacts) -> Iterator[Problem]:
    """Yield each endpoint picker in a cluster without the API that it works with."""
    if facts.has_inference_pool:
        return
    for part in parts:
        if part.spec.component_type == "epp":
            message = f"epp cannot be deployed: the cluster does not serve {POOL_GROUP}"
            hint = "install the Gateway API Inference Extension first"
            yield Problem("SVC-V05", (*part.path, "componentType"), message, hint)

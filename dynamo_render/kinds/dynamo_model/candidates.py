"""Which pods can serve a model, as EndpointSlices name them. Specification: controllers-other.md section 3.3.

The slices are given; nothing is looked up here. Whether a pod is ready plays no role, as in the released operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dynamo_render.kube.live import Object
from dynamo_render.values import Value, frozen

SYSTEM_PORT = 9090
"""The port that is called whatever a slice says."""

HASH_LABEL = "nvidia.com/dynamo-base-model-hash"
SERVICE_LABEL = "kubernetes.io/service-name"


@frozen
class Candidate(Value):
    """A pod that may serve the model: its *address* with scheme and port, and its name."""

    address: str
    pod: str


@frozen
class Discovery(Value):
    """What slices say: *candidates* in the order of calls, and how many *services* the slices belong to."""

    candidates: tuple[Candidate, ...]
    services: int


def discovered(slices: Iterable[Object]) -> Discovery:
    """Return the candidates of *slices*, by name of the slice, and the number of their services."""
    ordered = sorted(slices, key=lambda found: str(found["metadata"]["name"]))
    services = {(found["metadata"].get("labels") or {}).get(SERVICE_LABEL) for found in ordered}
    candidates = tuple(candidate for found in ordered for candidate in _of_slice(found))
    return Discovery(candidates, sum(1 for name in services if name))


def _of_slice(found: Object) -> Iterator[Candidate]:
    for endpoint in found.get("endpoints") or ():
        target = endpoint.get("targetRef") or {}
        if target.get("kind") == "Pod":
            for address in endpoint.get("addresses") or ():
                host = f"[{address}]" if ":" in address else address
                yield Candidate(f"http://{host}:{SYSTEM_PORT}", str(target.get("name") or ""))

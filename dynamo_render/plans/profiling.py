"""The profiling Job of a request, decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dynamo_render.values import Value, frozen


@frozen
class ModelCache(Value):
    """The claim that holds models, and where the profiler finds it."""

    claim: str
    mount_path: str


@frozen(kw_only=True)
class ProfilingJobPlan(Value):
    """One run of the profiler for the request called *request*, whose *uid* is known to a cluster only.

    *configuration* is the text that the profiler gets; *base* names ConfigMap and key of a graph to start from;
    *output_claim* is where results stay, a folder of the pod without one.
    """

    request: str
    namespace: str
    uid: str
    online: bool
    image: str
    configuration: str
    discovers_gpus: bool = False
    base: tuple[str, str] | None = None
    output_claim: str = ""
    model_cache: ModelCache | None = None
    resources: Mapping[str, Any] | None = None
    tolerations: tuple[Mapping[str, Any], ...] = ()

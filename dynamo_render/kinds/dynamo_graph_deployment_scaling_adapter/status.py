"""What a scaling adapter wants of its graph, and its own status. controllers-graph.md section 9.2."""

from __future__ import annotations

from typing import Any

from dynamo_render.kinds.shared.conditions import Status
from dynamo_render.kinds.shared.failures import Failure
from dynamo_render.kube import live
from dynamo_render.kube.live import Object
from dynamo_render.values import Value, frozen


@frozen(kw_only=True)
class ServiceScale(Value):
    """A change of the replicas of one service of a graph; equal counts are no change."""

    graph: str
    service: str
    before: int
    after: int

    @property
    def patch(self) -> dict[str, Any]:
        """The fields of the graph that the change sets."""
        return {"spec": {"services": {self.service: {"replicas": self.after}}}}

    @property
    def message(self) -> str:
        """What an event of reason ``Scaled`` says about it."""
        return f"Scaled service {self.service} from {self.before} to {self.after} replicas"


def wanted_scale(adapter: Object, graph: Object | None) -> ServiceScale | Failure | None:
    """Return how *adapter* wants to change *graph*, None where nothing is to do, or why it cannot.

    Adapters and graphs that are being deleted are left alone. The adapter owns the count: it wins over the graph's.
    """
    if live.is_being_deleted(adapter):
        return None
    target = adapter["spec"]["dgdRef"]
    name, service = target["name"], target["serviceName"]
    if graph is None:
        return Failure("error", f'DynamoGraphDeployment "{name}" not found')
    spec = ((graph.get("spec") or {}).get("services") or {}).get(service)
    if spec is None:
        return Failure("error", f'DynamoGraphDeployment "{name}" has no service "{service}"')
    before = 1 if spec.get("replicas") is None else int(spec["replicas"])
    after = int(adapter["spec"]["replicas"])
    if before == after or live.is_being_deleted(graph):
        return None
    return ServiceScale(graph=name, service=service, before=before, after=after)


def adapter_status(adapter: Object, scaled_at: str | None = None) -> Status:
    """Return the status of an adapter that has reached its graph; *scaled_at* is RFC 3339 text if it was changed."""
    target = adapter["spec"]["dgdRef"]
    labels = {
        "nvidia.com/dynamo-graph-deployment-name": target["name"],
        "nvidia.com/dynamo-component": target["serviceName"],
    }
    status: Status = {
        "replicas": int(adapter["spec"]["replicas"]),
        "selector": ",".join(f"{label}={value}" for label, value in labels.items()),
    }
    last = scaled_at or live.status(adapter).get("lastScaleTime")
    return {**status, "lastScaleTime": last} if last else status

"""The stage on which stories of requests are played: a cluster-wide controller, Jobs and profilers."""

from __future__ import annotations

import copy
from typing import Any

from tests.fakes.cluster import FakeCluster
from tests.fakes.stage import Stage
from tests.request_passes import output, request, role

Json = dict[str, Any]
REQUEST, GRAPH, JOB = "DynamoGraphDeploymentRequest", "DynamoGraphDeployment", "Job"
SETTINGS: dict[str, Any] = {"restricted_namespace": "", "profiling_cluster_role": "prof"}


def written(name: str = "tiny", **spec: Any) -> Json:
    """Return a request as its user writes it."""
    resource = request(name, **spec)
    resource["metadata"] = {"name": name, "namespace": "team"}
    return resource


class Requests(Stage):
    """A cluster-wide controller, and the parts that Jobs and profilers play."""

    def __init__(self, cluster: FakeCluster | None = None, **more: Any) -> None:
        super().__init__(cluster=cluster, **SETTINGS, **more)
        if cluster is None:
            self.cluster.put(copy.deepcopy(role()))

    async def profiled(self, left: Json | None, name: str = "tiny", end: str = "Complete", message: str = "") -> None:
        """Play the profiler: it leaves its output, if any, and its Job ends."""
        if left is not None:
            self.cluster.put(copy.deepcopy(left))
        status = {"conditions": [{"type": end, "status": "True", "message": message}]}
        self.cluster.set_status(self.cluster.find(JOB, f"profile-{name}"), status)
        await self.settle()

    def state(self, name: str = "tiny") -> str:
        return str(self.status(name, REQUEST).get("state", ""))

    def told(self, of: str, name: str = "tiny") -> tuple[str, str, str]:
        (found,) = [each for each in self.status(name, REQUEST)["conditions"] if each["type"] == of]
        return found["status"], found["reason"], found["message"]


async def deployed(stage: Requests) -> None:
    """Play a request to be deployed up to where its graph is created."""
    await stage.add(written(autoApply=True))
    await stage.later(1)
    await stage.profiled(output())
    await stage.later(1)

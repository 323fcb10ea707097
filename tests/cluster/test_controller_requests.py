"""The controller on a real cluster: requests, whose profiler is played by the test as its contract says.

The profiling pod asks for more GPUs than any node has and so never runs by itself; the test says how its containers
ended, as a kubelet would, and the real Job controller does the rest.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from dynamo_controller.ports import Object
from tests.cluster.bench import Bench
from tests.cluster.client import RefusedError
from tests.fakes import real
from tests.fakes.real import Running
from tests.request_passes import DATA, generated, output, request

Json = dict[str, Any]
OURS, REQUEST, GRAPH = "nvidia.com/v1alpha1", "DynamoGraphDeploymentRequest", "DynamoGraphDeployment"
ROLE = "profiling-of-tests"
FINISHED = {"phase": "Succeeded", "containerStatuses": []}
NO_GROVE = {"nvidia.com/enable-grove": "false"}


def written(namespace: str, name: str = "tiny", **spec: Any) -> Json:
    """Return a request as its user writes it, whose profiler fits on no node."""
    resource = request(name, **spec)
    resource["metadata"] = {"name": name, "namespace": namespace}
    resource["spec"]["profilingConfig"]["resources"] = {"limits": {"nvidia.com/gpu": "1000"}}
    return resource


class Requests:
    """Requests of one namespace."""

    def __init__(self, cluster: Bench, namespace: str) -> None:
        self.cluster = cluster
        self.namespace = namespace

    def get(self, kind: str, name: str, api_version: str = OURS) -> Json:
        return self.cluster.client.get(api_version, kind, name, self.namespace)

    def status(self, name: str = "tiny") -> Json:
        found: Json = self.get(REQUEST, name).get("status", {})
        return found

    def is_in(self, state: str, name: str = "tiny") -> Callable[[], bool]:
        return lambda: bool(self.status(name).get("state") == state)

    def told(self, of: str, name: str = "tiny") -> Json:
        return next((each for each in self.status(name).get("conditions", ()) if each["type"] == of), {})

    def tells(self, of: str, reason: str) -> Callable[[], bool]:
        return lambda: bool(self.told(of).get("reason") == reason)

    def pods(self, name: str = "tiny") -> list[Json]:
        listed = self.cluster.client.get("v1", "Pod", namespace=self.namespace)["items"]
        mine = [each for each in listed if each["metadata"].get("labels", {}).get("job-name") == f"profile-{name}"]
        return [{**each, "apiVersion": "v1", "kind": "Pod"} for each in mine]

    def leave(self, *objects: Json, name: str = "tiny") -> None:
        """Write the output of the profiler, as the second container of its pod does."""
        left = output(*objects, name=name)
        self.cluster.client.create({**left, "metadata": {**left["metadata"], "namespace": self.namespace}})

    def end(self, name: str = "tiny") -> None:
        """Let the containers of the profiling pod end well."""
        for pod in self.pods(name):
            self.cluster.client.patch_status(pod, FINISHED)


def graph_on_deployments() -> Json:
    return generated(annotations=NO_GROVE)


@contextlib.asynccontextmanager
async def playing(cluster: Bench, namespace: str, **settings: Any) -> AsyncIterator[tuple[Requests, Running]]:
    cluster.ensure_namespaces([namespace])
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": ROLE}}
    cluster.client.apply({**role, "rules": []})
    async with real.running(cluster.kubeconfig, profiling_cluster_role=ROLE, **settings) as at_work:
        yield Requests(cluster, namespace), at_work


async def profiled(requests: Requests, at_work: Running, *objects: Json, **spec: Any) -> None:
    """Come to the end of profiling."""
    requests.cluster.client.create(written(requests.namespace, **spec))
    await at_work.until(requests.pods)
    requests.leave(*objects)
    requests.end()


def test_a_request_comes_to_a_graph_that_serves_and_tells_when_it_does_not(cluster: Bench) -> None:
    async def story() -> None:
        async with playing(cluster, "requests-ready", profile="0.9-shipped") as (requests, at_work):
            overrides = {"name": "chat"}
            await profiled(
                requests, at_work, DATA, graph_on_deployments(), autoApply=True, deploymentOverrides=overrides
            )
            await at_work.until(requests.is_in("Ready"))
            assert requests.told("DeploymentReady")["message"] == "DynamoGraphDeployment chat is ready"
            assert requests.get("ConfigMap", "planner-profile-data", "v1")["data"] == DATA["data"]
            frontend = requests.status()["generatedDeployment"]["spec"]["services"]["Frontend"]
            assert frontend["extraPodSpec"]["containers"] is None

            graph = {"apiVersion": OURS, "kind": GRAPH, "metadata": {"name": "chat", "namespace": requests.namespace}}
            service = graph_on_deployments()["spec"]["services"]["Frontend"]
            too_large = {**service, "resources": {"limits": {"gpu": "1000"}}}
            cluster.client.apply({**graph, "spec": {"services": {"Frontend": too_large}}})
            await at_work.until(requests.tells("DeploymentReady", "DeploymentDegraded"))
            assert requests.status()["state"] == "Deploying"
            cluster.client.apply({**graph, "spec": {"services": {"Frontend": service}}})
            await at_work.until(requests.is_in("Ready"))

            cluster.client.delete(requests.get(GRAPH, "chat"))
            await at_work.until(requests.is_in("DeploymentDeleted"))
            await at_work.quiet()
            assert [each["reason"] for each in requests.status()["conditions"]][-1] == "DeploymentDeleted"

    asyncio.run(story())


def test_a_request_without_auto_apply_ends_with_its_graph_in_the_status_and_rests(cluster: Bench) -> None:
    async def story() -> None:
        async with playing(cluster, "requests-manual") as (requests, at_work):
            await profiled(requests, at_work)
            await at_work.until(requests.is_in("Ready"))
            assert requests.status()["generatedDeployment"] == generated()
            await at_work.quiet()
            before = list(at_work.cluster.writes)
            at_work.manager.wake_everything()
            await at_work.quiet()
            assert at_work.cluster.writes == before

    asyncio.run(story())


def test_a_job_that_is_deleted_by_hand_fails_its_request(cluster: Bench) -> None:
    async def story() -> None:
        async with playing(cluster, "requests-deleted-job") as (requests, at_work):
            cluster.client.create(written(requests.namespace))
            await at_work.until(requests.pods)
            cluster.client.delete(requests.get("Job", "profile-tiny", "batch/v1"))
            await at_work.until(requests.is_in("Failed"))
            assert requests.told("Profiling")["message"] == 'Job.batch "profile-tiny" not found'

    asyncio.run(story())


def test_output_that_is_late_or_too_large_fails_the_request_with_the_reason(cluster: Bench) -> None:
    async def story() -> None:
        async with playing(cluster, "requests-output") as (requests, at_work):
            cluster.client.create(written(requests.namespace, "late"))
            await at_work.until(lambda: requests.pods("late"))
            requests.end("late")
            await at_work.until(requests.is_in("Failed", "late"))
            requests.leave(name="late")
            await at_work.quiet()
            assert requests.status("late")["state"] == "Failed"
            assert "not found" in requests.told("SpecGenerated", "late")["message"]
            large = {**DATA, "data": {"a": "x" * 260_000}}
            await profiled(requests, at_work, large, generated())
            await at_work.until(requests.is_in("Failed"))
            assert "exceeds maximum annotation size" in requests.told("SpecGenerated")["message"]

    asyncio.run(story())


def test_a_name_that_the_server_takes_for_no_job_fails_the_request(cluster: Bench) -> None:
    async def story() -> None:
        async with playing(cluster, "requests-long-name") as (requests, at_work):
            name = "a" * 60
            cluster.client.create(written(requests.namespace, name))
            await at_work.until(requests.is_in("Failed", name))
            assert requests.told("Profiling", name)["reason"] == "JobCreationFailed"

    asyncio.run(story())


OWN_KINDS = (REQUEST, GRAPH, "Job", "ConfigMap", "ServiceAccount", "RoleBinding")


class DeathAt:
    """Lets *count* writes for requests through and then nothing at all, as if the process were gone."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.writes = 0
        self.has_come = False

    def __call__(self, _verb: str, target: Object) -> bool:
        self.has_come = self.has_come or (self.writes >= self.count and target["kind"] in OWN_KINDS)
        self.writes += target["kind"] in OWN_KINDS
        return self.has_come


def test_whichever_write_is_the_last_the_next_controller_comes_to_the_same_end(cluster: Bench) -> None:
    """Each life has a name of its own, so that no two of them meet."""

    def goes_on(requests: Requests, name: str) -> bool:
        """Play the profiler as soon as it runs, and say whether the request is ready."""
        running = [pod for pod in requests.pods(name) if pod["status"].get("phase") == "Pending"]
        if running:
            with contextlib.suppress(RefusedError):
                requests.leave(DATA, graph_on_deployments(), name=name)
            requests.end(name)
        return requests.is_in("Ready", name)()

    async def life(name: str, death: DeathAt) -> Json:
        """Return the status that a second controller leads to, after the first one's death."""
        async with playing(cluster, "requests-deaths") as (requests, first):
            first.cluster.is_dead = death
            cluster.client.create(written(requests.namespace, name, autoApply=True))
            await first.until(lambda: death.has_come or goes_on(requests, name))
        async with playing(cluster, "requests-deaths") as (requests, second):
            await second.until(lambda: goes_on(requests, name))
            return requests.status(name)

    def comparable(status: Json, name: str) -> Json:
        conditions = [{k: v for k, v in each.items() if k != "lastTransitionTime"} for each in status["conditions"]]
        masked: Json = json.loads(json.dumps({**status, "conditions": conditions}).replace(name, "NAME"))
        return masked

    async def story() -> None:
        whole = DeathAt(10**6)
        wanted = comparable(await life("whole", whole), "whole")
        assert whole.writes >= 8
        for index in range(whole.writes):
            told = await life(f"death-{index}", DeathAt(index))
            assert comparable(told, f"death-{index}") == wanted, f"after write {index}"

    asyncio.run(story())

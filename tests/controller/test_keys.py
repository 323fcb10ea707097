"""Stories of keys: those that MPI pods log in with, and those that components leave behind in etcd."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from dynamo_controller.ports import DiscoveryError
from tests.fakes.stage import Stage, graph, worker

Json = dict[str, Any]
GRAPH, COMPONENT = "DynamoGraphDeployment", "DynamoComponentDeployment"
NAME = "mpi-run-ssh-secret"
ETCD: Any = {"discovery_backend": "etcd"}


class FakeKeys:
    """Makes keys that can be told apart."""

    def __init__(self) -> None:
        self.made = 0

    async def ssh_key(self) -> Mapping[str, bytes]:
        self.made += 1
        return {"private.key": b"private %d" % self.made, "private.key.pub": b"public %d" % self.made}


class FakeDiscovery:
    """Remembers what was deleted; says *refusal* first as long as there is one."""

    def __init__(self, refusal: str = "") -> None:
        self.deleted: list[str] = []
        self.refusal = refusal

    async def delete_all(self, prefix: str) -> None:
        if self.refusal:
            raise DiscoveryError(self.refusal)
        self.deleted.append(prefix)


def mpi_graph(name: str = "chat") -> Json:
    container = {"image": "registry.test/trtllm:1", "command": ["python3", "-m", "dynamo.trtllm"]}
    extra = {"multinode": {"nodeCount": 2}, "extraPodSpec": {"mainContainer": container}}
    content = graph(name, Worker=worker(**{**extra, "resources": {"limits": {"gpu": "8"}}}))
    return {**content, "spec": {**content["spec"], "backendFramework": "trtllm"}}


def secret(stage: Stage) -> Json:
    return {name: base64.b64decode(text).decode() for name, text in stage.cluster.find("Secret", NAME)["data"].items()}


async def test_pods_that_log_in_with_a_key_get_one_where_there_is_none() -> None:
    async with Stage("grove.io", keys=FakeKeys()) as stage:
        await stage.add(mpi_graph())
        assert secret(stage) == {"private.key": "private 1", "private.key.pub": "public 1"}


async def test_all_graphs_of_a_namespace_keep_the_key_that_is_there() -> None:
    keys = FakeKeys()
    async with Stage("grove.io", keys=keys) as stage:
        stage.cluster.put(mpi_graph())
        await stage.add(mpi_graph("talk"))
        await stage.later(60)
        await stage.add(mpi_graph("later"))
        assert keys.made <= 2
        assert [write for write in stage.cluster.writes if write[1] == "Secret"] == [("create", "Secret", NAME)]


async def test_a_configured_key_is_copied_and_none_is_made() -> None:
    keys, data = FakeKeys(), {"private.key": base64.b64encode(b"theirs").decode()}
    theirs = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": NAME, "namespace": "system"},
        "type": "Opaque",
        "data": data,
    }
    settings: Any = {"restricted_namespace": "", "mpi_ssh_secret_namespace": "system"}
    async with Stage("grove.io", keys=keys, **settings) as stage:
        stage.cluster.put(theirs)
        await stage.add(mpi_graph())
        assert secret(stage) == {"private.key": "theirs"}
        assert keys.made == 0


async def test_a_graph_without_mpi_gets_no_key_made_in_any_profile() -> None:
    for profile in ("0.9", "0.9-shipped"):
        keys = FakeKeys()
        async with Stage("grove.io", keys=keys, profile=profile) as stage:
            await stage.add(graph())
            assert (keys.made, stage.cluster.names("Secret")) == (0, [])


async def test_the_keys_of_a_component_go_with_it_and_no_others() -> None:
    discovery = FakeDiscovery()
    async with Stage(discovery=discovery, **ETCD) as stage:
        await stage.add(graph())
        assert stage.cluster.find(COMPONENT, "chat-worker")["metadata"]["finalizers"] == ["nvidia.com/finalizer"]
        await stage.edit(GRAPH, "chat", {"spec": {"services": {"Worker": None}}})
        assert discovery.deleted == ["/team-chat/components/Worker/"]
        assert stage.cluster.names(COMPONENT) == ["chat-frontend"]


async def test_a_component_stays_until_its_keys_could_be_deleted() -> None:
    discovery = FakeDiscovery("etcd is away")
    async with Stage(discovery=discovery, **ETCD) as stage:
        await stage.add(graph())
        await stage.edit(GRAPH, "chat", {"spec": {"services": {"Worker": None}}})
        assert "chat-worker" in stage.cluster.names(COMPONENT)
        (told,) = [
            each["message"]
            for each in stage.status("chat-worker", COMPONENT)["conditions"]
            if each["type"] == "Available"
        ]
        assert "etcd is away" in told
        assert stage.event_reasons().count("FinalizerFailed") == 1
        discovery.refusal = ""
        await stage.later(300)
        assert stage.cluster.names(COMPONENT) == ["chat-frontend"]


async def test_without_keys_in_etcd_no_component_has_a_finalizer() -> None:
    async with Stage(discovery=FakeDiscovery()) as stage:
        await stage.add(graph())
        component = stage.cluster.find(COMPONENT, "chat-worker")
        assert "finalizers" not in component["metadata"]

"""Row F26 of the fault list: while the controller runs, the definition of its kind is replaced, on a real API server.

A version is added and becomes the one that is stored; a release knows fewer fields, or more; the definition goes and
comes back.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dynamo_render.schemas import definition, kinds
from tests.cluster import bench, processes
from tests.cluster.bench import DEFINITIONS, Bench
from tests.cluster.client import MERGE_PATCH, Json
from tests.cluster.conftest import require
from tests.fakes import real
from tests.fakes.stage import graph, worker

OURS, NEXT = "nvidia.com/v1alpha1", "nvidia.com/v1alpha2"
GRAPH, ADAPTER = "DynamoGraphDeployment", "DynamoGraphDeploymentScalingAdapter"
NAME = f"{DEFINITIONS}/dynamographdeployments.nvidia.com"
LIMIT = 45.0


@pytest.fixture
def server(request: pytest.FixtureRequest, bench_logs: Path, own_definitions: list[Json | str]) -> Iterator[Bench]:
    """An API server of the test's own, which nobody misses when its definitions are replaced."""
    require(bench.API_SERVER_PROGRAMS, request.config)
    folder = bench_logs / request.node.name[:80]
    folder.mkdir()
    with bench.api_server(folder, own_definitions) as started:
        started.ensure_namespaces(["team"])
        yield started


def replaced(server: Bench, change: Callable[[Json], None]) -> None:
    """Replace the definition of graphs by a changed one, and wait until it is served."""
    content = definition.custom_resource_definition(kinds.GRAPH_DEPLOYMENT)
    change(content["spec"])
    live = server.client.send("GET", NAME).body
    live["spec"] = content["spec"]
    answer = server.client.send("PUT", NAME, live)
    assert not answer.is_refusal, answer.message
    versions = {version["name"] for version in content["spec"]["versions"]}

    def is_served() -> bool:
        listed = [server.client.send("GET", f"/apis/nvidia.com/{version}") for version in versions]
        return all(any(each["kind"] == GRAPH for each in one.body.get("resources", ())) for one in listed)

    processes.wait_until(is_served, seconds=LIMIT, what="served definition")


def live_graph(server: Bench, api_version: str = OURS) -> Json:
    return server.client.get(api_version, GRAPH, "chat", "team")


def replicas(server: Bench) -> Any:
    listed = server.client.get(OURS, "DynamoComponentDeployment", namespace="team")["items"]
    return {each["metadata"]["name"]: each["spec"].get("replicas") for each in listed}.get("chat-worker")


def with_next_version(spec: Json) -> None:
    """Add a version with the same fields, which becomes the stored one."""
    (first,) = spec["versions"]
    spec["versions"] = [{**first, "storage": False}, {**copy.deepcopy(first), "name": "v1alpha2"}]
    spec["conversion"] = {"strategy": "None"}


def test_f26_a_version_that_is_added_and_stored_changes_nothing_and_loses_nothing(server: Bench) -> None:
    async def story() -> None:
        async with real.running(server.kubeconfig, "team") as at_work:
            server.client.create(graph(Worker=worker(replicas=2)))
            await at_work.until(lambda: replicas(server) == 2)
            await at_work.quiet()
            spec, writes = live_graph(server)["spec"], list(at_work.cluster.writes)
            await asyncio.to_thread(replaced, server, with_next_version)
            await at_work.quiet(seconds=3.0)
            assert at_work.cluster.writes == writes
            assert live_graph(server, NEXT)["spec"] == live_graph(server)["spec"] == spec
            path = server.client.path(NEXT, GRAPH, "chat", "team")
            change = {"spec": {"services": {"Worker": {"replicas": 3}}}}
            answer = server.client.send("PATCH", path, change, MERGE_PATCH)
            assert not answer.is_refusal, answer.message
            await at_work.until(lambda: replicas(server) == 3)

    asyncio.run(story())


def services_of(spec: Json) -> Json:
    found: Json = spec["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["services"]
    return found


def test_f26_a_field_that_a_release_does_not_know_outlives_it_where_nothing_has_to_be_written(server: Bench) -> None:
    """Any write, of a status too, would store the graph without the field: the server prunes what it writes."""

    def without_picker_configuration(spec: Json) -> None:
        del services_of(spec)["additionalProperties"]["properties"]["eppConfig"]

    def fields() -> Any:
        return live_graph(server)["spec"]["services"]["Worker"].keys()

    async def story() -> None:
        async with real.running(server.kubeconfig, "team") as at_work:
            server.client.create(graph(Worker=worker(eppConfig={"configMapRef": {"name": "c", "key": "k"}})))
            await at_work.until(lambda: replicas(server) == 1)
            await at_work.quiet()
            assert "eppConfig" in fields()
            writes = len(at_work.cluster.writes)
            await asyncio.to_thread(replaced, server, without_picker_configuration)
            await at_work.until(lambda: "eppConfig" not in fields())
            at_work.manager.wake_everything()
            await at_work.quiet(seconds=3.0)
            assert [write for write in at_work.cluster.writes[writes:] if write[1] == GRAPH] == []
            await asyncio.to_thread(replaced, server, lambda _spec: None)
            await at_work.until(lambda: "eppConfig" in fields())

    asyncio.run(story())


def test_f26_fields_of_a_later_release_are_kept_by_every_write(server: Bench) -> None:
    """The count of an adapter and the status are written into a graph with fields that we do not know."""

    def open_to_more(spec: Json) -> None:
        whole = spec["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
        whole["spec"]["x-kubernetes-preserve-unknown-fields"] = True
        services_of(spec)["additionalProperties"]["x-kubernetes-preserve-unknown-fields"] = True
        whole["status"]["x-kubernetes-preserve-unknown-fields"] = True

    later = {"later": {"deep": [1, {"a": None}]}}

    async def story() -> None:
        await asyncio.to_thread(replaced, server, open_to_more)
        content = graph(Worker=worker(scalingAdapter={"enabled": True}, later=later))
        content["spec"]["later"] = later

        def is_known() -> bool:
            return not server.client.verdict_on_create(content).is_refusal

        processes.wait_until(is_known, seconds=LIMIT, what="definition with more fields")
        made = server.client.create(content)
        server.client.patch_status(made, {"later": "kept"})
        kept = made["spec"]["later"]
        async with real.running(server.kubeconfig, "team") as at_work:
            await at_work.until(lambda: replicas(server) == 1)
            adapter = server.client.path(OURS, ADAPTER, "chat-worker", "team")
            scaled = {"spec": {"replicas": 3}}
            assert not server.client.send("PATCH", f"{adapter}/scale", scaled, MERGE_PATCH).is_refusal
            await at_work.until(lambda: live_graph(server)["spec"]["services"]["Worker"]["replicas"] == 3)
            await at_work.quiet()
            live = live_graph(server)
            assert (live["spec"]["later"], live["spec"]["services"]["Worker"]["later"]) == (kept, kept)
            assert live["status"]["later"] == "kept"
            assert live["status"]["conditions"]

    asyncio.run(story())


def test_f26_a_definition_that_goes_and_comes_back_is_watched_again(server: Bench) -> None:
    content = definition.custom_resource_definition(kinds.GRAPH_DEPLOYMENT)

    def gone() -> bool:
        return server.client.send("GET", NAME).status == 404

    async def story() -> None:
        async with real.running(server.kubeconfig, "team") as at_work:
            server.client.create(graph())
            await at_work.until(lambda: replicas(server) == 1)
            assert not server.client.send("DELETE", NAME).is_refusal
            await at_work.until(gone)
            await at_work.quiet(seconds=3.0)
            assert not server.client.send("POST", DEFINITIONS, content).is_refusal
            again = graph("again", Worker=worker(replicas=4))

            def is_there() -> bool:
                path = f"/apis/{OURS}/namespaces/team/dynamographdeployments"
                return server.client.send("POST", path, again).status in {201, 409}

            def is_served() -> bool:
                listed = server.client.get(OURS, "DynamoComponentDeployment", namespace="team")["items"]
                return "again-worker" in {each["metadata"]["name"] for each in listed}

            await at_work.until(is_there)
            await at_work.until(is_served, seconds=LIMIT)

    asyncio.run(story())

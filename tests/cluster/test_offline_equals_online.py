"""What a run leaves in a cluster is what `dynamo-render` says with the facts that `dynamo-controller facts` has told.

The server itself compares: applying an offline render under our name must lead to the object that is there, with the
same version. Graphs are the examples and a hundred random ones, each in a namespace of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings

from dynamo_controller import commands, ownership
from dynamo_controller.kinds import WATCHED
from dynamo_controller.ports import ClusterError, Kind, Selection
from dynamo_controller.store import controller_uid
from dynamo_render import (
    ClusterFacts,
    InvalidResource,
    MissingFacts,
    OperatorSettings,
    Rendered,
    read_documents,
    render,
)
from tests.cluster.bench import Bench
from tests.cluster.test_controller_examples import CLAIM, examples
from tests.fakes import real
from tests.fakes.real import Running
from tests.strategies import graphs

Json = dict[str, Any]
Place = tuple[str, str, str, str]
OURS, GRAPH = "nvidia.com/v1alpha1", "DynamoGraphDeployment"
COUNT = 100
CLAIMS = "PersistentVolumeClaim"
ONCE = {CLAIMS, "Secret"}
"""Kinds that are made where there is none and then left alone, so that facts which tell of them ask for none."""

REFUSED = {400, 422}
"""What a server answers to an object that its kind does not allow, with and without a schema's word for it."""
SETTINGS: Json = {
    "restricted_namespace": "",
    "planner_cluster_role": "offline-planner",
    "epp_cluster_role": "offline-epp",
    "mpi_ssh_secret_name": "offline-mpi",
    "mpi_ssh_secret_namespace": "offline-system",
    "ingress_class_name": "nginx",
    "ingress_host_suffix": "example.test",
}


def random_graphs() -> list[Json]:
    """Return more graphs than are needed, the same each time: a server refuses some."""
    found: list[Json] = []

    @settings(
        derandomize=True,
        max_examples=COUNT + COUNT // 4,
        database=None,
        phases=[Phase.generate],
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(graphs.graphs())
    def collect(content: Json) -> None:
        found.append(content)

    collect()
    return found


def on_either_path(content: Json, index: int) -> Json:
    """Return every second graph as one that Grove is not for."""
    if index % 2 == 0:
        return content
    annotations = {**content["metadata"].get("annotations", {}), "nvidia.com/enable-grove": "false"}
    return {**content, "metadata": {**content["metadata"], "annotations": annotations}}


def stored_graphs(server: Bench) -> Iterator[Json]:
    """Store every example and `COUNT` random graphs, with the claims that they expect, and yield them as stored."""
    listed = [("example", content) for content in examples("any", grove=True) if content["kind"] == GRAPH]
    listed += [("random", on_either_path(content, index)) for index, content in enumerate(random_graphs())]
    counts = {"example": 0, "random": 0}
    for sort, content in listed:
        namespace = f"offline-{sort}-{counts[sort]}"
        if counts[sort] == COUNT:
            return
        server.ensure_namespaces([namespace])
        made = {**content, "metadata": {**content["metadata"], "namespace": namespace}}
        path = server.client.path(OURS, GRAPH, namespace=namespace)
        for claim in content["spec"].get("pvcs") or ():
            metadata = {"name": claim.get("name"), "namespace": namespace}
            claims = server.client.path("v1", CLAIMS, namespace=namespace)
            server.client.send(
                "POST", claims, {"apiVersion": "v1", "kind": CLAIMS, "metadata": metadata, "spec": CLAIM}
            )
        answer = server.client.send("POST", path, made)
        if not answer.is_refusal:
            counts[sort] += 1
            yield answer.body
    assert counts["random"] == COUNT


def prepare(server: Bench) -> None:
    """Make what the settings speak of."""
    server.ensure_namespaces([SETTINGS["mpi_ssh_secret_namespace"]])
    for name in (SETTINGS["planner_cluster_role"], SETTINGS["epp_cluster_role"]):
        role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name}}
        server.client.apply({**role, "rules": []})
    metadata = {"name": SETTINGS["mpi_ssh_secret_name"], "namespace": SETTINGS["mpi_ssh_secret_namespace"]}
    server.client.apply({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"key": "a2V5"}})


def place(content: Any) -> Place:
    metadata = content["metadata"]
    return content["apiVersion"], content["kind"], metadata["namespace"], metadata["name"]


def test_what_a_run_leaves_in_the_cluster_is_what_an_offline_render_says(api_server: Bench) -> None:
    prepare(api_server)
    wanted = list(stored_graphs(api_server))
    assert len(wanted) >= COUNT + 8
    asyncio.run(compared(api_server, wanted))


async def compared(server: Bench, wanted: list[Json]) -> None:
    """Run the controller, write the facts file, and compare."""
    operator = OperatorSettings.from_mapping(
        {"nats_address": "nats://nats:4222", "etcd_address": "etcd:2379", **SETTINGS}
    )
    async with real.running(server.kubeconfig, **SETTINGS) as at_work:
        await at_work.quiet(seconds=3.0)
        (facts,) = read_documents(await commands.facts(at_work.manager._outside, operator))
        assert isinstance(facts, dict)
        around = ClusterFacts.from_mapping(facts)
        live = await everything(at_work)
        rendered: set[Place] = set()
        missing: set[Place] = set()
        refused = 0
        for content in wanted:
            where = content["metadata"]["name"], content["metadata"]["namespace"]
            state = server.client.get(OURS, GRAPH, *where)["status"]["state"]
            made = offline(content, operator, around)
            if made is None:
                refused += 1
                assert state == "failed", where
                continue
            absent = await differing(at_work, made, live)
            rendered |= {place(each) for each in made.objects}
            missing |= absent
            assert state != "failed" or absent, where
        mine = {where for where, each in live.items() if where[2].startswith("offline-") and is_made(each)}
        assert mine == {where for where in rendered - missing if where[1] not in ONCE}
        # Random graphs hold values that only a server can judge; where it refuses one, what came before is compared.
        assert COUNT - refused - len({where[2] for where in missing}) > COUNT // 3


async def differing(at_work: Running, made: Rendered, live: dict[Place, Json]) -> set[Place]:
    """Hold that objects in the cluster are as rendered, and return those that are not there: the server refuses one."""
    absent: set[Place] = set()
    refusals = []
    for each, owner in zip(made.objects, made.owners, strict=True):
        found = live.get((owner.api_version, owner.kind, each["metadata"]["namespace"], owner.name)) if owner else None
        owned = ownership.with_owner(each, maker_of(each, found, live)) if found else each
        if place(each) in live:
            await same(at_work, owned, live[place(each)])
            continue
        absent.add(place(each))
        try:
            await at_work.cluster.for_dry_runs().apply(owned, force=True)
        except ClusterError as error:
            refusals.append(error.status)
    assert not absent or REFUSED & set(refusals), absent
    return absent


def maker_of(each: Any, owner: Json, live: dict[Place, Json]) -> Json:
    """Return the component that has made an object: *owner*, or another of its graph.

    Components that serve one model share its Service, and whichever of them has its pass first makes it.
    """
    made = live.get(place(each), {"metadata": {}})
    reference = next(iter(made["metadata"].get("ownerReferences") or ()), {"apiVersion": "", "kind": "", "name": ""})
    named = (reference["apiVersion"], reference["kind"], owner["metadata"]["namespace"], reference["name"])
    other = live.get(named, owner)
    of_one_graph = controller_uid(other) and controller_uid(other) == controller_uid(owner)
    return other if each["kind"] == "Service" and of_one_graph else owner


def offline(content: Json, operator: OperatorSettings, around: ClusterFacts) -> Rendered | None:
    """Return what `dynamo-render` says; nothing where it refuses."""
    try:
        return render(content, settings=operator, facts=around)
    except (InvalidResource, MissingFacts):
        return None


def is_made(content: Json) -> bool:
    """Whether the controller has made an object and keeps it as it is rendered."""
    entries = content["metadata"].get("managedFields", ())
    is_ours = any(each["manager"] == "dynamo-controller" and each["operation"] == "Apply" for each in entries)
    return is_ours and content["kind"] not in ONCE


async def same(at_work: Running, wanted: Json, live: Json) -> None:
    """Apply *wanted* without storing it, and hold that this changes nothing."""
    if wanted["kind"] == CLAIMS:
        return
    applied = await at_work.cluster.for_dry_runs().apply(wanted, force=True)
    if _whole(applied) != _whole(live):
        # What failed is tried again, and then its status may be in other words: the server puts reasons in any order.
        kind, metadata = Kind(live["apiVersion"], live["kind"]), live["metadata"]
        live = await at_work.cluster.get(kind, metadata["namespace"], metadata["name"]) or live
        applied = await at_work.cluster.for_dry_runs().apply(wanted, force=True)
    assert _whole(applied) == _whole(live), place(live)


def _whole(content: Json) -> Json:
    return {**content, "metadata": _told(content)}


def _told(content: Json) -> Json:
    return {key: value for key, value in content["metadata"].items() if key != "managedFields"}


async def everything(at_work: Running) -> dict[Place, Json]:
    """Return every object of a kind that the controller watches, and Secrets."""
    kinds = {watched.kind for watched in WATCHED} | {Kind("v1", "Secret")}
    found: dict[Place, Json] = {}
    for kind in sorted(kinds, key=repr):
        page = await at_work.cluster.page(Selection(kind), limit=100_000)
        found |= {place(each): each for each in page.items if each["metadata"].get("namespace")}
    return found

"""The marker Lease: who writes it and how, and how a cluster-wide controller leaves marked namespaces alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from dynamo_controller.markers import NAME, Mark
from dynamo_controller.ports import ClusterError
from dynamo_controller.settings import ControllerSettings
from tests.fakes.cluster import FakeCluster
from tests.fakes.instance import Instance, World, world
from tests.fakes.stage import graph, worker

Json = dict[str, Any]
ALONE = ControllerSettings(operator_version="1.2.3")
GRAPH, COMPONENT = "DynamoGraphDeployment", "DynamoComponentDeployment"


def mark(renewed: str | None, *, duration: int | None = 30, namespace: str = "team", name: str = NAME) -> Json:
    spec: Json = {"holderIdentity": "namespace-restricted-operator-0.9.0"}
    if renewed is not None:
        spec["renewTime"] = f"2026-01-01T00:{renewed}.000000Z"
    if duration is not None:
        spec["leaseDurationSeconds"] = duration
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}


def spec_of_mark(cluster: FakeCluster) -> Mapping[str, Any]:
    spec: Mapping[str, Any] = cluster.find("Lease", NAME)["spec"]
    return spec


async def wide(here: World) -> Instance:
    """Start a cluster-wide process."""
    return await here.start("wide", ControllerSettings())


def services_of(name: str = "Decode") -> Json:
    return {"spec": {"services": {name: worker()}}}


# The restricted controller


async def test_a_restricted_controller_marks_its_namespace_and_the_mark_counts_at_once() -> None:
    async with world() as here:
        await here.start("restricted", ALONE, restricted_namespace="team")
        assert spec_of_mark(here.cluster) == {
            "holderIdentity": "namespace-restricted-operator-1.2.3",
            "leaseDurationSeconds": 30,
            "acquireTime": "2026-01-01T00:00:00.000000Z",
            "renewTime": "2026-01-01T00:00:00.000000Z",
        }


async def test_the_mark_is_renewed_every_interval_and_keeps_when_it_was_acquired() -> None:
    async with world() as here:
        await here.start("restricted", ALONE, restricted_namespace="team")
        await here.later(25)
        assert spec_of_mark(here.cluster)["renewTime"] == "2026-01-01T00:00:20.000000Z"
        assert spec_of_mark(here.cluster)["acquireTime"] == "2026-01-01T00:00:00.000000Z"


async def test_a_mark_of_an_earlier_process_is_taken_over() -> None:
    async with world() as here:
        here.cluster.put(mark(None))
        await here.start("restricted", ALONE, restricted_namespace="team")
        assert spec_of_mark(here.cluster)["holderIdentity"] == "namespace-restricted-operator-1.2.3"
        assert spec_of_mark(here.cluster)["renewTime"] == "2026-01-01T00:00:00.000000Z"
        assert "acquireTime" not in spec_of_mark(here.cluster)


async def test_a_mark_that_somebody_deletes_comes_back() -> None:
    async with world() as here:
        await here.start("restricted", ALONE, restricted_namespace="team")
        here.cluster.remove(here.cluster.find("Lease", NAME))
        await here.later(11)
        assert spec_of_mark(here.cluster)["renewTime"] == "2026-01-01T00:00:10.000000Z"


async def test_a_cluster_wide_controller_marks_nothing() -> None:
    async with world() as here:
        await wide(here)
        await here.later(30)
        assert here.cluster.names("Lease") == []


@pytest.mark.parametrize(
    ("duration", "interval", "expected"), [(30.0, 10.0, 25.0), (15.0, 10.0, 12.5), (60.0, 10.0, 55.0), (1.9, 0.5, 1.0)]
)
def test_a_mark_is_trusted_for_less_than_others_heed_it(duration: float, interval: float, expected: float) -> None:
    """Between the last attempt that may fail and the end, whose seconds are whole."""
    found = Mark("team", duration=duration, interval=interval).trusted
    assert found == expected
    assert found <= int(duration)


async def test_a_mark_that_cannot_be_renewed_stops_the_passes_before_others_begin_theirs() -> None:
    async with world() as here:
        only = await here.start("restricted", ALONE, restricted_namespace="team")

        def no_leases(_verb: str, target: Json) -> ClusterError | None:
            return ClusterError(0, "Unreachable", "no route") if target.get("kind") == "Lease" else None

        here.cluster.faults.append(no_leases)
        await here.later(29)
        here.cluster.put(graph())
        await here.later(3)
        assert here.cluster.names(COMPONENT) == []
        here.cluster.faults.clear()
        await here.later(10)
        assert here.cluster.names(COMPONENT) == ["chat-frontend", "chat-worker"]
        assert only.log.mistakes() == []


async def test_a_restricted_controller_sees_neither_marks_nor_the_word_ephemeral() -> None:
    async with world() as here:
        here.cluster.put(mark("00:00", namespace="ephemeral-team"))
        content = graph()
        content["metadata"]["namespace"] = "ephemeral-team"
        here.cluster.put(content)
        await here.start("restricted", ALONE, restricted_namespace="ephemeral-team")
        assert here.cluster.names(COMPONENT) == ["chat-frontend", "chat-worker"]


# The cluster-wide controller


async def test_a_marked_namespace_is_left_alone_and_others_are_not() -> None:
    async with world() as here:
        here.cluster.put(mark("00:00"))
        here.cluster.put(graph())
        other = graph("other")
        other["metadata"]["namespace"] = "elsewhere"
        here.cluster.put(other)
        instance = await wide(here)
        assert here.cluster.names(COMPONENT) == ["other-frontend", "other-worker"]
        assert instance.value("dynamo_controller_marked_namespaces") == 1


async def test_a_namespace_with_the_word_ephemeral_is_left_alone() -> None:
    async with world() as here:
        content = graph()
        content["metadata"]["namespace"] = "my-ephemeral-team"
        here.cluster.put(content)
        await wide(here)
        assert here.cluster.names(COMPONENT) == []


@pytest.mark.parametrize(
    "lease",
    [
        mark(None),
        mark("00:00", duration=None),
        mark("00:00", name="dynamo-operator-ns-lock"),
        mark("00:00", duration=-1),
    ],
    ids=["never renewed", "no duration", "another name", "expired"],
)
async def test_a_lease_that_is_no_mark_keeps_nobody_away(lease: Json) -> None:
    async with world() as here:
        here.cluster.put(lease)
        here.cluster.put(graph())
        await wide(here)
        assert here.cluster.names(COMPONENT) == ["chat-frontend", "chat-worker"]


async def test_a_mark_ends_strictly_after_its_duration_and_then_the_resources_are_taken_over() -> None:
    async with world() as here:
        here.cluster.put(mark("00:10"))
        here.cluster.put(graph())
        await wide(here)
        await here.later(40)
        assert here.cluster.names(COMPONENT) == []
        await here.later(0.5)
        assert here.cluster.names(COMPONENT) == ["chat-frontend", "chat-worker"]


async def test_a_mark_that_is_renewed_goes_on() -> None:
    async with world() as here:
        lease = here.cluster.put(mark("00:00"))
        here.cluster.put(graph())
        await wide(here)
        for second in ("10", "20", "30", "40"):
            await here.later(10)
            lease = here.cluster.edit(lease, {"spec": {"renewTime": f"2026-01-01T00:00:{second}.000000Z"}})
        await here.later(29)
        assert here.cluster.names(COMPONENT) == []
        await here.later(3)
        assert here.cluster.names(COMPONENT) == ["chat-frontend", "chat-worker"]


async def test_a_mark_from_the_far_future_is_a_mark() -> None:
    async with world() as here:
        lease = mark("00:00", duration=2**31 - 1)
        lease["spec"]["renewTime"] = "9999-12-31T23:59:59.999999Z"
        here.cluster.put(lease)
        here.cluster.put(graph())
        await wide(here)
        await here.later(60)
        assert here.cluster.names(COMPONENT) == []


async def test_resources_are_taken_over_when_a_mark_is_deleted() -> None:
    async with world() as here:
        lease = here.cluster.put(mark("00:00"))
        here.cluster.put(graph())
        await wide(here)
        here.cluster.remove(lease)
        await here.settle()
        assert here.cluster.names(COMPONENT) == ["chat-frontend", "chat-worker"]


async def test_a_namespace_that_is_marked_later_is_not_written_to_any_more() -> None:
    async with world() as here:
        here.cluster.put(graph())
        instance = await wide(here)
        here.cluster.put(mark("00:00"))
        await here.settle()
        here.cluster.writes.clear()
        here.cluster.edit(here.cluster.find(GRAPH, "chat"), services_of())
        await here.settle()
        assert [verb for verb, _kind, _name in here.cluster.writes] == ["edit"]
        counted = instance.value(
            "dynamo_operator_resources_total", resource_type=GRAPH, namespace="team", status="pending"
        )
        assert counted is None


async def test_a_mark_that_appears_in_the_middle_of_a_pass_ends_it() -> None:
    async with world() as here:
        instance = await wide(here)

        def marks(verb: str, target: Json) -> ClusterError | None:
            if verb == "apply" and target["kind"] == COMPONENT and not here.cluster.names("Lease"):
                here.cluster.put(mark("00:00"))
                instance.process.manager.marked.store.put(here.cluster.find("Lease", NAME))
            return None

        here.cluster.faults.append(marks)
        here.cluster.put(graph())
        await here.settle()
        assert here.cluster.names(COMPONENT) == ["chat-frontend"]


async def test_what_changed_in_a_marked_namespace_is_caught_up_with_when_the_mark_ends() -> None:
    async with world() as here:
        here.cluster.put(graph())
        await wide(here)
        lease = here.cluster.put(mark("00:00"))
        await here.settle()
        here.cluster.edit(here.cluster.find(GRAPH, "chat"), services_of())
        await here.settle()
        assert here.cluster.names(COMPONENT) == ["chat-frontend", "chat-worker"]
        here.cluster.remove(lease)
        await here.settle()
        assert "chat-decode" in here.cluster.names(COMPONENT)


async def test_nothing_is_written_before_the_marks_are_known() -> None:
    async with world() as here:
        words = 'leases is forbidden: cannot list resource "leases"'

        def no_leases(verb: str, target: Json) -> ClusterError | None:
            is_list = verb == "list" and target.get("kind") == "Lease"
            return ClusterError(403, "Forbidden", words) if is_list else None

        here.cluster.faults.append(no_leases)
        here.cluster.put(graph())
        instance = await wide(here)
        await here.later(30)
        assert here.cluster.names(COMPONENT) == []
        assert any(words in message for _level, message in instance.log.lines)
        here.cluster.faults.clear()
        await here.later(45)
        assert here.cluster.names(COMPONENT) == ["chat-frontend", "chat-worker"]


async def test_both_kinds_of_controllers_share_a_cluster_and_hand_a_namespace_over() -> None:
    async with world() as here:
        wide_one = await wide(here)
        own = await here.start("restricted", ALONE, restricted_namespace="team")
        here.cluster.put(graph())
        await here.later(60)
        made = "dynamo_controller_api_writes_total"
        assert own.value(made, verb="apply", kind=COMPONENT, result="ok") == 2
        assert wide_one.value(made, verb="apply", kind=COMPONENT, result="ok") is None
        await here.end(own)
        here.cluster.edit(here.cluster.find(GRAPH, "chat"), services_of())
        await here.settle()
        assert wide_one.value(made, verb="apply", kind=COMPONENT, result="ok") == 1

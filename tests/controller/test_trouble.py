"""Stories in which something is wrong: with what the user wrote, with what others own, or with the API server."""

from __future__ import annotations

import asyncio
from typing import Any

from dynamo_controller.ports import ClusterError
from tests.fakes.cluster import FakeCluster, Fault
from tests.fakes.stage import Stage, graph, worker

Json = dict[str, Any]
READY = ("True", "all_resources_are_ready")


def service(name: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "team"},
        "spec": {"ports": [{"name": "theirs", "port": 1}]},
    }


def failing(verb: str, kind: str, error: ClusterError, *, times: int) -> Fault:
    left = [times]

    def fault(asked: str, target: Json) -> ClusterError | None:
        if (asked, target.get("kind")) != (verb, kind) or left[0] == 0:
            return None
        left[0] -= 1
        return error

    return fault


async def test_an_invalid_graph_is_told_so_and_changes_nothing_until_it_is_mended() -> None:
    async with Stage() as stage:
        await stage.add(graph())
        await stage.roll_out()
        stage.cluster.writes.clear()
        bad = {"spec": {"services": {"Worker": {"replicas": -1}}}}
        await stage.edit("DynamoGraphDeployment", "chat", bad)
        assert stage.status()["state"] == "failed"
        assert stage.condition() == ("False", "ValidationFailed")
        assert stage.event_reasons().count("ValidationFailed") == 1
        assert {verb for verb, _kind, _name in stage.cluster.writes} == {"edit", "status"}
        await stage.later(600)
        assert stage.event_reasons().count("ValidationFailed") == 1
        await stage.edit("DynamoGraphDeployment", "chat", {"spec": {"services": {"Worker": {"replicas": 1}}}})
        assert stage.condition() == READY


async def test_services_of_an_invalid_graph_are_told_as_before() -> None:
    async with Stage() as stage:
        await stage.add(graph())
        await stage.roll_out()
        before = stage.status()["services"]
        await stage.edit("DynamoGraphDeployment", "chat", {"spec": {"services": {"Worker": {"replicas": -1}}}})
        assert stage.status()["services"] == before


async def test_an_object_of_somebody_else_is_left_alone_and_the_rest_is_made() -> None:
    async with Stage() as stage:
        theirs = await stage.add(service("chat-worker"))
        await stage.add(graph())
        assert stage.cluster.find("Service", "chat-worker") == theirs
        assert "chat-worker" in stage.cluster.names("Deployment")
        status = stage.status("chat-worker", "DynamoComponentDeployment")
        assert 'Service "chat-worker"' in status["conditions"][-1]["message"]
        assert "ForeignObject" in stage.event_reasons()


async def test_an_object_of_somebody_else_that_goes_away_is_replaced_after_a_while() -> None:
    async with Stage() as stage:
        await stage.add(service("chat-worker"))
        await stage.add(graph())
        await stage.remove("Service", "chat-worker")
        await stage.later(60)
        assert stage.cluster.find("Service", "chat-worker")["metadata"]["ownerReferences"]


async def test_children_of_an_earlier_graph_of_that_name_are_not_adopted() -> None:
    """Garbage collection takes them away; until then the new graph waits."""
    async with Stage() as stage:
        await stage.add(graph())
        old = stage.cluster.find("DynamoComponentDeployment", "chat-worker")
        del stage.cluster.objects[
            next(place for place in stage.cluster.objects if place[0].kind.endswith("GraphDeployment"))
        ]
        await stage.add(graph())
        live = stage.cluster.find("DynamoComponentDeployment", "chat-worker")
        assert live["metadata"]["ownerReferences"] == old["metadata"]["ownerReferences"]
        stage.cluster.remove(live)
        await stage.later(60)
        live = stage.cluster.find("DynamoComponentDeployment", "chat-worker")
        assert live["metadata"]["ownerReferences"] != old["metadata"]["ownerReferences"]


async def test_a_server_that_fails_for_a_while_delays_the_graph_and_no_more() -> None:
    async with Stage() as stage:
        error = ClusterError(503, "ServiceUnavailable", "try later", retry_after=5.0)
        stage.cluster.faults.append(failing("apply", "DynamoComponentDeployment", error, times=2))
        await stage.add(graph())
        assert stage.condition() == ("False", "failed_to_reconcile_the_resources")
        assert stage.cluster.names("DynamoComponentDeployment") == []
        await stage.later(4)
        assert stage.cluster.names("DynamoComponentDeployment") == []
        await stage.later(60)
        await stage.roll_out()
        assert stage.condition() == READY


async def test_a_conflict_is_tried_again_with_what_is_there_now() -> None:
    async with Stage() as stage:
        stage.cluster.faults.append(
            failing("status", "DynamoGraphDeployment", ClusterError(409, "Conflict", "changed"), times=3)
        )
        await stage.add(graph())
        await stage.later(30)
        await stage.roll_out()
        assert stage.condition() == READY


async def test_a_graph_that_always_fails_does_not_hold_up_another() -> None:
    async with Stage() as stage:

        def poison(verb: str, target: Json) -> ClusterError | None:
            is_poison = verb == "apply" and target["metadata"]["name"].startswith("bad")
            return ClusterError(500, "InternalError", "always") if is_poison else None

        stage.cluster.faults.append(poison)
        await stage.add(graph("bad"))
        await stage.add(graph("good"))
        await stage.roll_out()
        assert stage.condition("good") == READY
        attempts = len([line for line in stage.log.lines if "always" in line[1]])
        await stage.later(3600)
        more = len([line for line in stage.log.lines if "always" in line[1]]) - attempts
        assert 20 <= more <= 60
        assert stage.event_reasons().count("ReconcileError") == 1


async def test_a_verb_that_is_forbidden_is_named_in_the_status() -> None:
    async with Stage() as stage:
        words = 'services is forbidden: cannot patch resource "services"'
        stage.cluster.faults.append(failing("apply", "Service", ClusterError(403, "Forbidden", words), times=-1))
        await stage.add(graph())
        status = stage.status("chat-worker", "DynamoComponentDeployment")
        assert words in status["conditions"][-1]["message"]


async def test_nothing_is_tried_again_in_a_namespace_that_is_going_away() -> None:
    async with Stage() as stage:
        words = "unable to create new content in namespace team because it is being terminated"
        stage.cluster.faults.append(
            failing("apply", "DynamoComponentDeployment", ClusterError(403, "Forbidden", words), times=-1)
        )
        await stage.add(graph())
        lines = len(stage.log.lines)
        await stage.later(600)
        assert len(stage.log.lines) == lines


async def test_watches_that_expire_are_made_up_for() -> None:
    async with Stage() as stage:
        await stage.add(graph())
        await stage.roll_out()
        stage.cluster.writes.clear()
        stage.cluster.compact()
        stage.cluster.end_watches()
        await stage.later(60)
        assert stage.cluster.writes == []
        await stage.edit("DynamoGraphDeployment", "chat", {"spec": {"services": {"Decode": worker()}}})
        assert "chat-decode" in stage.cluster.names("Deployment")


async def test_a_child_that_disappears_while_no_watch_runs_is_made_again() -> None:
    async with Stage() as stage:
        await stage.add(graph())
        await stage.roll_out()
        del stage.cluster.objects[
            next(
                place for place in stage.cluster.objects if place[2] == "chat-worker" and place[0].kind == "Deployment"
            )
        ]
        stage.cluster.compact()
        stage.cluster.end_watches()
        await stage.later(60)
        assert "chat-worker" in stage.cluster.names("Deployment")


async def test_a_stop_in_the_middle_of_a_pass_lets_it_end_and_starts_no_other() -> None:
    async with Stage() as stage:
        ends: list[asyncio.Task[None]] = []

        def stop(verb: str, _target: Json) -> None:
            if verb == "apply" and not ends:
                ends.append(asyncio.create_task(stage.end()))

        stage.cluster.faults.append(stop)
        stage.cluster.put(graph())
        await stage.running
        assert stage.cluster.names("DynamoComponentDeployment") == ["chat-frontend", "chat-worker"]
        assert stage.status()["state"] == "pending"
        assert stage.cluster.names("Deployment") == []


class SlowAnswers(FakeCluster):
    """Answers an apply only after every watch has told of it."""

    async def apply(self, content: Any, *, force: bool) -> Json:
        stored = await super().apply(content, force=force)
        for _ in range(20):
            await asyncio.sleep(0)
        return stored


async def test_a_write_that_a_watch_tells_of_before_its_answer_comes_is_told_all_the_same() -> None:
    async with Stage(cluster=SlowAnswers()) as stage:
        await stage.add(graph())
        await stage.edit("DynamoGraphDeployment", "chat", {"spec": {"services": {"Worker": {"replicas": 2}}}})
        assert "UpdateDeployment" in stage.event_reasons()

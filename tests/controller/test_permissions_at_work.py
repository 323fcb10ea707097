"""F24: verbs that the account does not have. What needs them says so by name; the rest works."""

from __future__ import annotations

from typing import Any

from dynamo_controller.ports import ClusterError
from tests.fakes.cluster import Fault
from tests.fakes.stage import Stage, graph, worker

Json = dict[str, Any]
VERBS = {"apply": "patch", "list": "list", "get": "get", "watch": "watch", "create": "create"}


def forbidden(kind: str, *verbs: str) -> Fault:
    """Refuse requests for one kind as an API server does, with the verb and the resource."""

    def fault(verb: str, target: Json) -> ClusterError | None:
        if target.get("kind") != kind or verb not in verbs:
            return None
        resource = f"{kind.lower()}s"
        words = f'{resource} is forbidden: User "us" cannot {VERBS[verb]} resource "{resource}" in API group ""'
        return ClusterError(403, "Forbidden", words)

    return fault


async def test_a_kind_that_may_not_be_listed_does_not_hold_up_the_others() -> None:
    stage = Stage()
    stage.cluster.faults.append(forbidden("Ingress", "list", "watch"))
    async with stage:
        await stage.add(graph())
        await stage.roll_out()
        assert stage.status()["state"] == "successful"
        assert any('cannot list resource "ingresss"' in message for _level, message in stage.log.lines)


async def test_who_needs_secrets_that_may_not_be_listed_says_which_verb_is_missing() -> None:
    stage = Stage()
    stage.cluster.faults.append(forbidden("Secret", "list"))
    async with stage:
        await stage.add(graph())
        conditions = [
            *stage.status()["conditions"],
            *(
                condition
                for name in stage.cluster.names("DynamoComponentDeployment")
                for condition in stage.status(name, "DynamoComponentDeployment").get("conditions", ())
            ),
        ]
        assert any('cannot list resource "secrets"' in condition["message"] for condition in conditions)
        assert stage.cluster.names("Deployment") == []


async def test_secrets_that_may_be_listed_again_are_used_without_a_restart() -> None:
    stage = Stage()
    stage.cluster.faults.append(forbidden("Secret", "list"))
    async with stage:
        await stage.add(graph())
        stage.cluster.faults.clear()
        await stage.later(300)
        assert stage.cluster.names("Deployment") == ["chat-frontend", "chat-worker"]


async def test_a_right_that_is_taken_away_at_work_is_named_and_the_rest_goes_on() -> None:
    async with Stage() as stage:
        await stage.add(graph())
        await stage.roll_out()
        stage.cluster.faults.append(forbidden("Service", "apply", "get"))
        await stage.edit("DynamoGraphDeployment", "chat", {"spec": {"services": {"Decode": worker()}}})
        status = stage.status("chat-decode", "DynamoComponentDeployment")
        assert 'resource "services"' in status["conditions"][-1]["message"]
        assert "chat-decode" in stage.cluster.names("Deployment")
        await stage.edit("DynamoGraphDeployment", "chat", {"spec": {"services": {"Frontend": {"replicas": 3}}}})
        assert stage.cluster.find("Deployment", "chat-frontend")["spec"]["replicas"] == 3


async def test_a_right_that_is_missing_is_not_asked_for_in_a_circle() -> None:
    stage = Stage()
    asked: list[str] = []

    def count(verb: str, target: Json) -> ClusterError | None:
        error = forbidden("Ingress", "list")(verb, target)
        if error is not None:
            asked.append(verb)
        return error

    stage.cluster.faults.append(count)
    async with stage:
        await stage.later(600)
    assert 10 <= len(asked) <= 40

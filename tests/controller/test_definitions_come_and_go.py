"""F25: definitions of add-ons come and go while the controller runs; it is never restarted for that."""

from __future__ import annotations

from typing import Any

from dynamo_controller.ports import ClusterError
from tests.fakes.stage import Stage, graph

Json = dict[str, Any]
COMPONENT = "DynamoComponentDeployment"


def definition(name: str) -> Json:
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name}}


def uninstall(stage: Stage, group: str, crd: Json) -> None:
    """Take a definition away, and with it, as the API server does, all its objects."""
    stage.cluster.served.discard(group)
    for place in [place for place in stage.cluster.objects if place[0].group == group]:
        del stage.cluster.objects[place]
    stage.cluster.remove(crd)
    stage.cluster.end_watches()


async def with_grove() -> tuple[Stage, Json]:
    stage = Stage("grove.io")
    return stage, stage.cluster.put(definition("podcliquesets.grove.io"))


async def test_a_graph_moves_to_components_when_grove_is_removed() -> None:
    stage, crd = await with_grove()
    async with stage:
        await stage.add(graph())
        assert stage.cluster.names("PodCliqueSet") == ["chat"]
        uninstall(stage, "grove.io", crd)
        await stage.later(10)
        assert stage.cluster.names(COMPONENT) == ["chat-frontend", "chat-worker"]


async def test_what_is_gone_is_not_asked_for_in_a_circle() -> None:
    stage, crd = await with_grove()
    asked: list[str] = []

    def count(verb: str, target: Json) -> ClusterError | None:
        if target.get("apiVersion", "").startswith("grove.io"):
            asked.append(verb)
        return None

    async with stage:
        await stage.add(graph())
        uninstall(stage, "grove.io", crd)
        await stage.later(10)
        stage.cluster.faults.append(count)
        await stage.later(600)
        assert asked == []


async def test_an_addon_that_comes_back_is_used_again() -> None:
    stage, crd = await with_grove()
    async with stage:
        await stage.add(graph())
        uninstall(stage, "grove.io", crd)
        await stage.later(10)
        stage.cluster.served.add("grove.io")
        stage.cluster.put(definition("podcliquesets.grove.io"))
        await stage.later(10)
        assert stage.cluster.names("PodCliqueSet") == ["chat"]
        assert stage.cluster.names(COMPONENT) == []


async def test_definitions_of_our_own_kinds_may_come_after_the_controller() -> None:
    stage = Stage()
    stage.cluster.served.discard("nvidia.com")
    async with stage:
        await stage.later(60)
        stage.cluster.served.add("nvidia.com")
        stage.cluster.put(definition("dynamographdeployments.nvidia.com"))
        await stage.add(graph())
        await stage.later(60)
        assert stage.cluster.names(COMPONENT) == ["chat-frontend", "chat-worker"]

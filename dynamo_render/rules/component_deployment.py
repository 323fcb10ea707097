"""Rules for component deployments alone."""

from __future__ import annotations

from dynamo_render.rules.contract import Json, Rule, rule, warning

_OWNER: Json = {
    "apiVersion": "nvidia.com/v1alpha1",
    "kind": "DynamoGraphDeployment",
    "name": "chat",
    "uid": "6c0e8f4e-1d1b-4a55-9c1d-0f6f3c1f6a10",
}

RULES: tuple[Rule, ...] = (
    rule(
        "CTL-17",
        "A component deployment that a graph owns says in which Dynamo namespace it is: its Services select by it.",
        "api.md 9.7",
        base="component",
        bad={
            "metadata": {"ownerReferences": [_OWNER]},
            "spec": {"dynamoNamespace": None},
        },
        good={"metadata": {"ownerReferences": [_OWNER]}},
    ),
    rule(
        "DCD-U01",
        "The backend framework of a component deployment cannot be changed.",
        "api.md 9.4",
        base="component",
        old={"spec": {"backendFramework": "sglang"}},
        bad={},
        good={"spec": {"backendFramework": "sglang", "extraPodSpec": {"mainContainer": {"command": ["run"]}}}},
    ),
    warning(
        "DCD-W01",
        "Changing the backend framework of what runs may leave pods of both behind.",
        "api.md 9.4",
        base="component",
        old={"spec": {"backendFramework": "sglang"}},
        bad={},
        good={"spec": {"backendFramework": "sglang", "extraPodSpec": {"mainContainer": {"command": ["run"]}}}},
    ),
)

"""After the plan stage nothing reads the resource, the settings or the facts: a plan does not even hold them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import pytest

from dynamo_render import kinds
from dynamo_render.facts import ClusterFacts, NamespaceFacts
from dynamo_render.kinds.contract import Inputs
from dynamo_render.observed import Observed
from dynamo_render.profiles import PROFILES, Profile
from dynamo_render.scope import ComponentScope, GraphScope
from dynamo_render.settings import OperatorSettings

INPUTS = (GraphScope, ComponentScope, OperatorSettings, ClusterFacts, NamespaceFacts, Observed, Profile)

GRAPH = {
    "apiVersion": "nvidia.com/v1alpha1",
    "kind": "DynamoGraphDeployment",
    "metadata": {"name": "g", "namespace": "n"},
    "spec": {
        "envs": [{"name": "A", "value": "b"}],
        "pvcs": [
            {"name": "c", "create": True, "size": "1Gi", "storageClass": "s", "volumeAccessMode": "ReadWriteMany"}
        ],
        "services": {
            "Frontend": {"componentType": "frontend", "extraPodSpec": {"mainContainer": {"image": "i"}}},
            "Epp": {
                "componentType": "epp",
                "eppConfig": {"config": {"plugins": [{"type": "t"}], "schedulingProfiles": []}},
                "extraPodSpec": {"mainContainer": {"image": "i"}},
            },
            "Decode": {
                "componentType": "decode",
                "multinode": {"nodeCount": 2},
                "resources": {"limits": {"gpu": "8"}},
                "modelRef": {"name": "m"},
                "scalingAdapter": {"enabled": True},
                "volumeMounts": [{"name": "c", "mountPoint": "/c"}],
                "extraPodSpec": {"mainContainer": {"image": "i", "args": ["python3 -m dynamo.sglang"]}},
            },
        },
    },
}
ADD_ONS = {
    "grove": ["grove.io"],
    "component": ["leaderworkerset.x-k8s.io", "scheduling.volcano.sh"],
}


def reachable(value: Any) -> Iterator[Any]:
    """Yield *value* and everything that its fields, entries and items hold."""
    yield value
    if isinstance(value, Mapping):
        parts: list[Any] = list(value.values())
    elif isinstance(value, list | tuple | set | frozenset):
        parts = list(value)
    elif attrs.has(type(value)):
        parts = [getattr(value, field.name) for field in attrs.fields(type(value))]
    else:
        parts = []
    for part in parts:
        yield from reachable(part)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("pathway", ADD_ONS)
def test_no_plan_holds_an_input_of_the_plan_stage(profile: str, pathway: str) -> None:
    kind = kinds.KINDS["nvidia.com/v1alpha1", "DynamoGraphDeployment"]
    settings = OperatorSettings(profile=profile, planner_cluster_role="p", epp_cluster_role="e")
    inputs = Inputs(
        settings=settings,
        facts=ClusterFacts(api_groups=frozenset(ADD_ONS[pathway])),
        profile=PROFILES[profile],
        observed=Observed(),
    )
    plan = kind.plan(kind.read(GRAPH, inputs.profile), inputs, [])
    held = {type(value) for value in reachable(plan)}
    assert len(plan.steps) > 5
    assert not held.intersection(INPUTS)
    assert not {found for found in held if found.__module__.startswith("dynamo_render.spec")}

"""The rows of rendering.md section 20: LeaderWorkerSets and PodGroups."""

from __future__ import annotations

from typing import Any

import pytest

from tests.small import (
    BOTH,
    DOCUMENTED,
    LEADER_WORKER_SET,
    Json,
    graph,
    names,
    of_kind,
    problems,
    rendered,
    service,
    worker,
)

IDENTITY = {
    "nvidia.com/dynamo-component": "It",
    "nvidia.com/dynamo-namespace": "team-a-demo",
    "nvidia.com/dynamo-graph-deployment-name": "demo",
}


def spread(**fields: Any) -> Json:
    return worker("sglang", **{"multinode": {"nodeCount": 3}, "resources": {"limits": {"gpu": "8"}}, **fields})


def sets(written: Json, profile: str, kind: str = "LeaderWorkerSet") -> list[Json]:
    return of_kind(rendered(graph(It=written), profile, facts=LEADER_WORKER_SET), kind)


@BOTH
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({}, ["demo-it-0"], id="20-replicas-unset"),
        pytest.param({"replicas": 0}, [], id="20-replicas-zero"),
        pytest.param({"replicas": 2}, ["demo-it-0", "demo-it-1"], id="20-replicas"),
    ],
)
@pytest.mark.parametrize("kind", ["LeaderWorkerSet", "PodGroup"])
def test_one_set_and_one_group_per_replica(profile: str, kind: str, given: Json, expected: list[str]) -> None:
    assert [found["metadata"]["name"] for found in sets(spread(**given), profile, kind)] == expected


@BOTH
def test_20_pod_group(profile: str) -> None:
    (found,) = sets(spread(), profile, "PodGroup")
    assert (found["apiVersion"], found["spec"]) == ("scheduling.volcano.sh/v1beta1", {"minMember": 3})
    assert found["metadata"]["labels"]["instance-id"] == "0"


@BOTH
def test_20_leader_worker_set(profile: str) -> None:
    found = sets(spread(replicas=2), profile)[1]
    assert found["apiVersion"] == "leaderworkerset.x-k8s.io/v1"
    assert (found["spec"]["replicas"], found["spec"]["startupPolicy"]) == (1, "LeaderCreated")
    assert found["spec"]["leaderWorkerTemplate"]["size"] == 3
    assert found["metadata"]["labels"] == {**IDENTITY, "instance-id": "1"}
    assert "annotations" not in found["metadata"]


@BOTH
@pytest.mark.parametrize("role", ["leader", "worker"], ids="20-{}".format)
def test_templates(profile: str, role: str) -> None:
    own = {"labels": {"own": "x", "role": "mine", "instance-id": "9"}, "annotations": {"note": "y"}}
    (found,) = sets(spread(extraPodMetadata=own), profile)
    template = found["spec"]["leaderWorkerTemplate"][f"{role}Template"]
    assert template["metadata"]["labels"] == {
        **IDENTITY,
        "nvidia.com/dynamo-component-type": "worker",
        "nvidia.com/metrics-enabled": "true",
        "own": "x",
        "role": role,
        "instance-id": "0",
    }
    assert template["metadata"]["annotations"] == {"note": "y", "scheduling.k8s.io/group-name": "demo-it-0"}


@BOTH
def test_20_scheduler_of_the_user_is_overridden(profile: str) -> None:
    (found,) = sets(spread(pod={"schedulerName": "mine"}), profile)
    assert found["spec"]["leaderWorkerTemplate"]["leaderTemplate"]["spec"]["schedulerName"] == "volcano"


AT = "spec.services.It"


@BOTH
@pytest.mark.parametrize(
    ("written", "expected"),
    [
        pytest.param(
            spread(main={"name": "other", "args": ["x"]}),
            [("CTL-15", f"{AT}.extraPodSpec.mainContainer.name")],
            id="20-check-main-container",
        ),
        pytest.param(
            service("epp-like", multinode={}, resources={"limits": {"gpu": "1"}}),
            [("CTL-15", f"{AT}.extraPodSpec.mainContainer.args")],
            id="20-check-args",
        ),
        pytest.param(
            spread(resources={"requests": {"gpu": "1"}}),
            [("CTL-16", f"{AT}.resources.limits.gpu")],
            id="20-check-gpu-limit",
        ),
    ],
)
def test_checks(profile: str, written: Json, expected: list[tuple[str, str]]) -> None:
    assert problems(graph(It=written), profile, facts=LEADER_WORKER_SET) == expected


def test_20_check_command() -> None:
    """Only an explicit empty command leaves the container without one, and only where an explicit zero wins."""
    written = graph(It=spread(main={"command": [], "args": ["x"]}))
    found = problems(written, DOCUMENTED, facts=LEADER_WORKER_SET)
    assert found == [("CTL-15", f"{AT}.extraPodSpec.mainContainer.command")]


@BOTH
def test_20_checks_run_after_the_launch_is_put_together(profile: str) -> None:
    """TensorRT-LLM gives its workers a script of their own."""
    bare = service("worker", multinode={}, resources={"limits": {"gpu": "1"}})
    resource = graph(spec={"backendFramework": "trtllm"}, It=bare)
    assert names(rendered(resource, profile, facts=LEADER_WORKER_SET), "LeaderWorkerSet") == ["demo-it-0"]

"""When a live workload is ready, and how it is counted: controllers-graph.md 11 and 12.4, row by row."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_render.workloads import WORKLOADS, component_resource, deployment, leader_worker_set, pod_clique_set

AVAILABLE = {"type": "Available", "status": "True"}


def live(spec: dict[str, Any], status: dict[str, Any], generation: int = 2) -> dict[str, Any]:
    return {"metadata": {"name": "w", "generation": generation}, "spec": spec, "status": status}


def row(case: str, spec: dict[str, Any], status: dict[str, Any], reason: str) -> Any:
    return pytest.param(spec, status, reason, id=case)


DEPLOYED = {
    "observedGeneration": 2,
    "replicas": 2,
    "updatedReplicas": 2,
    "readyReplicas": 2,
    "availableReplicas": 2,
    "conditions": [AVAILABLE],
}


@pytest.mark.parametrize(
    ("spec", "status", "reason"),
    [
        row("11.1/2 paused", {"replicas": 2, "paused": True}, DEPLOYED, "rollouts are paused"),
        row("11.1/3 zero", {"replicas": 0}, {}, ""),
        row("11.1/3 absent is one", {}, DEPLOYED, "desired=1, replicas=2"),
        row(
            "11.1/4 generation",
            {"replicas": 2},
            {**DEPLOYED, "observedGeneration": 1},
            "spec not yet processed: generation=2, observedGeneration=1",
        ),
        row("11.1/4 no status", {"replicas": 2}, {}, "observedGeneration is nil"),
        row("11.1/5 updated", {"replicas": 2}, {**DEPLOYED, "updatedReplicas": 1}, "desired=2, updated=1"),
        row("11.1/6 available", {"replicas": 2}, {**DEPLOYED, "availableReplicas": 1}, "desired=2, available=1"),
        row("11.1/7 surge", {"replicas": 2}, {**DEPLOYED, "replicas": 3}, "desired=2, replicas=3"),
        row("11.1/8 condition", {"replicas": 2}, {**DEPLOYED, "conditions": []}, "Available condition not true"),
        row("11.1 ready", {"replicas": 2}, DEPLOYED, ""),
    ],
)
def test_a_deployment_is_ready_when_no_row_fails(spec: dict[str, Any], status: dict[str, Any], reason: str) -> None:
    assert deployment.readiness("w", live(spec, status)).reason == reason


def test_a_missing_deployment_is_not_ready_and_counts_zeros() -> None:
    """11.1/1 and 11.6."""
    judged = deployment.readiness("w", None)
    assert (judged.ready, judged.reason) == (False, "resource not found")
    assert judged.service == {
        "componentKind": "Deployment",
        "componentName": "w",
        "replicas": 0,
        "updatedReplicas": 0,
        "readyReplicas": 0,
        "availableReplicas": 0,
    }


GROUPED = {"replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "conditions": [AVAILABLE]}


@pytest.mark.parametrize(
    ("spec", "status", "reason"),
    [
        row("11.2 zero", {"replicas": 0}, {}, ""),
        row("11.2 ready", {"replicas": 1}, GROUPED, ""),
        row("11.2 not ready", {"replicas": 1}, {**GROUPED, "readyReplicas": 0}, "desired=1, ready=0"),
        row("11.2 no condition", {"replicas": 1}, {**GROUPED, "conditions": []}, "Available condition not true"),
        row("decisions updated", {"replicas": 1}, {**GROUPED, "updatedReplicas": 0}, "desired=1, updated=0"),
        row(
            "decisions generation",
            {"replicas": 1},
            {**GROUPED, "observedGeneration": 1},
            "spec not yet processed: generation=2, observedGeneration=1",
        ),
    ],
)
def test_a_leader_worker_set_is_ready_when_its_groups_are_up_to_date_and_serve(
    spec: dict[str, Any], status: dict[str, Any], reason: str
) -> None:
    assert leader_worker_set.readiness("w", live(spec, status)).reason == reason


def test_leader_worker_sets_of_one_component_are_counted_together_under_the_first_name() -> None:
    """12.4."""
    sets = [
        leader_worker_set.readiness("c-0", live({"replicas": 1}, GROUPED)),
        leader_worker_set.readiness("c-1", None),
    ]
    joined = leader_worker_set.joined(sets)
    assert not joined.ready
    assert joined.service == {
        "componentKind": "LeaderWorkerSet",
        "componentName": "c-0",
        "replicas": 1,
        "updatedReplicas": 1,
        "readyReplicas": 1,
    }


def test_no_leader_worker_sets_are_ready_and_have_nothing_to_count() -> None:
    """12.4."""
    joined = leader_worker_set.joined([])
    assert (joined.ready, joined.service) == (True, None)


CLIQUE = {"observedGeneration": 2, "replicas": 3, "updatedReplicas": 3, "readyReplicas": 3, "availableReplicas": 3}


@pytest.mark.parametrize(
    ("replicas", "status", "clique_reason", "group_reason"),
    [
        pytest.param(3, {}, "observedGeneration is nil", "observedGeneration is nil", id="11.3/3"),
        pytest.param(
            3,
            {**CLIQUE, "observedGeneration": 1},
            "spec not yet processed: generation=2, observedGeneration=1",
            "spec not yet processed: generation=2, observedGeneration=1",
            id="11.3/4",
        ),
        pytest.param(0, {"observedGeneration": 2}, "", "", id="11.3/5"),
        pytest.param(3, {**CLIQUE, "readyReplicas": 2}, "desired=3, ready=2", "", id="11.3/6"),
        pytest.param(3, {**CLIQUE, "availableReplicas": 2}, "", "desired=3, available=2", id="11.3/6'"),
        pytest.param(3, {**CLIQUE, "updatedReplicas": 1}, "desired=3, updated=1", "desired=3, updated=1", id="11.3/7"),
        pytest.param(
            3,
            {**CLIQUE, "replicas": 4},
            "performing rolling update: desired=3, replicas=4",
            "performing rolling update: desired=3, replicas=4",
            id="11.3/8",
        ),
        pytest.param(3, CLIQUE, "", "", id="11.3/9"),
        pytest.param(4, CLIQUE, "desired=4, ready=3", "desired=4, available=3", id="11.3 too few"),
    ],
)
def test_children_of_a_pod_clique_set_are_judged_by_their_own_counts(
    replicas: int, status: dict[str, Any], clique_reason: str, group_reason: str
) -> None:
    found = live({"replicas": replicas}, status)
    assert pod_clique_set.clique_readiness("w", found).reason == clique_reason
    assert pod_clique_set.scaling_group_readiness("w", found).reason == group_reason


def test_a_missing_clique_is_counted_under_its_name_without_replicas_that_serve() -> None:
    """11.3/1, 12.4 and 18.5."""
    judged = pod_clique_set.clique_readiness("g-0-frontend", None)
    assert judged.reason == "resource not found"
    assert judged.service == {
        "componentKind": "PodClique",
        "componentName": "g-0-frontend",
        "replicas": 0,
        "updatedReplicas": 0,
    }


def test_a_clique_counts_ready_replicas_and_a_scaling_group_available_ones() -> None:
    """12.4; a count that was never written is zero."""
    found = live({"replicas": 3}, {"observedGeneration": 2})
    clique, group = pod_clique_set.clique_readiness("w", found), pod_clique_set.scaling_group_readiness("w", found)
    assert clique.service == {
        "componentKind": "PodClique",
        "componentName": "w",
        "replicas": 0,
        "updatedReplicas": 0,
        "readyReplicas": 0,
    }
    assert group.service == {
        "componentKind": "PodCliqueScalingGroup",
        "componentName": "w",
        "replicas": 0,
        "updatedReplicas": 0,
        "availableReplicas": 0,
    }


NOT_AVAILABLE = "Component deployment not ready - Available condition not true"


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        pytest.param({}, NOT_AVAILABLE, id="11.6 created"),
        pytest.param(
            {"observedGeneration": 2, "conditions": [{"type": "Available", "status": "False"}]},
            NOT_AVAILABLE,
            id="11.5 not available",
        ),
        pytest.param({"observedGeneration": 2, "conditions": [AVAILABLE]}, "", id="11.5 available"),
        pytest.param(
            {"observedGeneration": 1, "conditions": [AVAILABLE]},
            "spec not yet processed: generation=2, observedGeneration=1",
            id="decisions generation",
        ),
        pytest.param({"conditions": [AVAILABLE]}, "observedGeneration is nil", id="decisions no generation"),
    ],
)
def test_a_component_deployment_is_ready_by_its_own_word_about_its_present_spec(
    status: dict[str, Any], reason: str
) -> None:
    assert component_resource.readiness("w", live({}, status)).reason == reason


def test_a_missing_component_deployment_is_not_ready_and_has_nothing_to_count() -> None:
    judged = component_resource.readiness("w", None)
    assert (judged.reason, judged.service) == (NOT_AVAILABLE, None)


def test_every_workload_kind_can_be_judged() -> None:
    """A PodCliqueSet is judged by its children; what became of a profiling Job is for its request to say."""
    assert [name for name, entry in WORKLOADS.items() if entry.readiness is None] == [
        "pod_clique_set",
        "profiling_job",
    ]

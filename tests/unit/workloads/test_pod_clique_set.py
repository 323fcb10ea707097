from __future__ import annotations

from typing import Any

from dynamo_render.plans.workload import CliquePlan, PodCliqueSetPlan, ScalingGroupPlan
from dynamo_render.workloads.pod_clique_set import POD_CLIQUE_SET, addressing
from tests.scopes import component_scope, pod_plan


def clique(name: str, role: Any = "main", replicas: int = 1, *, after: tuple[str, ...] = ()) -> CliquePlan:
    return CliquePlan(
        name=name, role=role, replicas=replicas, labels={}, annotations={}, starts_after=after, pod=pod_plan()
    )


def build(*cliques: CliquePlan, groups: tuple[ScalingGroupPlan, ...] = (), delay: str | None = None) -> dict[str, Any]:
    plan = PodCliqueSetPlan(name="demo", namespace="team-a", termination_delay=delay, cliques=cliques, groups=groups)
    (made,) = POD_CLIQUE_SET.build(plan)
    return made


def test_a_dependency_makes_the_startup_explicit() -> None:
    def startup(made: dict[str, Any]) -> object:
        return made["spec"]["template"]["cliqueStartupType"]

    assert startup(build(clique("a"))) == "CliqueStartupTypeAnyOrder"
    assert startup(build(clique("a", after=("b",)), clique("b"))) == "CliqueStartupTypeExplicit"


def test_what_is_empty_is_left_out() -> None:
    made = build(clique("a"))
    assert set(made["spec"]["template"]) == {"cliqueStartupType", "headlessServiceConfig", "cliques"}
    assert set(made["spec"]["template"]["cliques"][0]) == {"name", "spec"}


def test_cliques_and_groups_keep_their_order() -> None:
    group = ScalingGroupPlan(name="w", cliques=("w-ldr", "w-wkr"), replicas=None)
    made = build(clique("w-ldr", "leader"), clique("a"), groups=(group,), delay="1s")["spec"]["template"]
    assert [found["name"] for found in made["cliques"]] == ["w-ldr", "a"]
    assert made["podCliqueScalingGroups"] == [{"name": "w", "cliqueNames": ["w-ldr", "w-wkr"], "minAvailable": 1}]
    assert made["terminationDelay"] == "1s"


def test_every_rank_of_a_replica_is_a_pod() -> None:
    group = ScalingGroupPlan(name="w", cliques=("w-ldr", "w-wkr"), replicas=2)
    made = build(clique("w-ldr", "leader"), clique("w-wkr", "worker", 2), clique("a", replicas=3), groups=(group,))
    assert POD_CLIQUE_SET.pods is not None
    found = [(pod.name, pod.role, pod.rank) for pod in POD_CLIQUE_SET.pods(made)]
    assert found == [
        ("demo-0-w-0-w-ldr-0", "leader", 0),
        ("demo-0-w-0-w-wkr-0", "worker", 1),
        ("demo-0-w-0-w-wkr-1", "worker", 2),
        ("demo-0-a-0", "main", 0),
    ]


def test_addresses_are_composed_of_the_variables_that_grove_sets() -> None:
    found = addressing(component_scope({"multinode": {"nodeCount": 3}}))
    pod = "$(GROVE_PCSG_NAME)-$(GROVE_PCSG_INDEX)-it-{}.$(GROVE_HEADLESS_SERVICE)"
    assert found.hosts == tuple(map(pod.format, ("ldr-0", "wkr-0", "wkr-1")))
    assert (found.leader, found.rank) == (found.hosts[0], "$((GROVE_PCLQ_POD_INDEX + 1))")
    assert found.needs_shell
    assert not found.waits_for_names

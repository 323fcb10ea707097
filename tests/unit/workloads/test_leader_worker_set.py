from __future__ import annotations

from dynamo_render.plans.workload import LeaderWorkerSetPlan
from dynamo_render.workloads.leader_worker_set import LEADER_WORKER_SET, addressing
from tests.scopes import component_scope, graph_scope, pod_plan

PLAN = LeaderWorkerSetPlan(
    name="demo-it-1",
    namespace="team-a",
    size=3,
    labels={"a": "b"},
    annotations={},
    group_labels={"instance-id": "1"},
    leader_labels={"role": "leader"},
    worker_labels={"role": "worker"},
    pod_annotations={"scheduling.k8s.io/group-name": "demo-it-1"},
    pod=pod_plan(),
)


def test_the_pod_group_comes_first_and_holds_a_whole_replica() -> None:
    group, workload = LEADER_WORKER_SET.build(PLAN)
    assert (group["kind"], group["spec"]) == ("PodGroup", {"minMember": 3})
    assert workload["spec"]["leaderWorkerTemplate"]["size"] == 3
    assert group["metadata"]["name"] == workload["metadata"]["name"] == "demo-it-1"


def test_leader_and_worker_have_templates_of_their_own() -> None:
    _, workload = LEADER_WORKER_SET.build(PLAN)
    template = workload["spec"]["leaderWorkerTemplate"]
    roles = [template[name]["metadata"]["labels"]["role"] for name in ("leaderTemplate", "workerTemplate")]
    assert roles == ["leader", "worker"]


def test_every_rank_is_a_pod_that_knows_its_index() -> None:
    _, workload = LEADER_WORKER_SET.build(PLAN)
    assert LEADER_WORKER_SET.pods is not None
    found = list(LEADER_WORKER_SET.pods(workload))
    assert [(pod.role, pod.rank, pod.name) for pod in found] == [
        ("leader", 0, "demo-it-1-0"),
        ("worker", 1, "demo-it-1-0-1"),
        ("worker", 2, "demo-it-1-0-2"),
    ]
    assert [pod.runtime_env["LWS_WORKER_INDEX"] for pod in found] == ["0", "1", "2"]


def test_addresses_are_for_the_kubelet_or_as_shipped() -> None:
    spread = {"multinode": {"nodeCount": 3}}
    documented = addressing(component_scope(spread))
    shipped = addressing(component_scope(spread, graph=graph_scope(profile="0.9-shipped")))
    assert (documented.leader, shipped.leader) == ("$(LWS_LEADER_ADDRESS)", "$LWS_LEADER_ADDRESS")
    assert (documented.rank_in_sum, shipped.rank_in_sum) == ("LWS_WORKER_INDEX", "$(LWS_WORKER_INDEX)")


def test_hosts_are_the_leader_and_every_worker_in_order() -> None:
    found = addressing(component_scope({"multinode": {"nodeCount": 3}}))
    assert found.hosts == (
        "$(LWS_LEADER_ADDRESS)",
        """$(echo "$LWS_LEADER_ADDRESS" | sed 's/\\./-1\\./')""",
        """$(echo "$LWS_LEADER_ADDRESS" | sed 's/\\./-2\\./')""",
    )
    assert found.waits_for_names

"""Which pods a change replaces, starts or stops, and because of what."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from dynamo_render import ClusterFacts, read_documents, render, restarts
from dynamo_render.kube.shapes import entry
from dynamo_render.restarts import PodImpact

GRAPH = """
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: demo, namespace: team-a}
spec:
  backendFramework: vllm
  services:
    Frontend:
      componentType: frontend
      replicas: 2
      extraPodSpec: {mainContainer: {image: "example.com/vllm:1"}}
    Decode:
      componentType: worker
      replicas: 3
      multinode: {nodeCount: 4}
      resources: {limits: {gpu: "8"}}
      extraPodSpec: {mainContainer: {image: "example.com/vllm:1", command: [python3], args: [-m, dynamo.vllm]}}
"""
GROVE = ClusterFacts(api_groups=frozenset({"grove.io"}))
LEADER_WORKER_SETS = ClusterFacts(api_groups=frozenset({"leaderworkerset.x-k8s.io", "scheduling.volcano.sh"}))


def objects(facts: ClusterFacts) -> list[dict[str, Any]]:
    """Return what the graph renders to."""
    (graph,) = read_documents(GRAPH)
    assert isinstance(graph, dict)
    return list(render(graph, facts=facts).objects)


def impacts(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[PodImpact]:
    """Return the impacts of a change from *old* to *new*."""
    return list(restarts.impacts(restarts.object_changes(old, new)))


def after(old: list[dict[str, Any]], kind: str, edit: Callable[[dict[str, Any]], object]) -> list[dict[str, Any]]:
    """Return a copy of *old* in which *edit* has changed the spec of every object of *kind*."""
    new = copy.deepcopy(old)
    edited = [made for made in new if made["kind"] == kind]
    assert edited
    for made in edited:
        edit(made["spec"])
    return new


def summary(found: list[PodImpact]) -> dict[str, tuple[int, int, int]]:
    """Return how many pods restart, start and stop, by template."""
    return {impact.template: (impact.restarting, impact.starting, impact.stopping) for impact in found}


def deployment(**spec: Any) -> dict[str, Any]:
    """Return a Deployment with one container."""
    template = {"metadata": {"labels": {"a": "1"}}, "spec": {"containers": [{"name": "main", "image": "a:1"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "x", "namespace": "n", "labels": {"a": "1"}},
        "spec": {"replicas": 3, "template": template, **spec},
    }


def test_nothing_happens_to_pods_of_equal_objects() -> None:
    assert impacts(objects(GROVE), objects(GROVE)) == []


def test_another_image_restarts_every_pod_of_a_deployment() -> None:
    old = [deployment()]
    new = after(old, "Deployment", lambda spec: spec["template"]["spec"]["containers"][0].update(image="a:2"))
    (impact,) = impacts(old, new)
    assert (impact.identity[3], impact.restarting, impact.starting, impact.stopping) == ("x", 3, 0, 0)
    assert [change.where() for change in impact.because] == ["spec.template.spec.containers[name=main].image"]


def test_labels_of_a_deployment_itself_restart_nothing() -> None:
    new = deployment()
    new["metadata"]["labels"] = {"a": "2"}
    assert impacts([deployment()], [new]) == []


def test_more_replicas_only_start_pods() -> None:
    assert summary(impacts([deployment()], [deployment(replicas=5)])) == {"main": (0, 2, 0)}


def test_fewer_replicas_with_another_template_restart_those_that_stay() -> None:
    new = after([deployment(replicas=1)], "Deployment", lambda spec: spec["template"]["spec"].update(hostNetwork=True))
    assert summary(impacts([deployment()], new)) == {"main": (1, 0, 2)}


def test_a_deployment_without_replicas_counts_one_pod() -> None:
    one = deployment()
    del one["spec"]["replicas"]
    assert restarts.pods([one]) == 1


def test_pods_of_a_removed_object_stop_and_those_of_an_added_one_start() -> None:
    assert summary(impacts([deployment()], [])) == {"main": (0, 0, 3)}
    assert summary(impacts([], [deployment()])) == {"main": (0, 3, 0)}


def test_variables_in_another_order_restart_pods() -> None:
    """A pod template with another order is another template, to Deployments and to Grove."""
    variables = [{"name": "A"}, {"name": "B"}]
    old = after(
        [deployment()], "Deployment", lambda spec: spec["template"]["spec"]["containers"][0].update(env=variables)
    )
    new = after(old, "Deployment", lambda spec: spec["template"]["spec"]["containers"][0]["env"].reverse())
    assert summary(impacts(old, new)) == {"main": (3, 0, 0)}


def clique(spec: dict[str, Any], name: str) -> dict[str, Any]:
    """Return one clique of a PodCliqueSet."""
    (found,) = [one for one in spec["template"]["cliques"] if one["name"] == name]
    assert isinstance(found, dict)
    return found


def test_cliques_count_replicas_of_their_scaling_group() -> None:
    """2 frontends, and 3 groups of a leader and 3 workers."""
    assert restarts.pods(objects(GROVE)) == 2 + 3 * (1 + 3)


def test_a_clique_of_its_own_restarts_alone() -> None:
    old = objects(GROVE)
    new = after(old, "PodCliqueSet", lambda spec: clique(spec, "frontend")["annotations"].update(x="1"))
    (impact,) = impacts(old, new)
    assert (impact.template, impact.restarting) == ("frontend", 2)
    assert [change.where() for change in impact.because] == ["spec.template.cliques[name=frontend].annotations.x"]


def test_a_change_of_one_clique_restarts_all_of_its_scaling_group() -> None:
    """Grove recreates a replica of a scaling group as a whole."""
    old = objects(GROVE)
    new = after(old, "PodCliqueSet", lambda spec: clique(spec, "decode-wkr")["labels"].update(x="1"))
    assert summary(impacts(old, new)) == {"decode-ldr": (3, 0, 0), "decode-wkr": (9, 0, 0)}


@pytest.mark.parametrize(
    "edit",
    [
        lambda spec: spec["template"].update(terminationDelay="1m"),
        lambda spec: spec["template"]["cliques"].reverse(),
        lambda spec: clique(spec, "frontend")["spec"].update(minAvailable=2),
    ],
)
def test_what_is_not_part_of_a_pod_restarts_no_clique(edit: Callable[[dict[str, Any]], object]) -> None:
    old = objects(GROVE)
    new = after(old, "PodCliqueSet", edit)
    assert old != new
    assert impacts(old, new) == []


def test_more_replicas_of_a_scaling_group_start_pods_of_each_of_its_cliques() -> None:
    old = objects(GROVE)
    new = after(old, "PodCliqueSet", lambda spec: spec["template"]["podCliqueScalingGroups"][0].update(replicas=4))
    assert summary(impacts(old, new)) == {"decode-ldr": (0, 1, 0), "decode-wkr": (0, 3, 0)}


def test_a_change_of_workers_restarts_leaders_too() -> None:
    """LeaderWorkerSet replaces a group as a whole: 3 sets of one group each."""
    old = objects(LEADER_WORKER_SETS)
    worker = "workerTemplate"
    new = after(old, "LeaderWorkerSet", lambda spec: spec["leaderWorkerTemplate"][worker]["spec"].update(hostIPC=True))
    found = impacts(old, new)
    assert [(impact.template, impact.restarting) for impact in found] == [("leader", 1), ("worker", 3)] * 3
    assert {change.where() for impact in found for change in impact.because} == {
        "spec.leaderWorkerTemplate.workerTemplate.spec.hostIPC"
    }


def test_leaders_and_workers_are_counted_apart() -> None:
    sets = [made for made in objects(LEADER_WORKER_SETS) if made["kind"] == "LeaderWorkerSet"]
    assert restarts.pods(sets) == 3 * 4


def test_lists_of_every_workload_go_by_keys() -> None:
    """Otherwise a variable in front of the others would be a change of all of them."""
    for facts in (GROVE, LEADER_WORKER_SETS):
        old, variable = objects(facts), {"name": "FIRST", "value": "1"}
        new = copy.deepcopy(old)
        for container in main_containers(new):
            container.setdefault("env", []).insert(0, variable)
        changes = [change for made in restarts.object_changes(old, new) for change in made.changes]
        assert len(changes) >= 3
        assert {(change.kind, change.path[-1]) for change in changes} == {("added", entry(name="FIRST"))}


def main_containers(value: Any) -> list[dict[str, Any]]:
    """Return every container called main that stands anywhere in *value*."""
    if isinstance(value, list):
        return [one for item in value for one in main_containers(item)]
    if not isinstance(value, dict):
        return []
    own = [one for one in value.get("containers") or () if one["name"] == "main"]
    return own + [one for item in value.values() for one in main_containers(item)]


def test_an_object_that_no_server_would_take_has_no_pods() -> None:
    broken = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}, "spec": "nonsense"}
    assert restarts.pods([broken, {**broken, "spec": {}}]) == 0


def test_a_kind_of_the_same_name_in_another_group_has_no_pods() -> None:
    assert restarts.pods([{**deployment(), "apiVersion": "example.com/v1"}]) == 0

"""The pods that rendered objects lead to are shown as their containers will see them."""

from __future__ import annotations

import copy
from typing import Any

from dynamo_render import effective


def deployment(**container: Any) -> dict[str, Any]:
    """Return a Deployment of one component with one container."""
    labels = {"nvidia.com/dynamo-component": "Frontend"}
    spec = {"containers": [{"name": "main", "image": "runtime:1", **container}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "agg-frontend", "namespace": "team-a"},
        "spec": {"template": {"metadata": {"labels": labels}, "spec": spec}},
    }


def leader_worker_set(size: int, **container: Any) -> dict[str, Any]:
    """Return a LeaderWorkerSet whose leader and workers run the same container."""
    template = {"spec": {"containers": [{"name": "main", "image": "runtime:1", **container}]}}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {
            "name": "agg-decode-0",
            "namespace": "team-a",
            "labels": {"nvidia.com/dynamo-component": "Decode"},
        },
        "spec": {"leaderWorkerTemplate": {"size": size, "leaderTemplate": template, "workerTemplate": template}},
    }


def pod_clique_set(**container: Any) -> dict[str, Any]:
    """Return a PodCliqueSet with one clique."""
    clique = {
        "name": "frontend",
        "labels": {"nvidia.com/dynamo-component": "Frontend"},
        "spec": {"replicas": 3, "podSpec": {"containers": [{"name": "main", "image": "runtime:1", **container}]}},
    }
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": "agg", "namespace": "team-a"},
        "spec": {"template": {"cliques": [clique]}},
    }


def main_container(*objects: dict[str, Any]) -> dict[str, Any]:
    """Return the only container of the only pod."""
    (pod,) = effective.pods(objects)
    (container,) = pod["containers"]
    return container


def variable(container: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the only variable called *name*."""
    (found,) = [entry for entry in container["env"] if entry["name"] == name]
    return found


def test_a_pod_says_who_runs_it() -> None:
    (pod,) = effective.pods([deployment()])
    shown = {key: value for key, value in pod.items() if key != "containers"}
    assert shown == {
        "component": "Frontend",
        "role": "main",
        "rank": 0,
        "pod": "agg-frontend-<id>",
        "namespace": "team-a",
        "workload": "Deployment/agg-frontend",
    }


def test_objects_that_run_no_pods_are_left_out() -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "namespace": "b"}, "spec": {}}
    assert list(effective.pods([service])) == []


def test_command_and_arguments_are_one_list() -> None:
    container = main_container(deployment(command=["python3", "-m"], args=["app", "--x"]))
    assert container["argv"] == ["python3", "-m", "app", "--x"]


def test_the_command_line_can_be_pasted_into_a_shell() -> None:
    container = main_container(deployment(command=["sh", "-c"], args=["echo $HOME | tee 'a b'"]))
    assert container["commandLine"] == """sh -c 'echo $HOME | tee '"'"'a b'"'"''"""


def test_arguments_are_expanded_with_the_environment() -> None:
    container = main_container(deployment(args=["--port=$(PORT)"], env=[{"name": "PORT", "value": "8000"}]))
    assert container["argv"] == ["--port=8000"]


def test_a_container_without_command_starts_what_its_image_says() -> None:
    assert main_container(deployment(args=["serve"]))["entrypoint"] == "of the image"


def test_a_container_with_a_command_does_not_use_the_entrypoint_of_its_image() -> None:
    assert "entrypoint" not in main_container(deployment(command=["serve"]))


def test_the_namespace_is_known_to_field_references() -> None:
    entry = {"name": "NS", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}
    assert variable(main_container(deployment(env=[entry])), "NS")["value"] == "team-a"


def test_the_name_of_a_pod_is_not_known_to_field_references() -> None:
    entry = {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    assert variable(main_container(deployment(env=[entry])), "POD_NAME") == entry


def test_init_containers_are_shown_too() -> None:
    workload = deployment()
    workload["spec"]["template"]["spec"]["initContainers"] = [{"name": "wait", "image": "busybox", "args": ["x"]}]
    (pod,) = effective.pods([workload])
    assert pod["initContainers"][0]["argv"] == ["x"]


def test_every_rank_is_a_pod_of_its_own() -> None:
    shown = [(pod["role"], pod["rank"]) for pod in effective.pods([leader_worker_set(3)])]
    assert shown == [("leader", 0), ("worker", 1), ("worker", 2)]


def test_ranks_know_the_address_of_their_leader() -> None:
    pods = effective.pods([leader_worker_set(2, args=["$(LWS_WORKER_INDEX)@$(LWS_LEADER_ADDRESS)"])])
    leader = "agg-decode-0-0.agg-decode-0.team-a"
    assert [pod["containers"][0]["argv"] for pod in pods] == [[f"0@{leader}"], [f"1@{leader}"]]


def test_variables_of_an_orchestrator_name_it() -> None:
    pod = next(effective.pods([leader_worker_set(2)]))
    assert variable(pod["containers"][0], "LWS_GROUP_SIZE") == {
        "name": "LWS_GROUP_SIZE",
        "value": "2",
        "setBy": "LeaderWorkerSet",
    }


def test_leader_worker_set_puts_its_variables_first() -> None:
    """Its webhook does so on purpose, so that the variables of users can refer to them."""
    pod = next(effective.pods([leader_worker_set(2, env=[{"name": "SIZE", "value": "$(LWS_GROUP_SIZE)"}])]))
    assert variable(pod["containers"][0], "SIZE")["value"] == "2"


def test_leader_worker_set_leaves_a_variable_that_is_there() -> None:
    pod = next(effective.pods([leader_worker_set(2, env=[{"name": "LWS_GROUP_SIZE", "value": "9"}])]))
    assert variable(pod["containers"][0], "LWS_GROUP_SIZE") == {"name": "LWS_GROUP_SIZE", "value": "9"}


def test_grove_puts_its_variables_last() -> None:
    """A variable of the user that refers to one of them stays as it is written."""
    container = main_container(pod_clique_set(env=[{"name": "SET", "value": "$(GROVE_PCS_NAME)"}]))
    assert variable(container, "SET")["value"] == "$(GROVE_PCS_NAME)"


def test_grove_replaces_a_variable_that_is_there() -> None:
    container = main_container(pod_clique_set(env=[{"name": "GROVE_PCS_NAME", "value": "mine"}]))
    assert variable(container, "GROVE_PCS_NAME")["value"] == "agg"


def test_arguments_see_the_variables_of_grove() -> None:
    assert main_container(pod_clique_set(args=["$(GROVE_PCS_NAME)"]))["argv"] == ["agg"]


def test_replicas_that_are_equal_are_shown_once() -> None:
    assert len(list(effective.pods([pod_clique_set()]))) == 1


def test_objects_stay_as_they_are() -> None:
    workload = leader_worker_set(2, env=[{"name": "A", "value": "$$"}], envFrom=[{"secretRef": {"name": "s"}}])
    before = copy.deepcopy(workload)
    for pod in effective.pods([workload]):
        pod["containers"][0]["envFrom"][0]["secretRef"]["name"] = "changed"
    assert workload == before

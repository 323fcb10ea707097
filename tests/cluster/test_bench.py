"""The bench does what other tests here rely on, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster import addons, bench, processes
from tests.cluster.bench import Bench
from tests.cluster.client import RefusedError

ROOT = Path(__file__).resolve().parents[2]

EMITTED_ADD_ON_KINDS = [
    ("grove.io/v1alpha1", "PodCliqueSet"),
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
    ("scheduling.volcano.sh/v1beta1", "PodGroup"),
    ("inference.networking.k8s.io/v1", "InferencePool"),
    ("networking.istio.io/v1beta1", "VirtualService"),
]

CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "bench"}}

# What the killed test run does: it starts a bench, says what runs, and would then wait for longer than anyone else.
LINGERING_TEST = """
import json, pathlib, time

def test_lingers(api_server):
    programs = api_server.programs
    told = {"pids": [programs.keeper_pid, *programs.pids.values()], "data": str(programs.data)}
    pathlib.Path(__file__).with_name("unfinished.json").write_text(json.dumps(told))
    pathlib.Path(__file__).with_name("unfinished.json").rename(pathlib.Path(__file__).with_name("told.json"))
    time.sleep(120)
"""


def deployment(name: str, replicas: int, gpus: int) -> dict:
    labels = {"app": name}
    container = {"name": "main", "image": "example.test/engine", "resources": {"limits": {"nvidia.com/gpu": gpus}}}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "bench"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
    }


def test_the_api_server_is_ready(api_server: Bench) -> None:
    assert api_server.client.send("GET", "/readyz").status == 200


@pytest.mark.parametrize(("api_version", "kind"), EMITTED_ADD_ON_KINDS)
def test_the_api_server_serves_the_add_on_kinds_that_a_render_emits(
    api_server: Bench, api_version: str, kind: str
) -> None:
    assert api_server.client.get(api_version, kind)["items"] == []


def test_a_dry_run_stores_nothing(api_server: Bench) -> None:
    api_server.ensure_namespaces(["bench"])
    api_server.client.create(CONFIG_MAP, dry_run=True)
    with pytest.raises(RefusedError, match='configmaps "settings" not found'):
        api_server.client.get("v1", "ConfigMap", "settings", "bench")


def test_what_is_created_can_be_read_until_it_is_deleted(api_server: Bench) -> None:
    api_server.ensure_namespaces(["bench"])
    created = api_server.client.create({**CONFIG_MAP, "data": {"key": "value"}})
    assert api_server.client.get("v1", "ConfigMap", "settings", "bench") == created
    api_server.client.delete(CONFIG_MAP)
    with pytest.raises(RefusedError, match="not found"):
        api_server.client.get("v1", "ConfigMap", "settings", "bench")


@pytest.mark.parametrize("way", ["verdict_on_create", "verdict_on_apply"])
def test_a_verdict_names_an_unknown_field_of_a_built_in_kind(api_server: Bench, way: str) -> None:
    api_server.ensure_namespaces(["bench"])
    wrong = deployment("wrong", 1, 1)
    wrong["spec"]["replica"] = 2
    verdict = getattr(api_server.client, way)(wrong)
    assert verdict.is_refusal
    assert "replica" in verdict.message


def test_a_verdict_names_an_unknown_field_of_an_add_on_kind(api_server: Bench) -> None:
    api_server.ensure_namespaces(["bench"])
    metadata = {"name": "group", "namespace": "bench"}
    group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": metadata}
    assert not api_server.client.verdict_on_create({**group, "spec": {"minMember": 2}}).is_refusal
    assert "spec.minMembers" in api_server.client.verdict_on_create({**group, "spec": {"minMembers": 2}}).message


def test_a_refusal_names_the_field_of_each_cause(api_server: Bench) -> None:
    api_server.ensure_namespaces(["bench"])
    verdict = api_server.client.verdict_on_create(deployment("negative", -1, 1))
    assert [field for field, _ in verdict.causes] == ["spec.replicas"]


def test_the_own_kinds_of_a_definition_given_to_the_bench_are_served(api_server: Bench) -> None:
    assert api_server.client.get("nvidia.com/v1alpha1", "DynamoGraphDeployment")["items"] == []


def test_kubectl_reaches_the_api_server(api_server: Bench, kubectl: Path) -> None:
    command = [str(kubectl), f"--kubeconfig={api_server.kubeconfig}", "version", "--output=json"]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout)
    assert told["clientVersion"]["gitVersion"] == told["serverVersion"]["gitVersion"]


def test_a_deployment_becomes_ready_on_simulated_gpu_nodes(cluster: Bench) -> None:
    cluster.ensure_namespaces(["bench"])
    replicas = bench.NODES
    wanted = deployment("engine", replicas, bench.GPUS_PER_NODE)
    cluster.client.create(wanted)

    def ready() -> int:
        live = cluster.client.get("apps/v1", "Deployment", "engine", "bench")
        return live.get("status", {}).get("readyReplicas", 0)

    processes.wait_until(lambda: ready() == replicas, seconds=60, what="ready Deployment")
    pods = cluster.client.get("v1", "Pod", namespace="bench")["items"]
    assert len({pod["spec"]["nodeName"] for pod in pods}) == replicas
    cluster.client.delete(wanted)


def test_a_pod_that_asks_for_more_gpus_than_a_node_has_stays_pending(cluster: Bench) -> None:
    cluster.ensure_namespaces(["bench"])
    wanted = deployment("greedy", 1, bench.GPUS_PER_NODE + 1)
    cluster.client.create(wanted)

    def reasons() -> set[str]:
        pods = cluster.client.get("v1", "Pod", namespace="bench")["items"]
        mine = [pod for pod in pods if pod["metadata"]["labels"] == {**pod["metadata"]["labels"], "app": "greedy"}]
        return {each.get("reason", "") for pod in mine for each in pod["status"].get("conditions", ())}

    processes.wait_until(lambda: "Unschedulable" in reasons(), seconds=60, what="unschedulable pod")
    cluster.client.delete(wanted)


def test_nothing_is_left_when_a_bench_ends(api_server: Bench, tmp_path: Path) -> None:
    """The shared bench is asked for first only because it settles whether a bench can be had."""
    assert api_server.programs.pids
    with bench.api_server(tmp_path, [addons.pod_group_definition()]) as ended:
        programs = ended.programs
        pids = [programs.keeper_pid, *programs.pids.values()]
        assert all(processes.is_alive(pid) for pid in pids)
    assert [pid for pid in pids if processes.is_alive(pid)] == []
    assert not programs.data.exists()


@pytest.fixture
def lingering(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], dict]]:
    """Another test run that has a bench, and what it told: the ids of the keeper and the programs, the data folder."""
    (tmp_path / "test_lingering.py").write_text(LINGERING_TEST)
    told = tmp_path / "told.json"
    run = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-p", "tests.cluster.conftest", "-p", "no:cacheprovider", str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        processes.wait_until(told.exists, seconds=90, what="bench in the other test run")
        yield run, json.loads(told.read_text())
    finally:
        run.kill()
        run.wait(timeout=10)


def wait_for_end(pids: list[int]) -> None:
    processes.wait_until(lambda: not any(map(processes.is_alive, pids)), seconds=20, what="end of all processes")


@pytest.mark.usefixtures("api_server")
def test_nothing_is_left_when_a_test_run_is_killed(lingering: tuple[subprocess.Popen[bytes], dict]) -> None:
    run, left = lingering
    run.kill()
    wait_for_end(left["pids"])
    assert not Path(left["data"]).exists()


@pytest.mark.usefixtures("api_server")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent has ended")
def test_no_program_outlives_its_killed_keeper(lingering: tuple[subprocess.Popen[bytes], dict]) -> None:
    _, left = lingering
    keeper, *programs = left["pids"]
    os.kill(keeper, signal.SIGKILL)
    wait_for_end(programs)
    shutil.rmtree(left["data"])

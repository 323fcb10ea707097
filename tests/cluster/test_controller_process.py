"""Several controller processes as users start them against a real cluster: which one writes, probes, metrics, stops."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from tests.cluster import processes
from tests.cluster.bench import Bench
from tests.fakes.stage import graph, worker

Json = dict[str, Any]
OURS, LEASE = "nvidia.com/v1alpha1", "coordination.k8s.io/v1"
LIMIT = 90.0
REST = 2.0
MARK = "dynamo-operator-namespace-scope"

SHORT_LEASE = {
    "leader_elect": True,
    "leader_election_id": "tests",
    "leader_election_lease_duration": "10s",
    "leader_election_renew_deadline": "7s",
    "leader_election_retry_period": "500ms",
}


@attrs.frozen(eq=False)
class Program:
    """A controller process with its ports and its log."""

    process: subprocess.Popen[bytes]
    health: int
    metrics: int
    log: Path

    def lines(self) -> list[Json]:
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]

    def says(self, words: str) -> bool:
        return any(words in line["message"] for line in self.lines())

    def probe(self, path: str) -> tuple[int, str]:
        """Return the answer to a probe; 0 while nobody answers."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.health}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()
        except OSError:
            return 0, ""

    def is_ready(self) -> bool:
        return self.probe("/readyz")[0] == 200

    def samples(self, name: str, **labels: str) -> list[Sample]:
        """Return the samples of a metric that have these labels, and maybe others."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=5) as answer:
            families = text_string_to_metric_families(answer.read().decode())
            found = [each for family in families for each in family.samples if each.name == name]
        return [each for each in found if labels.items() <= each.labels.items()]

    def total(self, name: str, **labels: str) -> float:
        """Return the sum of a metric over all labels that are not given."""
        return sum(each.value for each in self.samples(name, **labels))

    def leads(self) -> bool:
        return self.total("dynamo_controller_leader") == 1

    def writes(self) -> float:
        """Return how many objects this process has applied."""
        return self.total("dynamo_controller_api_writes_total", verb="apply", result="ok")

    def settled_writes(self) -> float:
        """Return how many objects it has applied, once that stays the same: components follow their graph."""
        before = -1.0
        while (now := self.writes()) != before:
            before = now
            time.sleep(REST)
        return now

    def end(self) -> int:
        """Ask the process to stop and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=LIMIT)


@contextlib.contextmanager
def started(cluster: Bench, folder: Path, name: str, **settings: Any) -> Iterator[Program]:
    """Run a controller until the block ends."""
    health, metrics = processes.free_ports(2)
    addresses = {"health_address": f"127.0.0.1:{health}", "metrics_address": f"127.0.0.1:{metrics}"}
    file, log = folder / f"{name}.json", folder / f"{name}.log"
    file.write_text(json.dumps({"planner_cluster_role": "planner", **addresses, **settings}))
    words = [sys.executable, "-m", "dynamo_controller", "run", "--kubeconfig", str(cluster.kubeconfig)]
    with (
        log.open("wb") as stream,
        subprocess.Popen([*words, "--settings", str(file)], stdout=stream, stderr=stream) as process,
    ):
        try:
            yield Program(process, health, metrics, log)
        finally:
            process.send_signal(signal.SIGCONT)
            process.terminate()
            process.wait(timeout=LIMIT)


def until(is_true: Any, what: str, *programs: Program) -> None:
    """Wait until something is true; tell the ends of logs if it never is."""
    try:
        processes.wait_until(is_true, seconds=LIMIT, what=what)
    except processes.BenchError as error:
        ends = "\n".join(f"{each.log.name}: {each.log.read_text()[-1500:]}" for each in programs)
        raise AssertionError(f"{error}\n{ends}") from error


def components(cluster: Bench, namespace: str) -> list[str]:
    listed = cluster.client.get(OURS, "DynamoComponentDeployment", namespace=namespace)["items"]
    return sorted(each["metadata"]["name"] for each in listed)


def make_graph(cluster: Bench, namespace: str) -> Json:
    content = graph()
    content["metadata"] |= {"namespace": namespace, "annotations": {"nvidia.com/enable-grove": "false"}}
    return cluster.client.create(content)


def add_service(cluster: Bench, namespace: str, name: str) -> None:
    path = f"/apis/{OURS}/namespaces/{namespace}/dynamographdeployments/chat"
    patch = {"spec": {"services": {name: worker()}}}
    answer = cluster.client.send("PATCH", path, patch, "application/merge-patch+json")
    assert not answer.is_refusal, answer.message


def lease(cluster: Bench, namespace: str, name: str) -> Json:
    """Return what a Lease says; nothing where there is none."""
    listed = cluster.client.get(LEASE, "Lease", namespace=namespace)["items"]
    return next((each["spec"] for each in listed if each["metadata"]["name"] == name), {})


def test_a_paused_leader_is_followed_and_writes_nothing_when_it_wakes(cluster: Bench, tmp_path: Path) -> None:
    """F16: the graph changes while the first process sleeps, so that both have something to do when it wakes."""
    namespace = "process-paused"
    cluster.ensure_namespaces([namespace])
    own = {**SHORT_LEASE, "restricted_namespace": namespace}
    with started(cluster, tmp_path, "first", **own) as first, started(cluster, tmp_path, "second", **own) as second:
        until(lambda: first.is_ready() and second.is_ready(), "readiness", first, second)
        until(lambda: first.leads() or second.leads(), "a leader", first, second)
        leader, other = (first, second) if first.leads() else (second, first)
        assert (leader.leads(), other.leads()) == (True, False)
        make_graph(cluster, namespace)
        until(lambda: components(cluster, namespace) == ["chat-frontend", "chat-worker"], "components", leader)
        assert other.writes() == 0
        before = leader.settled_writes()

        leader.process.send_signal(signal.SIGSTOP)
        until(other.leads, "a second leader", other)
        add_service(cluster, namespace, "Decode")
        until(lambda: "chat-decode" in components(cluster, namespace), "a component of the second leader", other)

        leader.process.send_signal(signal.SIGCONT)
        until(lambda: leader.says("no longer leading"), "the end of the first lead", leader)
        add_service(cluster, namespace, "Prefill")
        until(lambda: "chat-prefill" in components(cluster, namespace), "a component", other)
        until(leader.is_ready, "a warm second process", leader)
        assert leader.writes() == before
        assert (leader.leads(), other.leads()) == (False, True)


def test_a_lease_that_is_deleted_and_one_that_is_given_away_never_lead_to_two(cluster: Bench, tmp_path: Path) -> None:
    """F17."""
    namespace = "process-lease"
    cluster.ensure_namespaces([namespace])
    own = {**SHORT_LEASE, "restricted_namespace": namespace}
    with started(cluster, tmp_path, "first", **own) as first:
        until(first.is_ready, "readiness", first)
        until(first.leads, "a leader", first)
        found = cluster.client.get(LEASE, "Lease", "tests", namespace)
        cluster.client.delete(found)
        with started(cluster, tmp_path, "second", **own) as second:
            until(lambda: lease(cluster, namespace, "tests").get("holderIdentity"), "a new lease", first)
            until(second.is_ready, "readiness", second)
            assert (first.leads(), second.leads()) == (True, False)
            assert not first.says("no longer leading")

            path = f"/apis/{LEASE}/namespaces/{namespace}/leases/tests"
            patch = {"spec": {"holderIdentity": "somebody"}}
            assert not cluster.client.send("PATCH", path, patch, "application/merge-patch+json").is_refusal
            until(lambda: first.says("the lease is held by somebody"), "the end of the first lead", first)
            until(lambda: first.leads() or second.leads(), "another leader", first, second)
            assert not (first.leads() and second.leads())


def test_a_stop_gives_up_lease_and_mark_and_the_next_process_leads_at_once(cluster: Bench, tmp_path: Path) -> None:
    """F18 from outside. The lease is good for an hour, so that nobody could wait for its end."""
    namespace = "process-stop"
    cluster.ensure_namespaces([namespace])
    long = {**SHORT_LEASE, "leader_election_lease_duration": "1h", "restricted_namespace": namespace}
    with started(cluster, tmp_path, "first", **long) as first:
        until(lambda: first.is_ready() and first.leads(), "a leader", first)
        make_graph(cluster, namespace)
        assert lease(cluster, namespace, MARK)["leaseDurationSeconds"] == 30
        assert first.end() == 0
    assert lease(cluster, namespace, "tests")["holderIdentity"] == ""
    leases = cluster.client.get(LEASE, "Lease", namespace=namespace)["items"]
    assert [each["metadata"]["name"] for each in leases] == ["tests"]
    with started(cluster, tmp_path, "second", **long) as second:
        until(lambda: second.is_ready() and second.leads(), "the next leader", second)
        until(lambda: components(cluster, namespace) == ["chat-frontend", "chat-worker"], "components", second)


def test_a_cluster_wide_controller_takes_a_namespace_over_when_its_own_controller_stops(
    cluster: Bench, tmp_path: Path
) -> None:
    mine, other = "process-marked", "process-unmarked"
    cluster.ensure_namespaces([mine, other])
    with started(cluster, tmp_path, "restricted", restricted_namespace=mine) as restricted:
        until(restricted.is_ready, "readiness", restricted)
        until(lambda: "renewTime" in lease(cluster, mine, MARK), "a mark", restricted)
        with started(cluster, tmp_path, "wide") as wide:
            until(wide.is_ready, "readiness", wide)
            for namespace in (mine, other):
                make_graph(cluster, namespace)
                until(lambda at=namespace: len(components(cluster, at)) == 2, "components", wide, restricted)
            # A pass counts when it ends, which is after its components are there.
            until(lambda: wide.total("dynamo_operator_reconcile_total", namespace=other) > 0, "a pass", wide)
            assert wide.total("dynamo_operator_reconcile_total", namespace=mine) == 0
            assert wide.total("dynamo_controller_marked_namespaces") >= 1
            assert restricted.end() == 0
            add_service(cluster, mine, "Decode")
            until(lambda: "chat-decode" in components(cluster, mine), "a component of the other controller", wide)


def test_probes_and_metrics_tell_how_things_are(cluster: Bench, tmp_path: Path) -> None:
    namespace = "process-metrics"
    cluster.ensure_namespaces([namespace])
    with started(cluster, tmp_path, "only", restricted_namespace=namespace) as only:
        until(only.is_ready, "readiness", only)
        assert only.probe("/healthz") == (200, "ok\n")
        make_graph(cluster, namespace)
        graphs = {"resource_type": "DynamoGraphDeployment", "namespace": namespace}
        counted = "dynamo_operator_resources_total"
        until(lambda: only.total(counted, status="successful", **graphs) == 1, "a ready graph", only)
        assert only.total("dynamo_operator_reconcile_total", result="success", **graphs) >= 1
        assert only.total("dynamo_operator_reconcile_duration_seconds_count", **graphs) >= 1
        assert only.total("dynamo_controller_ready") == 1
        cluster.client.delete(cluster.client.get(OURS, "DynamoGraphDeployment", "chat", namespace))
        until(lambda: only.samples(counted, **graphs) == [], "no stale count", only)


def test_an_event_that_happens_again_raises_a_count_also_in_the_next_process(cluster: Bench, tmp_path: Path) -> None:
    namespace = "process-events"
    cluster.ensure_namespaces([namespace])
    foreign = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "chat-worker", "namespace": namespace}}
    cluster.client.create({**foreign, "spec": {"ports": [{"port": 1}]}})

    def counts() -> list[int]:
        listed = cluster.client.get("v1", "Event", namespace=namespace)["items"]
        return [each["count"] for each in listed if each["reason"] == "ForeignObject"]

    make_graph(cluster, namespace)
    with started(cluster, tmp_path, "first", restricted_namespace=namespace) as first:
        until(lambda: counts() == [1], "an event", first)
    # The status that told of it is lost, so that the next process tells it again.
    path = f"/apis/{OURS}/namespaces/{namespace}/dynamocomponentdeployments/chat-worker/status"
    wiped = cluster.client.send("PATCH", path, {"status": None}, "application/merge-patch+json")
    assert not wiped.is_refusal, wiped.message
    with started(cluster, tmp_path, "second", restricted_namespace=namespace) as second:
        until(lambda: counts() == [2], "a higher count", second)
        assert not second.says("was not recorded")


def test_a_server_that_does_not_answer_makes_the_process_unready_until_it_does(cluster: Bench, tmp_path: Path) -> None:
    """F15: the API server sleeps for longer than the lead lasts; the process lives on and leads again."""
    namespace = "process-silence"
    cluster.ensure_namespaces([namespace])
    server = cluster.programs.pids["kube-apiserver"]
    with started(cluster, tmp_path, "only", **SHORT_LEASE, restricted_namespace=namespace) as only:
        until(lambda: only.is_ready() and only.leads(), "a leader", only)
        os.kill(server, signal.SIGSTOP)
        try:
            until(lambda: "the API server is out of reach" in only.probe("/readyz")[1], "no readiness", only)
            assert only.probe("/healthz") == (200, "ok\n")
            assert not only.leads()
        finally:
            os.kill(server, signal.SIGCONT)
        until(lambda: only.is_ready() and only.leads(), "a leader again", only)
        make_graph(cluster, namespace)
        until(lambda: components(cluster, namespace) == ["chat-frontend", "chat-worker"], "components", only)
        assert only.process.poll() is None


@pytest.mark.parametrize("purpose", ["metrics", "health"])
def test_a_port_in_use_is_named_and_ends_the_start(cluster: Bench, tmp_path: Path, purpose: str) -> None:
    with started(cluster, tmp_path, "first", restricted_namespace="default") as first:
        until(lambda: first.probe("/healthz")[0] == 200, "an open port", first)
        taken = first.health
        words = [sys.executable, "-m", "dynamo_controller", "run", "--kubeconfig", str(cluster.kubeconfig)]
        flags = [f"--{purpose}-address", f"127.0.0.1:{taken}", "--restricted-namespace", "default"]
        refused = subprocess.run([*words, *flags], capture_output=True, text=True, timeout=LIMIT, check=False)
        assert refused.returncode == 2
        assert f"dynamo-controller: {purpose}: cannot listen on 127.0.0.1:{taken}" in refused.stderr
        assert "Traceback" not in refused.stderr


def test_a_lease_without_a_namespace_is_asked_for(cluster: Bench) -> None:
    if os.environ.get("KUBERNETES_SERVICE_HOST"):
        pytest.skip("in a pod there is a namespace")
    words = [sys.executable, "-m", "dynamo_controller", "run", "--kubeconfig", str(cluster.kubeconfig)]
    refused = subprocess.run(
        [*words, "--leader-elect", "--planner-cluster-role", "p"],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert refused.returncode == 2
    assert "leader_election_namespace: is needed outside of a pod" in refused.stderr

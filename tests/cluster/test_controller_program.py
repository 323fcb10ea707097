"""The program dynamo-controller as users start it, against a real cluster."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from dynamo_controller import fields, ownership
from dynamo_render import ClusterFacts, OperatorSettings, render
from tests.cluster import processes
from tests.cluster.bench import Bench
from tests.fakes.stage import graph

Json = dict[str, Any]
OURS = "nvidia.com/v1alpha1"
SETTINGS = {"restricted_namespace": "controller-program", "nats_address": "nats://nats:4222"}
ANSWER_LIMIT, STOP_LIMIT = 60.0, 30.0


def command(cluster: Bench, folder: Path, name: str) -> list[str]:
    settings = folder / "settings.json"
    settings.write_text(json.dumps(SETTINGS))
    module = [sys.executable, "-m", "dynamo_controller"]
    return [*module, name, "--kubeconfig", str(cluster.kubeconfig), "--settings", str(settings)]


def answer(cluster: Bench, folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    words = command(cluster, folder, name)
    return subprocess.run(words, capture_output=True, text=True, timeout=ANSWER_LIMIT, check=False)


def is_ready(cluster: Bench) -> bool:
    status = cluster.client.get(OURS, "DynamoGraphDeployment", "chat", "controller-program").get("status", {})
    return bool(status.get("state") == "successful")


def test_plan_run_and_facts_agree_with_the_cluster_and_with_an_offline_render(cluster: Bench, tmp_path: Path) -> None:
    cluster.ensure_namespaces(["controller-program"])
    content = graph()
    content["metadata"] |= {"namespace": "controller-program", "annotations": {"nvidia.com/enable-grove": "false"}}
    cluster.client.create(content)

    before = answer(cluster, tmp_path, "plan")
    assert before.returncode == 1, before.stderr
    assert "create DynamoComponentDeployment controller-program/chat-worker\n" in before.stdout
    assert cluster.client.get(OURS, "DynamoComponentDeployment", namespace="controller-program")["items"] == []

    with subprocess.Popen(command(cluster, tmp_path, "run"), stderr=subprocess.PIPE, text=True) as program:
        processes.wait_until(lambda: is_ready(cluster), seconds=ANSWER_LIMIT, what="ready graph")
        program.send_signal(signal.SIGTERM)
        _, log = program.communicate(timeout=STOP_LIMIT)
    assert program.returncode == 0, log
    assert [line for line in map(json.loads, log.splitlines()) if line["level"] == "error"] == []

    after = answer(cluster, tmp_path, "plan")
    assert (after.returncode, after.stdout) == (0, ""), after.stderr

    told = answer(cluster, tmp_path, "facts")
    assert told.returncode == 0, told.stderr
    facts = ClusterFacts.from_mapping(yaml.safe_load(told.stdout))
    assert sum(shape.count * shape.gpus for shape in facts.nodes) == 32
    assert differing(cluster, facts) == []


def differing(cluster: Bench, facts: ClusterFacts) -> list[str]:
    """Return the objects in the cluster that are not what a render with *facts* says, by kind and name."""
    live = cluster.client.get(OURS, "DynamoGraphDeployment", "chat", "controller-program")
    rendered = render(live, settings=OperatorSettings.from_mapping(SETTINGS), facts=facts)
    assert len(rendered.objects) > 5
    found = []
    for content, owner in zip(rendered.objects, rendered.owners, strict=True):
        namespace, name = content["metadata"]["namespace"], content["metadata"]["name"]
        wanted = content
        if owner is not None:
            wanted = ownership.with_owner(
                content, cluster.client.get(owner.api_version, owner.kind, owner.name, namespace)
            )
        stored = cluster.client.get(content["apiVersion"], content["kind"], name, namespace)
        if fields.needs_apply(wanted, stored):
            found.append(f"{content['kind']}/{name}")
    return found


def test_a_settings_file_with_unknown_keys_is_refused(tmp_path: Path) -> None:
    settings = tmp_path / "settings.yaml"
    settings.write_text("profil: '0.9'\n")
    words = [sys.executable, "-m", "dynamo_controller", "run", "--settings", str(settings)]
    refused = subprocess.run(words, capture_output=True, text=True, timeout=ANSWER_LIMIT, check=False)
    assert refused.returncode == 2
    assert "unknown setting 'profil'" in refused.stderr


def test_a_kubeconfig_that_is_not_there_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "nothing"
    words = [sys.executable, "-m", "dynamo_controller", "facts", "--kubeconfig", str(missing)]
    refused = subprocess.run(words, capture_output=True, text=True, timeout=ANSWER_LIMIT, check=False)
    assert refused.returncode == 2
    assert "no usable way to a cluster" in refused.stderr
    assert "Traceback" not in refused.stderr

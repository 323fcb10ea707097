"""The commands of the README, word for word, against a real cluster: from nothing to a graph that is ready.

Pods are simulated, so nothing is in the image, and the first command is not tried; the program that would run in the
controller's pods runs here, with their account and their settings.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from dynamo_controller.manifests import BASE, Installation
from dynamo_render import read_documents
from tests.cluster import bench, installation, processes
from tests.cluster.bench import Bench
from tests.cluster.client import Json
from tests.cluster.conftest import require

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 90.0
INSTALLED = Installation(image="registry.example.com/dynamo-controller:0.1.0")


def commands() -> list[str]:
    """Return the commands of the README's section, one on each line."""
    readme = (ROOT / "README.md").read_text("utf-8")
    section = readme.partition("\n## Run it in a cluster\n")[2].partition("\n## ")[0]
    (block,) = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    return [line for line in block.splitlines() if line]


@pytest.fixture(scope="module")
def empty_cluster(request: pytest.FixtureRequest, bench_logs: Path) -> Iterator[Bench]:
    """A cluster with nodes and without a definition of anybody."""
    require(bench.CLUSTER_PROGRAMS, request.config)
    folder = bench_logs / "readme"
    folder.mkdir()
    with bench.cluster(folder) as started:
        yield started


@pytest.fixture
def shell(empty_cluster: Bench, kubectl: Path, tmp_path: Path) -> Mapping[str, str]:
    """The environment of a user in a clone: kubectl knows the cluster, and the program is in .venv."""
    program = tmp_path / ".venv" / "bin" / "dynamo-controller"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m dynamo_controller "$@"\n')
    program.chmod(0o755)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    path = os.pathsep.join([str(kubectl.parent), os.environ["PATH"]])
    return {"PATH": path, "KUBECONFIG": str(empty_cluster.kubeconfig), "HOME": str(tmp_path)}


def run(command: str, folder: Path, environment: Mapping[str, str]) -> str:
    words = ["bash", "-o", "pipefail", "-c", command]
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def is_available(cluster: Bench) -> bool:
    status = cluster.client.get("apps/v1", "Deployment", BASE, INSTALLED.namespace).get("status", {})
    return bool(status.get("availableReplicas") == INSTALLED.replicas)


def state(cluster: Bench) -> str:
    status = cluster.client.get("nvidia.com/v1alpha1", "DynamoGraphDeployment", "chat", "serving").get("status", {})
    return str(status.get("state", ""))


def settings_in(cluster: Bench) -> Json:
    """Return the settings that pods of the controller find."""
    config = cluster.client.get("v1", "ConfigMap", BASE, INSTALLED.namespace)
    (content,) = read_documents(config["data"]["settings.yaml"], "settings.yaml")
    assert isinstance(content, dict)
    return content


def test_the_commands_of_the_readme_lead_to_a_graph_that_is_ready(
    empty_cluster: Bench, shell: Mapping[str, str], tmp_path: Path
) -> None:
    _build, install, deploy = commands()
    applied = run(install, tmp_path, shell)
    assert "validatingwebhookconfiguration.admissionregistration.k8s.io/dynamo-controller serverside-applied" in applied
    processes.wait_until(lambda: is_available(empty_cluster), seconds=LIMIT, what="pods of the controller")

    (port,) = processes.free_ports(1)
    installation.routed(empty_cluster, INSTALLED, port)
    login = installation.login(empty_cluster, tmp_path, INSTALLED.namespace)
    here = {
        "webhook_address": f"localhost:{port}",
        "webhook_certificates": str(tmp_path),
        "health_address": "0",
        "metrics_address": "0",
    }
    settings = installation.settings_file(INSTALLED, tmp_path, **{**settings_in(empty_cluster), **here})
    words = [sys.executable, "-m", "dynamo_controller", "run", "--kubeconfig", str(login), "--settings", str(settings)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as program:
        try:
            certificate = tmp_path / "tls.crt"
            processes.wait_until(certificate.exists, seconds=LIMIT, what="certificate of the webhook")
            run(deploy, tmp_path, shell)
            processes.wait_until(lambda: state(empty_cluster) == "successful", seconds=LIMIT, what="ready graph")
        finally:
            program.send_signal(signal.SIGTERM)
            _, log = program.communicate(timeout=LIMIT)
    assert program.returncode == 0, log


def test_the_same_installation_can_be_applied_again(
    empty_cluster: Bench, shell: Mapping[str, str], tmp_path: Path
) -> None:
    """The controller owns what it has put into the webhook configuration, and the user the rest."""
    install = commands()[1]
    run(install, tmp_path, shell)
    name = INSTALLED.place.configuration
    live = empty_cluster.client.get(*installation.HOOKS, name)
    hooks = [{"name": hook["name"], "clientConfig": {"caBundle": "UEVN"}} for hook in live["webhooks"]]
    frame = {"apiVersion": live["apiVersion"], "kind": live["kind"], "metadata": {"name": name}}
    empty_cluster.client.apply({**frame, "webhooks": hooks})
    run(install, tmp_path, shell)
    again = empty_cluster.client.get(*installation.HOOKS, name)
    assert {hook["clientConfig"].get("caBundle") for hook in again["webhooks"]} == {"UEVN"}

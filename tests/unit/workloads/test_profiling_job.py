"""The profiling Job, and its second container run with a stand-in for kubectl on the PATH."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import attrs
import pytest

from dynamo_render.plans.profiling import ProfilingJobPlan
from dynamo_render.workloads.profiling_job import PROFILING_JOB, copier_script

PLAN = ProfilingJobPlan(
    request="tiny", namespace="default", uid="u-1", online=True, image="prof:1", configuration="a: 1\n"
)

# Answers as kubectl does, as far as the script depends on it, and keeps what is applied. The profiler runs for two
# questions, and ends with the code in $CODE.
KUBECTL = """\
#!/usr/bin/env python3
import json, os, sys, pathlib
home, words = pathlib.Path(os.environ["HOME"]), sys.argv[1:]
options = dict(w[2:].split("=", 1) for w in words if w.startswith("--") and "=" in w)
if words[:2] == ["get", "pod"]:
    asked = home / "asked"
    count = len(asked.read_text()) if asked.exists() else 0
    asked.write_text("x" * (count + 1))
    assert words[2] == "pod-1" and options["namespace"] == os.environ["NAMESPACE"], words
    if os.environ.get("SILENT") and count == 0:
        sys.exit("the server does not answer")
    print(os.environ["CODE"] if count >= 2 else "", end="")
elif words[:2] == ["create", "configmap"]:
    files = [w.split("=", 1)[1] for w in words if w.startswith("--from-file=")]
    data = {os.path.basename(f): open(f, newline="").read() for f in files}
    assert options["dry-run"] == "client" and options["output"] == "json"
    metadata = {"name": words[2], "namespace": options["namespace"]}
    print(json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "data": data, "metadata": metadata}))
elif words[0] == "label":
    made = json.load(sys.stdin)
    assert "--local" in words
    made["metadata"]["labels"] = dict(w.split("=", 1) for w in words if not w.startswith("--") and "=" in w)
    print(json.dumps(made))
elif words[0] == "apply":
    (home / "applied.json").write_text(sys.stdin.read())
else:
    sys.exit(f"unknown: {words}")
"""


@attrs.frozen
class Ran:
    """What a run of the script led to."""

    code: int
    complaint: str
    applied: dict[str, Any] | None


def ran(folder: Path, *, name: str = "tiny", namespace: str = "default", code: int = 0, **environ: str) -> Ran:
    """Run the script over the files in ``data`` of *folder*, after a profiler that ended with *code*."""
    programs = folder / "bin"
    programs.mkdir()
    for program, text in {"kubectl": KUBECTL, "sleep": "#!/bin/sh\n"}.items():
        (programs / program).write_text(text)
        (programs / program).chmod(0o755)
    done = subprocess.run(
        ["/bin/sh", "-c", copier_script(name, namespace, str(folder / "data"))],
        env={
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(folder),
            "HOSTNAME": "pod-1",
            "NAMESPACE": namespace,
            "CODE": str(code),
            **environ,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    applied = folder / "applied.json"
    return Ran(done.returncode, done.stderr, json.loads(applied.read_text()) if applied.exists() else None)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The folder that the profiler writes to."""
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


@pytest.mark.parametrize("name", ["tiny", "123", "on", "null", "n", "1e3", "a.b"])
def test_the_copier_publishes_what_the_profiler_wrote_under_any_name(tmp_path: Path, data: Path, name: str) -> None:
    (data / "config_with_planner.yaml").write_text("kind: A\n")
    done = ran(tmp_path, name=name, namespace="0x1")
    assert done.code == 0, done.complaint
    assert done.applied == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": f"dgdr-output-{name}",
            "namespace": "0x1",
            "labels": {"dgdr.nvidia.com/name": name, "nvidia.com/managed-by": "dynamo-operator"},
        },
        "data": {"config_with_planner.yaml": "kind: A\n"},
    }


@pytest.mark.parametrize("text", ["", "no end", "two ends\n\n", "$(x) `y` \"z\" 'q' \\n \r\n", "é\t日本\n"])
def test_the_copier_changes_nothing_in_the_files(tmp_path: Path, data: Path, text: str) -> None:
    (data / "config_with_planner.yaml").write_bytes(text.encode())
    (data / "mocker_config_with_planner.yaml").write_bytes(f"mock {text}".encode())
    done = ran(tmp_path)
    assert done.applied is not None, done.complaint
    assert done.applied["data"] == {
        "config_with_planner.yaml": text,
        "mocker_config_with_planner.yaml": f"mock {text}",
    }


def test_the_copier_takes_a_megabyte(tmp_path: Path, data: Path) -> None:
    (data / "config_with_planner.yaml").write_text("x" * 2**20)
    done = ran(tmp_path)
    assert done.applied is not None, done.complaint
    assert len(done.applied["data"]["config_with_planner.yaml"]) == 2**20


def test_a_profiler_that_leaves_no_file_fails_the_copier_with_one_line(tmp_path: Path, data: Path) -> None:
    done = ran(tmp_path, code=3)
    assert done.code != 0
    assert done.complaint.splitlines() == [
        f"the profiler has ended with exit code 3 and without a file {data}/config_with_planner.yaml"
    ]
    assert done.applied is None


def test_a_profiler_that_succeeds_without_a_file_fails_the_copier_too(tmp_path: Path, data: Path) -> None:
    assert data.is_dir()
    assert ran(tmp_path).code != 0


def test_a_failed_profiler_that_left_its_file_is_published(tmp_path: Path, data: Path) -> None:
    """The pod counts as failed all the same."""
    (data / "config_with_planner.yaml").write_text("kind: A\n")
    assert ran(tmp_path, code=1).applied is not None


def test_the_copier_outlives_a_server_that_does_not_answer(tmp_path: Path, data: Path) -> None:
    (data / "config_with_planner.yaml").write_text("kind: A\n")
    assert ran(tmp_path, SILENT="1").code == 0


def pod(**changes: Any) -> Any:
    (made,) = PROFILING_JOB.build(attrs.evolve(PLAN, **changes))
    return made["spec"]["template"]["spec"]


def test_the_label_of_the_job_says_who_profiles() -> None:
    (online,), (estimated,) = PROFILING_JOB.build(PLAN), PROFILING_JOB.build(attrs.evolve(PLAN, online=False))
    assert online["metadata"]["labels"]["app"] == "dynamo-profiler"
    assert estimated["metadata"]["labels"]["app"] == "aic-profiler"


def test_output_stays_in_the_pod_or_on_a_claim() -> None:
    assert pod()["volumes"] == [{"name": "profiling-output", "emptyDir": {}}]
    claimed = {"name": "profiling-output", "persistentVolumeClaim": {"claimName": "c"}}
    assert pod(output_claim="c")["volumes"] == [claimed]


def test_a_plan_and_its_objects_share_nothing() -> None:
    tolerations = ({"key": "gpu"},)
    pod(tolerations=tolerations)["tolerations"][0]["key"] = "changed"
    assert tolerations == ({"key": "gpu"},)

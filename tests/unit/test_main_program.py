"""The program as a process: its streams, its end, and what it loads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = str(ROOT / "examples" / "vllm-agg" / "graph.yaml")


def run(*words: str, code: str = "", **environ: str) -> subprocess.CompletedProcess[bytes]:
    """Run the program, or *code* in its place."""
    program = ["-c", code] if code else ["-m", "dynamo_render"]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environ}
    return subprocess.run([sys.executable, *program, *words], capture_output=True, env=variables, check=False)


def test_the_program_prints_objects_and_ends_well() -> None:
    done = run("render", EXAMPLE, "-o", "name")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"deployment.apps/" in done.stdout


def test_the_program_passes_the_exit_code_on() -> None:
    assert run("render", "missing.yaml").returncode == 2


def test_output_is_utf_8_with_line_feeds_everywhere(tmp_path: Path) -> None:
    text = Path(EXAMPLE).read_text(encoding="utf-8")
    annotated = text.replace("metadata:\n", "metadata:\n  namespace: serving\n", 1) if "namespace" not in text else text
    (tmp_path / "größe.yaml").write_text(annotated.replace("replicas: 1", "größe: 1"), encoding="utf-8")
    done = run("render", str(tmp_path / "größe.yaml"), PYTHONIOENCODING="ascii")
    assert "größe.yaml".encode() in done.stderr
    assert b"\r" not in done.stdout


def test_a_reader_who_leaves_does_not_cause_complaints() -> None:
    words = [sys.executable, "-m", "dynamo_render", "render", EXAMPLE]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == (b"", 141)


def test_importing_the_program_has_no_effect() -> None:
    done = run(code="import dynamo_render.__main__")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("name", ["cattrs", "shtab", "tqdm", "difflib", "traceback"])
def test_a_plain_render_loads_no_more_than_it_needs(name: str) -> None:
    """Every import is time that the user waits: 120 ms is all there is."""
    code = (
        "import sys\n"
        "from dynamo_render.commandline.main import main, process_console\n"
        "main(sys.argv[2:], process_console())\n"
        "assert sys.argv[1] not in sys.modules"
    )
    done = run(name, "render", EXAMPLE, code=code)
    assert (done.returncode, done.stderr) == (0, b"")

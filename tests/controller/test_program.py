"""What the program says, and how it ends, where a call or the way to a cluster cannot be used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dynamo_controller import __main__ as program
from dynamo_render import __version__

CONFIG = """\
apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: one, user: me}}]
clusters: [{name: one, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: me, user: {}}]
"""
ANSWER_LIMIT = 60


def refused(kubeconfig: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the last line that a plan says to *kubeconfig* before it ends with code 2."""
    assert program.main(["plan", "--kubeconfig", str(kubeconfig)], {}) == 2
    return capsys.readouterr().err.splitlines()[-1]


def test_a_kubeconfig_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(tmp_path / "nothing", capsys)
    assert said == f"dynamo-controller: no usable way to a cluster: {tmp_path / 'nothing'}: no such file"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "holds something else than a kubeconfig does"),
        (b"a: \xff", "holds something else than a kubeconfig does"),
        (b"clusters: 5\n", "holds something else than a kubeconfig does"),
        (b"foo: 1\n", "Expected key current-context"),
        (b"a: [\n", "while parsing a flow node"),
        (CONFIG.replace("context: here", "context: there").encode(), "Expected object with name there"),
        (
            CONFIG.replace("user: {}", "user: {client-certificate-data: AAAA, client-key-data: AAAA}").encode(),
            "a certificate or a key that it names cannot be used",
        ),
    ],
)
def test_a_kubeconfig_that_cannot_be_used_is_named_with_the_reason(
    content: bytes, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "config"
    file.write_bytes(content)
    said = refused(file, capsys)
    assert said.startswith(f"dynamo-controller: no usable way to a cluster: {file}: ")
    assert words in said


def test_a_cluster_that_nobody_listens_for_cannot_be_reached(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "config"
    file.write_text(CONFIG)
    said = refused(file, capsys)
    assert said.startswith("dynamo-controller: the cluster cannot be reached: GET /apis: Cannot connect to host 127.0.")


@pytest.mark.parametrize(
    ("words", "asked"),
    [([], "dynamo-controller"), (["frob"], "dynamo-controller"), (["run", "--nonsense"], "dynamo-controller")],
)
def test_a_wrong_call_is_answered_with_one_line_and_a_hint(
    words: list[str], asked: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        program.main(words, {})
    said = capsys.readouterr().err.splitlines()
    assert ended.value.code == 2
    assert said[0].startswith(f"{asked}: ")
    assert said[1:] == [f"    hint: see `{asked} --help`"]


def test_the_program_says_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        program.main(["--version"], {})
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"dynamo-controller {__version__}\n"


def test_a_reader_that_goes_away_ends_the_program_quietly() -> None:
    words = [sys.executable, "-m", "dynamo_controller", "manifests", "--only-definitions"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
        assert started.stdout is not None
        assert started.stderr is not None
        started.stdout.close()
        assert started.stderr.read() == b""
        assert started.wait(ANSWER_LIMIT) == 141

"""Scripts that complete the words of a call."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from dynamo_render.commandline.completion import SHELLS
from tests.unit.commandline.conftest import Call


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_knows_the_flags(shell: str, call: Call) -> None:
    result = call("completion", shell)
    assert (result.status, result.err) == (0, "")
    assert [word for word in ("nats-address", "select", "completion") if word not in result.out] == []


def test_bash_completes_a_flag(call: Call) -> None:
    script = call("completion", "bash").out
    ask = """
    complete -p dynamo-render > /dev/null || exit 1
    COMP_WORDS=(dynamo-render render --nats) COMP_CWORD=2
    "$(complete -p dynamo-render | sed 's/.*-F \\([^ ]*\\) .*/\\1/')"
    echo "${COMPREPLY[@]}"
    """
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    done = subprocess.run([bash, "-c", script + ask], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["--nats-address"]


def test_another_shell_is_a_usage_error(call: Call) -> None:
    assert call("completion", "csh").status == 2

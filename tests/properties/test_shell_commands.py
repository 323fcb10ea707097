"""Laws of shell-safe launches, checked with the real shells: valid stays valid, and every word of the user survives."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from dynamo_render.backends import BACKENDS, injection
from dynamo_render.plans.launch import Addressing, LaunchPlan

# Shells are slow to start; half of the usual examples finds the same mistakes.
FEWER = settings(max_examples=max(15, settings().max_examples // 2))

ADDRESSING = Addressing(
    leader="$(LWS_LEADER_ADDRESS)",
    hosts=("$(LWS_LEADER_ADDRESS)", "w.svc"),
    rank="$((INDEX + 1))",
    rank_in_sum="$((INDEX + 1))",
    needs_shell=True,
    waits_for_names=True,
)
TP = ["--tensor-parallel-size", "16"]
DP = ["--data-parallel-size", "16"]


@attrs.frozen
class Backdrop:
    """A framework, the module that starts it, and arguments that spread it."""

    framework: str
    spreading: tuple[str, ...] = ()

    def plan(self) -> LaunchPlan:
        """Return a shell-safe launch over two nodes."""
        return LaunchPlan(
            backend=self.framework,
            nodes=2,
            gpus=8,
            processes=16,
            addressing=ADDRESSING,
            ssh_secret="s",  # noqa: S106
        )

    def launched(self, role: Any, command: list[str], args: list[str]) -> list[str]:
        """Return the words that start the container of *role*."""
        container = BACKENDS[self.framework].launched(self.plan(), role, {"command": command, "args": args})
        return [*container.get("command", []), *container.get("args", [])]


BACKDROPS = st.sampled_from(
    [Backdrop("vllm", tuple(TP)), Backdrop("vllm", tuple(DP)), Backdrop("sglang"), Backdrop("trtllm")]
)

WORDS = st.sampled_from(
    [
        "a",
        "vllm",
        "sglang",
        "python3",
        "'a; vllm | b'",
        '"my sglang & model"',
        "'it'\\''s'",
        "a\\ b",
        "--name=vllm",
        '--config "$(cat f | tr a b)"',
        "${X:-vllm}",
        "`echo sglang`",
        "$((1 + 2))",
        "x#y",
        "\\\n  --next",
        "$X",
        '"\\"vllm\\""',
        "-m dynamo.vllm",
        "2>&1",
        "> sglang.log",
        "< /dev/null",
    ]
)
SIMPLE = st.builds(
    lambda start, words: " ".join([start, *words]),
    st.sampled_from(
        [
            "python3 -m dynamo.vllm",
            "exec python3 -m dynamo.sglang",
            "A=b python3 -m dynamo.trtllm",
            "/opt/python3.11 -m dynamo.sglang",
            "echo",
            "'python3' vllm sglang",
            "sh -c 'python3 -m dynamo.vllm'",
            'bash -ec "python3 -m dynamo.sglang; true"',
        ]
    ),
    st.lists(WORDS, max_size=4),
)


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    join = st.sampled_from([" | ", " && ", " || ", "; ", " & ", "\n", ";", "&&", " # vllm; it's\n", "\n\n"])
    wrap = st.sampled_from(
        [
            "({})",
            "{{ {}; }}",
            "if {}; then {}; fi",
            "while {}\ndo {}\ndone",
            "for i in a 'b c'; do {}\ndone",
            "case $X in vllm|sglang) {};; *) true;; esac",
            "f() {{ {}; }}; f",
            "cat > c <<EOF\nit's python3 vllm sglang; (\nEOF\n{}",
            "cat <<-'E' | {}\n\tsglang `\n\tE\n",
            "! {}",
            "Y=$({})",
            "{} &",
            "\n{}\n",
            "# python3 sglang vllm '\n{}",
        ]
    )
    return st.one_of(
        st.builds(lambda first, sign, second: first + sign + second, inner, join, inner),
        st.builds(lambda shape, text: shape.format(*[text] * shape.count("{}")), wrap, inner),
    )


SCRIPTS = st.recursive(SIMPLE, _compound, max_leaves=4)


def _is_valid(shell: str, script: str) -> bool:
    # Not as an argument of -c: some shells then read a line at a time and stop at the first mistake only when they run.
    return not subprocess.run([shell, "-n"], input=script, text=True, capture_output=True, check=False).stderr


def _script_of(words: list[str]) -> tuple[str, str]:
    position = injection.script_position(words)
    assert position is not None
    return os.path.basename(words[0]), words[position]  # noqa: PTH119


@pytest.mark.parametrize("shell", ["sh", "bash"])
@FEWER
@given(SCRIPTS, st.sampled_from(["vllm", "sglang", "trtllm"]))
@example("(python3 -m dynamo.sglang)", "sglang")
@example("python3 -m dynamo.sglang --x 'a;sglang b'", "sglang")
def test_a_valid_script_with_flags_is_valid(shell: str, script: str, keyword: str) -> None:
    assume(_is_valid(shell, script))
    flags = injection.Flags(keyword=keyword, text="--node-rank $(( 4 * $((I + 1)) ))")
    assert _is_valid(shell, injection.flags_in_script(script, flags))


@pytest.mark.parametrize("shell", ["/bin/sh", "bash"])
@FEWER
@given(SCRIPTS, BACKDROPS, st.sampled_from(["leader", "worker"]), st.booleans())
@example("nats & python3 -m dynamo.vllm", Backdrop("vllm", tuple(TP)), "leader", False)
@example("", Backdrop("vllm", tuple(TP)), "leader", False)
@example("(cd /x; python3 -m dynamo.trtllm)", Backdrop("trtllm"), "leader", False)
def test_a_valid_shell_command_stays_one_valid_shell_command(
    shell: str, script: str, backdrop: Backdrop, role: str, inside: Any
) -> None:
    """The arguments that spread vLLM stand inside of the script, or behind it as its positional parameters."""
    if inside and backdrop.spreading:
        script = f"true {' '.join(backdrop.spreading)} && {script}"
    assume(_is_valid(shell, script))
    words = backdrop.launched(role, [shell, "-c"], [script] if inside else [script, *backdrop.spreading])
    assert _is_valid(*_script_of(words))


@FEWER
@given(SCRIPTS)
@example("(cd /x; python3 -m dynamo.trtllm)")
@example("\npython3 -m dynamo.trtllm")
@example("if true; then python3 -m dynamo.trtllm; fi")
def test_the_script_behind_the_mpi_launcher_is_valid(script: str) -> None:
    """The launcher's text is quoted, so that the outer shell does not see its mistakes."""
    assume(_is_valid("bash", script))
    text = _script_of(Backdrop("trtllm").launched("leader", ["bash", "-c"], [script]))[1]
    launcher = shlex.split(text[text.index(" bash -c 'trtllm-llmapi-launch ") :])
    assert launcher[:2] == ["bash", "-c"]
    assert _is_valid("bash", launcher[2])


PRINTER = "#!/bin/sh\nprintf '%s' \"${0##*/}\"\nfor word; do printf '\\037%s' \"$word\"; done\nprintf '\\036'\n"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with programs that only print their names and words."""
    folder = tmp_path_factory.mktemp("programs")
    for name in ("python3", "ray", "trtllm-llmapi-launch"):
        program = folder / name
        program.write_text(PRINTER)
        program.chmod(0o755)
    return folder


def _runs(programs: Path, words: list[str], env: Mapping[str, str] | None = None) -> list[list[str]]:
    """Return what *words* start, in order: the name and the words of every program."""
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(words, env={"PATH": path, **(env or {})}, capture_output=True, check=True)
    return [run.split("\x1f") for run in done.stdout.decode().split("\x1e")[:-1]]


# No control characters: the programs use two of them as separators, and no argument can hold NUL.
PLAIN_WORDS = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=8),
        st.text(st.sampled_from("'\"\\$`|&;()<>*?[]{}~#! \n\tab"), max_size=8),
    ),
    max_size=4,
).filter(lambda words: not {"--tensor-parallel-size", "--data-parallel-size"} & set(words))
MODULE = ["-m", "dynamo.x"]
HEAD = ["ray", "start", "--head", "--port=6379"]


@FEWER
@given(words=PLAIN_WORDS)
def test_words_survive_behind_a_ray_head(programs: Path, words: list[str]) -> None:
    started = Backdrop("vllm").launched("leader", ["python3", *MODULE], [*TP, *words])
    engine = ["python3", *MODULE, *TP, *words, "--distributed-executor-backend", "ray"]
    assert _runs(programs, started) == [HEAD, engine]


@FEWER
@given(words=PLAIN_WORDS)
def test_words_survive_the_shell_that_computes_a_rank(programs: Path, words: list[str]) -> None:
    started = Backdrop("sglang").launched("worker", ["python3", *MODULE], words)
    # The kubelet replaces this reference before any shell runs.
    started = [word.replace("$(LWS_LEADER_ADDRESS)", "l.svc") if word.startswith("exec ") else word for word in started]
    flags = ["--dist-init-addr", "l.svc:29500", "--nnodes", "2", "--node-rank", "3"]
    assert _runs(programs, started, {"INDEX": "2"}) == [["python3", *MODULE, *words, *flags]]


@FEWER
@given(words=PLAIN_WORDS)
def test_words_survive_data_parallel_flags(programs: Path, words: list[str]) -> None:
    started = Backdrop("vllm").launched("worker", ["python3", *MODULE], [*DP, *words])
    started = [word.replace("$(LWS_LEADER_ADDRESS)", "l.svc") for word in started]
    (run,) = _runs(programs, started, {"INDEX": "2"})
    assert run[: 5 + len(words)] == ["python3", *MODULE, *DP, *words]
    assert run[5 + len(words) :][3:7] == ["--data-parallel-start-rank", "24", "--data-parallel-address", "l.svc"]


@FEWER
@given(words=PLAIN_WORDS)
def test_words_survive_the_mpi_launcher(programs: Path, words: list[str]) -> None:
    text = Backdrop("trtllm").launched("leader", ["python3", *MODULE], words)[-1]
    launcher = text[text.index(" bash -c 'trtllm-llmapi-launch ") :]
    assert _runs(programs, ["/bin/sh", "-c", launcher]) == [["trtllm-llmapi-launch", "python3", *MODULE, *words]]


SCRIPT_STORIES = [
    # script, programs in order
    ("python3 -m dynamo.vllm 'a b'", [["python3", "-m", "dynamo.vllm", "FLAGS", "a b"]]),
    (
        "python3 --version & wait; python3 -m dynamo.vllm",
        [["python3", "--version"], ["python3", "-m", "dynamo.vllm", "FLAGS"]],
    ),
    ("false || python3 -m dynamo.vllm", [["python3", "-m", "dynamo.vllm", "FLAGS"]]),
    ("(cd / && python3 -m dynamo.vllm)", [["python3", "-m", "dynamo.vllm", "FLAGS"]]),
    ("bash -c 'python3 -m dynamo.vllm'", [["python3", "-m", "dynamo.vllm", "FLAGS"]]),
    ("cat >/dev/null <<E\nit's vllm\nE\npython3 -m dynamo.vllm", [["python3", "-m", "dynamo.vllm", "FLAGS"]]),
]


@pytest.mark.parametrize("shell", ["/bin/sh", "bash"])
@pytest.mark.parametrize(("script", "expected"), SCRIPT_STORIES)
def test_a_script_starts_after_the_ray_head_and_its_engine_knows_ray(
    programs: Path, shell: str, script: str, expected: list[list[str]]
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    started = Backdrop("vllm").launched("leader", [shell, "-c"], [script, *TP])
    ray = ["--distributed-executor-backend", "ray"]
    runs = [[part for word in run for part in (ray if word == "FLAGS" else [word])] for run in expected]
    assert _runs(programs, started) == [HEAD, *runs]

"""Where flags go in a command, as shipped and shell-safe (rendering.md §15.5)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dynamo_render.backends import injection
from dynamo_render.backends.injection import Flags

F = "--node-rank $(( 4 * $((I + 1)) ))"
SGLANG = Flags(keyword="sglang", text=F)
IN_SHELL = Flags(keyword="sglang", text=F, need_shell=True)

SECTION_15_5_DIRECT = [
    ("python", True),
    ("python3", True),
    ("python3.11", True),
    ("/x/python3.12.1", True),
    ("x y/python3", True),
    ("python3.", False),
    ("python-config", False),
    ("python ", False),
    ("python3\n", False),
    ("a\nb/python3", False),
    ("ipython", False),
    ("/bin/sh", False),
]


@pytest.mark.parametrize(("word", "expected"), SECTION_15_5_DIRECT)
def test_only_the_path_of_an_interpreter_is_direct_python(word: str, expected: bool) -> None:  # noqa: FBT001
    assert injection.is_direct_python([word, "-m", "x"]) is expected


def test_no_words_are_no_python() -> None:
    assert not injection.is_direct_python([])


# The rows of the section's table; both rules agree on them.
SECTION_15_5_TEXT = [
    ("python -m dynamo.sglang", f"python -m dynamo.sglang {F}"),
    ("echo a | wc -l && python -m dynamo.sglang && ls", f"echo a | wc -l && python -m dynamo.sglang {F} && ls"),
    (
        "python3 -m dynamo.sglang --model /models/sglang-x --tp 8",
        f"python3 -m dynamo.sglang --model /models/sglang-x {F} --tp 8",
    ),
    (
        "python3 -m dynamo.sglang;python3 -m dynamo.sglang",
        f"python3 -m dynamo.sglang {F};python3 -m dynamo.sglang {F}",
    ),
    (
        "python3 -m dynamo.sglang 2>&1 | tee sglang.log",
        f"python3 -m dynamo.sglang {F} 2>&1 | tee sglang.log",
    ),
    ("python3 run.py --backend=sglang,foo --x", f"python3 run.py --backend=sglang,foo {F} --x"),
    # §26.3
    (
        "exec python3 -m dynamo.sglang --model m --tp 16 | tee /tmp/log",
        f"exec python3 -m dynamo.sglang {F} --model m --tp 16 | tee /tmp/log",
    ),
    # The prose of the section.
    ("sglang python3 -m other", "sglang python3 -m other"),
    ("python3", "python3"),
    ("python-x -m dynamo.sglang", "python-x -m dynamo.sglang"),
    ("python3 | sglang", "python3 | sglang"),
    ("/usr/bin/python3.11 -m dynamo.sglang", f"/usr/bin/python3.11 -m dynamo.sglang {F}"),
    ("", ""),
]


@pytest.mark.parametrize(("text", "expected"), SECTION_15_5_TEXT)
def test_the_shipped_rule_puts_flags_behind_the_last_word_with_the_keyword(text: str, expected: str) -> None:
    assert injection.flags_in_text(text, SGLANG) == expected


@pytest.mark.parametrize(("text", "expected"), SECTION_15_5_TEXT)
def test_the_safe_rule_agrees_with_the_shipped_one_on_plain_scripts(text: str, expected: str) -> None:
    assert injection.flags_in_script(text, SGLANG) == expected


SAFE_DIFFERENCES = [
    # script, shipped, shell-safe
    (
        "python3 -m dynamo.sglang --note 'a; sglang b' --tp 8",
        f"python3 -m dynamo.sglang {F} --note 'a; sglang b' --tp 8",
        f"python3 -m dynamo.sglang --note 'a; sglang b' {F} --tp 8",
    ),
    (
        'python3 -m dynamo.sglang --name "my sglang model"',
        f'python3 -m dynamo.sglang --name "my sglang {F} model"',
        f'python3 -m dynamo.sglang --name "my sglang model" {F}',
    ),
    ("(python3 -m dynamo.sglang)", f"(python3 -m dynamo.sglang) {F}", f"(python3 -m dynamo.sglang {F})"),
    (
        "python3 -m dynamo.sglang > sglang.log --tp 8",
        f"python3 -m dynamo.sglang > sglang.log {F} --tp 8",
        f"python3 -m dynamo.sglang {F} > sglang.log --tp 8",
    ),
    (
        "python3 -m dynamo.sglang --tp 8\necho sglang ended",
        f"python3 -m dynamo.sglang --tp 8\necho sglang {F} ended",
        f"python3 -m dynamo.sglang {F} --tp 8\necho sglang ended",
    ),
    (
        'bash -lc "python3 -m dynamo.sglang"',
        f'bash -lc "python3 -m dynamo.sglang" {F}',
        f'bash -lc "python3 -m dynamo.sglang {F}"',
    ),
    (
        "cat > c <<E\npython3 sglang it's\nE\npython3 -m dynamo.sglang",
        f"cat > c <<E\npython3 sglang it's\nE\npython3 -m dynamo.sglang {F}",
        f"cat > c <<E\npython3 sglang it's\nE\npython3 -m dynamo.sglang {F}",
    ),
    (
        "cat <<E; true\npython3 sglang\nE",
        f"cat <<E; true\npython3 sglang {F}\nE",
        "cat <<E; true\npython3 sglang\nE",
    ),
    (
        "python3 -m dynamo.sglang\\\n  --tp 8",
        f"python3 -m dynamo.sglang\\ {F}\n  --tp 8",
        f"python3 -m dynamo.sglang {F}\\\n  --tp 8",
    ),
    (
        "X=$(python3 -m dynamo.sglang.port) && run $X",
        f"X=$(python3 -m dynamo.sglang.port) {F} && run $X",
        "X=$(python3 -m dynamo.sglang.port) && run $X",
    ),
    # A quote without an end is no script, so the shipped rule decides.
    ("python3 -m dynamo.sglang --x 'y", f"python3 -m dynamo.sglang {F} --x 'y", f"python3 -m dynamo.sglang {F} --x 'y"),
]


@pytest.mark.parametrize(("script", "shipped", "safe"), SAFE_DIFFERENCES)
def test_only_the_safe_rule_knows_the_shell(script: str, shipped: str, safe: str) -> None:
    assert (injection.flags_in_text(script, SGLANG), injection.flags_in_script(script, SGLANG)) == (shipped, safe)


SCRIPT_POSITIONS = [
    (["/bin/sh", "-c", "x"], 2),
    (["bash", "-lc", "x", "name"], 2),
    (["bash", "-euo", "pipefail", "-c", "x"], 4),
    (["bash", "-c", "-e", "x"], 3),
    (["bash", "--rcfile", "f", "-c", "--", "x"], 5),
    (["env", "A=b", "bash", "-c", "x"], 4),
    (["tini", "--", "/bin/bash", "-c", "x"], 4),
    (["bash", "start.sh", "-c", "x"], None),
    (["bash", "-c"], None),
    (["python3", "-c", "x"], None),
    (["python3", "run.py", "sh", "-c", "x"], None),
    (["/start.sh", "-c", "x"], None),
    ([], None),
]


@pytest.mark.parametrize(("words", "position"), SCRIPT_POSITIONS)
def test_the_script_of_a_shell_is_found_behind_its_options(words: list[str], position: int | None) -> None:
    assert injection.script_position(words) == position


SECTION_15_5_CASES = [
    # command, args, flags, shipped command and args, shell-safe command and args (None: the same)
    (
        ["python3", "-m", "dynamo.sglang"],
        ["--tp", "8"],
        Flags("sglang", "--a  b"),
        (None, ["--tp", "8", "--a", "b"]),
        None,
    ),
    (["python3", "-m", "dynamo.sglang"], None, Flags("sglang", "--a b"), (None, ["--a", "b"]), None),
    (["python3", "-m"], ["dynamo.sglang"], IN_SHELL, (["sh", "-c"], [f"exec python3 -m dynamo.sglang {F}"]), None),
    (["python3", "-m", "dynamo.sglang"], None, IN_SHELL, (["sh", "-c"], [f"exec python3 -m dynamo.sglang {F}"]), None),
    (
        ["python3", "run.py"],
        ["--json", '{"a": 1}'],
        IN_SHELL,
        (["sh", "-c"], ['exec python3 run.py --json {"a": 1} ' + F]),
        (["sh", "-c"], ["exec python3 run.py --json '{\"a\": 1}' " + F]),
    ),
    (["/bin/sh", "-c"], ["python3 -m dynamo.sglang"], IN_SHELL, (None, [f"python3 -m dynamo.sglang {F}"]), None),
    (
        ["/bin/sh", "-c"],
        ["ls", "python3 -m dynamo.sglang", "python3 -m dynamo.sglang"],
        SGLANG,
        (None, ["ls", f"python3 -m dynamo.sglang {F}", "python3 -m dynamo.sglang"]),
        None,
    ),
    (["/start.sh"], ["python3", "-m", "dynamo.sglang"], SGLANG, (None, ["python3", "-m", "dynamo.sglang"]), None),
    (
        ["bash", "-c", "python3 -m dynamo.sglang"],
        None,
        SGLANG,
        (None, None),
        (["bash", "-c", f"python3 -m dynamo.sglang {F}"], None),
    ),
    (None, None, SGLANG, (None, None), None),
]


def _container(command: list[str] | None, args: list[str] | None) -> dict[str, Any]:
    words = {"command": command, "args": args}
    return {"name": "main", **{key: value for key, value in words.items() if value is not None}}


@pytest.mark.parametrize("shell_safe", [False, True])
@pytest.mark.parametrize(("command", "args", "flags", "shipped", "safe"), SECTION_15_5_CASES)
def test_flags_reach_the_python_command_of_a_container(
    command: Any, args: Any, flags: Flags, shipped: Any, safe: Any, shell_safe: Any
) -> None:
    changed_command, changed_args = (safe or shipped) if shell_safe else shipped
    expected = _container(changed_command or command, changed_args or args)
    assert injection.with_flags(_container(command, args), flags, shell_safe=shell_safe) == expected


def test_the_given_container_is_not_changed() -> None:
    given = _container(["sh", "-c"], ["python3 -m dynamo.sglang"])
    before = copy.deepcopy(given)
    assert injection.with_flags(given, SGLANG, shell_safe=True) != before
    assert given == before


def test_a_container_without_python_is_returned_itself() -> None:
    given = _container(["/start.sh"], ["x"])
    assert injection.with_flags(given, SGLANG, shell_safe=True) is given

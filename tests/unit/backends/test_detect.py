"""Detection of the framework from command, arguments and the explicit setting, row by row (rendering.md §14)."""

from __future__ import annotations

import time

import pytest

from dynamo_render.backends import detect

SECTION_14_SEEN = [
    ("python3 -m dynamo.vllm", ("vllm",)),
    ("/usr/bin/python3.11 -u -m dynamo.vllm.x", ("vllm",)),
    ("ipython -m dynamo.vllm", ("vllm",)),
    ("python3 -m mypkg.dynamo.vllmx", ("vllm",)),
    ("python3 x-m dynamo.vllm", ("vllm",)),
    ("python3 -m dynamo.frontend --x dynamo.vllm", ("vllm",)),
    ("python3 -mdynamo.vllm", ()),
    ("python3 | -m dynamo.vllm", ()),
    ("Python3 -m dynamo.vllm", ()),
    ("uv run -m dynamo.vllm", ()),
    ("python3 -m dynamo_vllm", ()),
    ("python3 -m dynamo.vllm && python3 -m dynamo.sglang", ("vllm", "sglang")),
    ("python3 -m dynamo.vllm --a dynamo.sglang", ("vllm", "sglang")),
    # The prose of the section.
    ("python -m dynamo.trtllm", ("trtllm",)),
    ("python3\n-m\ndynamo.vllm", ("vllm",)),
    ("python3\v-m dynamo.vllm", ()),
    ("python3\u00a0-m dynamo.vllm", ()),
    ("python3 -m x; dynamo.vllm", ()),
    ("python3 -m x & python3 -m dynamo.sglang", ("sglang",)),
    ("dynamo.vllm python3 -m x", ()),
    ("python3 -m x -m dynamo.vllm", ("vllm",)),
    ("python3 -m", ()),
    ("", ()),
]


@pytest.mark.parametrize(("text", "seen"), SECTION_14_SEEN)
def test_a_framework_is_seen_where_the_section_says(text: str, seen: tuple[str, ...]) -> None:
    assert detect.detected([text], []) == seen


def test_command_and_arguments_are_one_text() -> None:
    assert detect.detected(["python3", "-m"], ["dynamo.sglang", "--x"]) == ("sglang",)


CHOICES = [
    (["python3 -m dynamo.vllm"], None, "vllm"),
    (["python3 -m dynamo.vllm"], "", "vllm"),
    (["python3 -m dynamo.vllm"], "vllm", "vllm"),
    (["./start.sh"], "sglang", "sglang"),
    ([], "trtllm", "trtllm"),
    (["./start.sh"], None, "none"),
    ([], None, "none"),
    (["python3 -m dynamo.vllm && python3 -m dynamo.sglang"], "sglang", "sglang"),
    (["python3 -m dynamo.vllm && python3 -m dynamo.sglang"], "trtllm", "trtllm"),
]


@pytest.mark.parametrize(("args", "explicit", "chosen"), CHOICES)
def test_the_command_decides_before_the_setting(args: list[str], explicit: str | None, chosen: str) -> None:
    assert detect.choose([], args, explicit) == chosen


def test_a_command_that_contradicts_the_setting_is_a_mismatch() -> None:
    with pytest.raises(detect.BackendMismatch) as caught:
        detect.choose(["python3", "-m", "dynamo.vllm"], [], "sglang")
    assert str(caught.value) == (
        'backend framework mismatch: detected "vllm" from command but explicitly configured as "sglang"'
    )


def test_two_frameworks_without_a_setting_are_ambiguous() -> None:
    with pytest.raises(detect.BackendAmbiguous, match=r"^could not determine backend framework: .*vllm and sglang$"):
        detect.choose([], ["python3 -m dynamo.vllm && python3 -m dynamo.sglang"], None)


def test_an_unknown_setting_is_refused() -> None:
    """§14, last sentence of the rules: a value outside of the enumeration has no renderer."""
    with pytest.raises(detect.BackendUnsupported, match=r"^unsupported backend framework: tgi$"):
        detect.choose([], [], "tgi")


@pytest.mark.parametrize(
    "text", ["python3 " * 20_000, "python3 " + "-m " * 20_000, "dynamo.x " + "python3 -m " * 20_000]
)
def test_a_hostile_command_is_searched_in_linear_time(text: str) -> None:
    """One pattern with three unbounded runs would need hours for these."""
    begin = time.process_time()
    assert detect.detected([text, "dynamo.none"], []) == ()
    assert time.process_time() - begin < 2

"""vLLM over one and over several nodes, as shipped and as documented (rendering.md §7, §8.4, §15.3, §26.2)."""

from __future__ import annotations

import copy
from typing import Any

import attrs
import pytest

from dynamo_render.backends import BACKENDS
from dynamo_render.plans.launch import Addressing, LaunchPlan, Role

VLLM = BACKENDS["vllm"]

LEADER = "$(GROVE_PCSG_NAME)-$(GROVE_PCSG_INDEX)-wk-ldr-0.$(GROVE_HEADLESS_SERVICE)"
GROVE = Addressing(
    leader=LEADER,
    hosts=(LEADER, "$(GROVE_PCSG_NAME)-$(GROVE_PCSG_INDEX)-wk-wkr-0.$(GROVE_HEADLESS_SERVICE)"),
    rank="$((GROVE_PCLQ_POD_INDEX + 1))",
    rank_in_sum="$((GROVE_PCLQ_POD_INDEX + 1))",
    needs_shell=True,
    waits_for_names=False,
)
DOCUMENTED = LaunchPlan(backend="vllm", nodes=2, gpus=8, addressing=GROVE)
SHIPPED = attrs.evolve(DOCUMENTED, shell_safe=False, idle_workers_keep_probes=False, user_env_wins=False)

HEAD = "ray start --head --port=6379"
RAY = "--distributed-executor-backend ray"
TP16 = "--tensor-parallel-size 16"
TP = "python3 -m dynamo.vllm --tensor-parallel-size 16"
SAFE_TP = "python3 -m dynamo.vllm --distributed-executor-backend ray --tensor-parallel-size 16"
WORKER_DP = (
    "--data-parallel-hybrid-lb --data-parallel-size-local {local} "
    "--data-parallel-start-rank $(( {local} * $((GROVE_PCLQ_POD_INDEX + 1)) )) "
    "--data-parallel-address $(GROVE_PCSG_NAME)-$(GROVE_PCSG_INDEX)-wk-ldr-0.$(GROVE_HEADLESS_SERVICE) "
    "--data-parallel-rpc-port 13445"
)
LEADER_DP = WORKER_DP.replace("$(( {local} * $((GROVE_PCLQ_POD_INDEX + 1)) ))", "0")


def _container(command: list[str], args: list[str] | None = None, **more: Any) -> dict[str, Any]:
    return {"name": "main", "command": command, **({} if args is None else {"args": args}), **more}


def _words(plan: LaunchPlan, role: Role, command: list[str], args: list[str] | None = None) -> tuple[Any, Any]:
    launched = VLLM.launched(plan, role, _container(command, args))
    return launched["command"], launched.get("args")


SECTION_15_3_MODES = [
    # flags in the arguments, GPUs of one node, whether Ray or data parallel applies
    ("--tensor-parallel-size 16", 0, None),
    ("--tensor-parallel-size 16", 8, "ray"),
    ("--tensor-parallel-size 16", 16, None),
    ("--tensor-parallel-size 4 --pipeline-parallel-size 4", 8, "ray"),
    ("--tensor-parallel-size 16 --data-parallel-size 2", 8, "ray"),
    ("--data-parallel-size 16", 8, "data-parallel"),
    ("--tensor-parallel-size 2 --data-parallel-size 8", 8, "data-parallel"),
    ("--tensor-parallel-size 2 --data-parallel-size 4", 8, None),
    ("", 8, None),
    ("--tensor-parallel-size=16", 8, None),
    ("-tp 16", 8, None),
    ("--tensor-parallel-size x --tensor-parallel-size 16", 8, "ray"),
    ("--tensor-parallel-size 16 --tensor-parallel-size 1", 8, "ray"),
    ("--tensor-parallel-size +16", 8, "ray"),
    ("--tensor-parallel-size 1_6", 8, None),
    ("--tensor-parallel-size 9223372036854775807", 8, "ray"),
    ("--tensor-parallel-size 9223372036854775808", 8, None),
    ("--tensor-parallel-size ١٦", 8, None),
    ("--tensor-parallel-size -16", 8, None),
    ("--tensor-parallel-size 0 --data-parallel-size 9", 8, None),
    ("--tensor-parallel-size", 8, None),
]


@pytest.mark.parametrize(("flags", "gpus", "mode"), SECTION_15_3_MODES)
@pytest.mark.parametrize("plan", [SHIPPED, DOCUMENTED], ids=["shipped", "documented"])
def test_flags_and_gpus_decide_how_the_engine_is_spread(
    plan: LaunchPlan, flags: str, gpus: int, mode: str | None
) -> None:
    args = [f"python3 -m dynamo.vllm {flags}"]
    command, changed = _words(attrs.evolve(plan, gpus=gpus), "worker", ["/bin/bash", "-c"], args)
    if mode == "ray":
        assert command == ["/bin/sh", "-c"]
    elif mode == "data-parallel":
        assert "--data-parallel-hybrid-lb" in changed[0]
    else:
        assert (command, changed) == (["/bin/bash", "-c"], args)


@pytest.mark.parametrize("plan", [SHIPPED, DOCUMENTED], ids=["shipped", "documented"])
def test_the_command_is_not_inspected_for_sizes(plan: LaunchPlan) -> None:
    command = ["python3", "-m", "dynamo.vllm", "--tensor-parallel-size", "16"]
    assert _words(plan, "leader", command) == (command, None)


SECTION_15_3_RAY_LEADER = [
    # command, args, shipped text, documented text behind the Ray head
    (["python3", "-m", "dynamo.vllm"], [TP16], f"python3 -m dynamo.vllm {TP16} {RAY}", None),
    (
        ["python3", "-m", "dynamo.vllm"],
        TP16.split(),
        f"python3 -m dynamo.vllm {TP16} {RAY}",
        f"python3 -m dynamo.vllm {TP16} {RAY}",
    ),
    (["/bin/sh", "-c"], [TP], f"/bin/sh -c {TP} {RAY}", SAFE_TP),
    (["sh", "-c"], [f"{TP} 2>&1 | tee log"], f"sh -c {TP} 2>&1 | tee log {RAY}", f"{SAFE_TP} 2>&1 | tee log"),
    (["sh", "-c"], [f"cd /x && {TP}\n"], f"sh -c cd /x && {TP}\n {RAY}", f"cd /x && {SAFE_TP}\n"),
    (["sh", "-c"], [f"nats & {TP}"], f"sh -c nats & {TP} {RAY}", f"exec sh -c 'nats & {SAFE_TP}'"),
    (
        ["sh", "-c"],
        [f"cd /x || exit; {TP}"],
        f"sh -c cd /x || exit; {TP} {RAY}",
        f"exec sh -c 'cd /x || exit; {SAFE_TP}'",
    ),
    (["sh", "-c"], [TP, "name"], f"sh -c {TP} name {RAY}", f"exec sh -c '{SAFE_TP}' name"),
    (["bash", "-lc"], [TP], f"bash -lc {TP} {RAY}", f"exec bash -lc '{SAFE_TP}'"),
    (["env", "A=b c", "sh", "-c"], [TP], f"env A=b c sh -c {TP} {RAY}", f"exec env 'A=b c' sh -c '{SAFE_TP}'"),
    (["sh", "-c"], ["./start.sh " + TP16], f"sh -c ./start.sh {TP16} {RAY}", f"./start.sh {TP16}"),
    (["sh", "-c"], [f"{TP} --x 'y"], f"sh -c {TP} --x 'y {RAY}", f"""exec sh -c '{SAFE_TP} --x '"'"'y'"""),
    (
        ["/run me.sh"],
        ["--tensor-parallel-size", "16", "--json", '{"a": $(B)}'],
        f'/run me.sh {TP16} --json {{"a": $(B)}} {RAY}',
        f"'/run me.sh' {TP16} --json '{{\"a\": $(B)}}' {RAY}",
    ),
]


@pytest.mark.parametrize(("command", "args", "shipped", "documented"), SECTION_15_3_RAY_LEADER)
def test_the_shipped_ray_leader_joins_its_words(
    command: list[str], args: list[str], shipped: str, documented: str | None
) -> None:
    assert _words(SHIPPED, "leader", command, args) == (["/bin/sh", "-c"], [f"{HEAD} && {shipped}"])
    assert documented != f"{HEAD} && {shipped}"


@pytest.mark.parametrize(
    ("command", "args", "documented"), [(row[0], row[1], row[3]) for row in SECTION_15_3_RAY_LEADER if row[3]]
)
def test_the_documented_ray_leader_starts_what_the_user_meant(
    command: list[str], args: list[str], documented: str
) -> None:
    """D-14: the flag is inside of the Python command, and the whole is one shell command."""
    assert _words(DOCUMENTED, "leader", command, args) == (["/bin/sh", "-c"], [f"{HEAD} && {documented}"])


def test_a_documented_ray_leader_without_command_takes_its_one_argument_for_a_script() -> None:
    launched = VLLM.launched(DOCUMENTED, "leader", {"args": [TP]})
    assert launched == {"command": ["/bin/sh", "-c"], "args": [f"{HEAD} && {SAFE_TP}"]}


def test_a_shipped_ray_leader_without_command_has_a_gap_where_it_would_be() -> None:
    launched = VLLM.launched(SHIPPED, "leader", {"args": [TP]})
    assert launched["args"] == [f"{HEAD} &&  {TP} {RAY}"]


@pytest.mark.parametrize("plan", [SHIPPED, DOCUMENTED], ids=["shipped", "documented"])
def test_a_ray_worker_joins_the_head(plan: LaunchPlan) -> None:
    expected = (["/bin/sh", "-c"], [f"ray start --address={LEADER}:6379 --block"])
    assert _words(plan, "worker", ["python3", "-m", "dynamo.vllm"], TP16.split()) == expected


def test_ray_only_replaces_the_command_of_a_shipped_main_role() -> None:
    """§15.6, last paragraph."""
    assert _words(SHIPPED, "main", ["python3", "run.py"], TP16.split()) == (["/bin/sh", "-c"], TP16.split())


def test_a_documented_main_role_stays_as_it_is() -> None:
    words = ["python3", "run.py"], TP16.split()
    assert _words(DOCUMENTED, "main", *words) == words


DP_SCRIPT = "python3 -m dynamo.vllm {flags} --model m --data-parallel-size 16 --tensor-parallel-size 2"
DP_WORDS = ["--model", "m", "--data-parallel-size", "16"]
PLAIN = ["python3", "-m", "dynamo.vllm"]
SECTION_26_2: list[tuple[Role, list[str], list[str], list[str], list[str]]] = [
    (
        "leader",
        ["/bin/sh", "-c"],
        [DP_SCRIPT.replace("{flags} ", "")],
        ["/bin/sh", "-c"],
        [DP_SCRIPT.format(flags=LEADER_DP.format(local=4))],
    ),
    (
        "worker",
        ["/bin/sh", "-c"],
        [DP_SCRIPT.replace("{flags} ", "")],
        ["/bin/sh", "-c"],
        [DP_SCRIPT.format(flags=WORKER_DP.format(local=4))],
    ),
    ("leader", PLAIN, DP_WORDS, PLAIN, [*DP_WORDS, *LEADER_DP.format(local=8).split()]),
    (
        "worker",
        PLAIN,
        DP_WORDS,
        ["sh", "-c"],
        [f"exec python3 -m dynamo.vllm --model m --data-parallel-size 16 {WORKER_DP.format(local=8)}"],
    ),
    ("main", PLAIN, DP_WORDS, PLAIN, DP_WORDS),
]


@pytest.mark.parametrize(("role", "command", "args", "expected_command", "expected_args"), SECTION_26_2)
@pytest.mark.parametrize("plan", [SHIPPED, DOCUMENTED], ids=["shipped", "documented"])
def test_data_parallel_nodes_start_as_in_the_worked_example(
    plan: LaunchPlan, role: Role, command: Any, args: Any, expected_command: Any, expected_args: Any
) -> None:
    assert _words(plan, role, command, args) == (expected_command, expected_args)


@pytest.mark.parametrize(("plan", "gap"), [(SHIPPED, " "), (DOCUMENTED, "")], ids=["shipped", "documented"])
def test_a_main_role_gets_no_data_parallel_flags(plan: LaunchPlan, gap: str) -> None:
    """§15.3: its flags are the empty text; the shipped text rule still puts its blank before them."""
    script = DP_SCRIPT.replace("{flags} ", "")
    expected = DP_SCRIPT.replace(" {flags} ", f"{gap} ")
    assert _words(plan, "main", ["sh", "-c"], [script]) == (["sh", "-c"], [expected])


PROBES = {"livenessProbe": {"a": 1}, "readinessProbe": {"b": 1}, "startupProbe": {"c": 1}}
SECTION_7_PROBES: list[tuple[LaunchPlan, Role, str, tuple[str, ...]]] = [
    (SHIPPED, "worker", TP, ()),
    (SHIPPED, "worker", "python3 -m dynamo.vllm", ()),
    (SHIPPED, "leader", TP, tuple(PROBES)),
    (SHIPPED, "main", TP, tuple(PROBES)),
    (attrs.evolve(SHIPPED, addressing=None), "worker", TP, tuple(PROBES)),
    (DOCUMENTED, "worker", TP, ()),
    (DOCUMENTED, "worker", "python3 -m dynamo.vllm --data-parallel-size 16", ()),
    (DOCUMENTED, "worker", "python3 -m dynamo.vllm", tuple(PROBES)),
    (DOCUMENTED, "leader", TP, tuple(PROBES)),
    (DOCUMENTED, "main", TP, tuple(PROBES)),
]


@pytest.mark.parametrize(("plan", "role", "script", "kept"), SECTION_7_PROBES)
def test_a_worker_loses_its_probes_when_the_section_says_so(
    plan: LaunchPlan, role: Role, script: str, kept: tuple[str, ...]
) -> None:
    """§7 and D-29."""
    launched = VLLM.launched(plan, role, _container(["/bin/sh", "-c"], [script], **PROBES))
    assert {key: launched[key] for key in PROBES if key in launched} == {key: PROBES[key] for key in kept}


@pytest.mark.parametrize(("plan", "role", "script", "kept"), SECTION_7_PROBES)
def test_dropped_probes_are_named(plan: LaunchPlan, role: Role, script: str, kept: tuple[str, ...]) -> None:
    given = _container(["/bin/sh", "-c"], [script], livenessProbe={}, startupProbe={})
    expected = () if kept else ("livenessProbe", "startupProbe")
    assert VLLM.drops_probes(plan, role, given) == expected


USER = {"name": "VLLM_CACHE_ROOT", "value": "/mine"}
OTHER = {"name": "Z"}
SET = {"name": "VLLM_CACHE_ROOT", "value": "/cache"}
SECTION_8_4_ENV = [
    # plan, env before, env after
    (attrs.evolve(SHIPPED, cache_root="/cache"), [USER, OTHER], [USER, OTHER, SET]),
    (attrs.evolve(DOCUMENTED, cache_root="/cache"), [USER, OTHER], [USER, OTHER]),
    (attrs.evolve(SHIPPED, cache_root="/cache"), [OTHER], [OTHER, SET]),
    (attrs.evolve(DOCUMENTED, cache_root="/cache"), [OTHER], [OTHER, SET]),
    (attrs.evolve(DOCUMENTED, cache_root="/cache"), [], [SET]),
    (attrs.evolve(DOCUMENTED, cache_root="/cache", addressing=None), [OTHER], [OTHER, SET]),
    (DOCUMENTED, [OTHER], [OTHER]),
    (SHIPPED, [USER, OTHER], [USER, OTHER]),
]


@pytest.mark.parametrize(("plan", "before", "after"), SECTION_8_4_ENV)
def test_the_cache_root_is_the_last_variable(plan: LaunchPlan, before: list[Any], after: list[Any]) -> None:
    """§8.4, D-09 and D-10."""
    assert VLLM.launched(plan, "main", _container(["x"], env=before))["env"] == after


def test_one_node_without_a_cache_is_left_alone() -> None:
    given = _container(["/bin/sh", "-c"], [TP], **PROBES)
    assert VLLM.launched(attrs.evolve(DOCUMENTED, addressing=None), "main", given) is given


def test_the_given_container_is_not_changed() -> None:
    given = _container(["/bin/sh", "-c"], [TP], env=[OTHER], **PROBES)
    before = copy.deepcopy(given)
    assert VLLM.launched(attrs.evolve(DOCUMENTED, cache_root="/c"), "worker", given) != before
    assert given == before


def test_no_launch_needs_a_volume() -> None:
    assert VLLM.volumes(DOCUMENTED) == ()


def test_the_cache_has_a_known_place() -> None:
    assert (VLLM.default_cache_mount, VLLM.workers_start_first) == ("/root/.cache/vllm", False)


def test_a_worker_multiplies_a_rank_that_is_good_inside_arithmetic() -> None:
    """The kubelet reads ``$(( 8 * $(NAME) ))`` as one unknown name and expands nothing inside."""
    addressing = attrs.evolve(GROVE, rank="$(LWS_WORKER_INDEX)", rank_in_sum="LWS_WORKER_INDEX")
    plan = attrs.evolve(DOCUMENTED, addressing=addressing)
    container = {"command": ["/bin/sh", "-c"], "args": ["python3 -m dynamo.vllm --data-parallel-size 16"]}
    launched = VLLM.launched(plan, "worker", container)
    assert "--data-parallel-start-rank $(( 8 * LWS_WORKER_INDEX ))" in launched["args"][0]

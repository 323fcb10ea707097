"""SGLang over several nodes (rendering.md §7, §15.4, §26.3), and the framework that changes nothing."""

from __future__ import annotations

import copy
from typing import Any

import attrs
import pytest

from dynamo_render.backends import BACKENDS
from dynamo_render.plans.launch import Addressing, LaunchPlan, Role

SGLANG = BACKENDS["sglang"]

LWS = Addressing(
    leader="$LWS_LEADER_ADDRESS",
    hosts=("$LWS_LEADER_ADDRESS", "w"),
    rank="$(LWS_WORKER_INDEX)",
    rank_in_sum="$(LWS_WORKER_INDEX)",
    needs_shell=True,
    waits_for_names=True,
)
DOCUMENTED = LaunchPlan(backend="sglang", nodes=2, gpus=8, addressing=LWS)
SHIPPED = attrs.evolve(DOCUMENTED, shell_safe=False, idle_workers_keep_probes=False, user_env_wins=False)
BOTH = pytest.mark.parametrize("plan", [SHIPPED, DOCUMENTED], ids=["shipped", "documented"])

SHARED_FLAGS = "--dist-init-addr $LWS_LEADER_ADDRESS:29500 --nnodes 2 --node-rank"
LEADER_FLAGS = f"{SHARED_FLAGS} 0"
WORKER_FLAGS = f"{SHARED_FLAGS} $(LWS_WORKER_INDEX)"
PROBES = {"livenessProbe": {"a": 1}, "readinessProbe": {"b": 1}, "startupProbe": {"c": 1}}


def _launched(plan: LaunchPlan, role: Role, command: list[str], args: list[str], **more: Any) -> dict[str, Any]:
    return SGLANG.launched(plan, role, {"name": "main", "command": command, "args": args, **more})


SECTION_26_3: list[tuple[Role, str]] = [("leader", LEADER_FLAGS), ("worker", WORKER_FLAGS), ("main", WORKER_FLAGS)]


@BOTH
@pytest.mark.parametrize(("role", "flags"), SECTION_26_3)
def test_each_node_is_told_the_leader_and_its_rank(plan: LaunchPlan, role: Role, flags: str) -> None:
    """§26.3; a lone pod counts as a worker (§15.6, last paragraph)."""
    script = "exec python3 -m dynamo.sglang --model m --tp 16 | tee /tmp/log"
    expected = f"exec python3 -m dynamo.sglang {flags} --model m --tp 16 | tee /tmp/log"
    launched = _launched(plan, role, ["/bin/sh", "-c"], [script])
    assert (launched["command"], launched["args"]) == (["/bin/sh", "-c"], [expected])


@BOTH
def test_a_direct_leader_gets_its_flags_as_words(plan: LaunchPlan) -> None:
    launched = _launched(plan, "leader", ["python3", "-m", "dynamo.sglang"], ["--tp", "16"])
    assert launched["args"] == ["--tp", "16", *LEADER_FLAGS.split()]


@BOTH
def test_a_direct_worker_gets_a_shell_for_its_rank(plan: LaunchPlan) -> None:
    launched = _launched(plan, "worker", ["python3", "-m", "dynamo.sglang"], ["--tp", "16"])
    expected = f"exec python3 -m dynamo.sglang --tp 16 {WORKER_FLAGS}"
    assert (launched["command"], launched["args"]) == (["sh", "-c"], [expected])


def test_a_direct_worker_needs_no_shell_where_the_kubelet_knows_the_rank() -> None:
    plan = attrs.evolve(DOCUMENTED, addressing=attrs.evolve(LWS, needs_shell=False))
    launched = _launched(plan, "worker", ["python3", "-m", "dynamo.sglang"], [])
    assert (launched["command"], launched["args"]) == (["python3", "-m", "dynamo.sglang"], WORKER_FLAGS.split())


@BOTH
@pytest.mark.parametrize(("role", "kept"), [("leader", 3), ("main", 3), ("worker", 0)])
def test_only_workers_lose_their_probes(plan: LaunchPlan, role: Role, kept: int) -> None:
    """§7."""
    launched = _launched(plan, role, ["/start.sh"], ["x"], **PROBES)
    assert len(PROBES.keys() & launched.keys()) == kept


@BOTH
@pytest.mark.parametrize(("role", "dropped"), [("leader", ()), ("main", ()), ("worker", ("readinessProbe",))])
def test_dropped_probes_are_named(plan: LaunchPlan, role: Role, dropped: tuple[str, ...]) -> None:
    assert SGLANG.drops_probes(plan, role, {"readinessProbe": {}}) == dropped


@BOTH
def test_one_node_is_left_alone(plan: LaunchPlan) -> None:
    given = {"command": ["python3", "-m", "dynamo.sglang"], **PROBES}
    single = attrs.evolve(plan, addressing=None, nodes=1, cache_root="/c")
    assert SGLANG.launched(single, "main", given) is given


@BOTH
def test_the_given_container_is_not_changed(plan: LaunchPlan) -> None:
    given = {"command": ["python3", "-m", "dynamo.sglang"], "args": ["--tp", "16"], **PROBES}
    before = copy.deepcopy(given)
    assert SGLANG.launched(plan, "worker", given) != before
    assert given == before


def test_sglang_needs_no_volume_and_knows_no_cache() -> None:
    assert (SGLANG.volumes(DOCUMENTED), SGLANG.default_cache_mount) == ((), None)


ROLES: list[Role] = ["main", "leader", "worker"]


@pytest.mark.parametrize("role", ROLES)
def test_without_a_framework_nothing_changes(role: Role) -> None:
    given = {"command": ["python3", "-m", "x"], **PROBES}
    none = BACKENDS["none"]
    assert none.launched(DOCUMENTED, role, given) is given
    assert (none.volumes(DOCUMENTED), none.drops_probes(DOCUMENTED, role, given)) == ((), ())


@pytest.mark.parametrize("name", ["vllm", "sglang", "trtllm", "none"])
def test_each_backend_is_listed_under_its_name(name: str) -> None:
    assert BACKENDS[name].name == name

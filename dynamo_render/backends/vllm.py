"""vLLM: over several nodes one engine through Ray, or data-parallel engines that know each other (rendering.md §15.3).

Which of the two is read from the flags in the container's arguments and the GPUs of one node.
"""

from __future__ import annotations

import itertools
from typing import Any, Final, Literal

from dynamo_render.backends import shell
from dynamo_render.backends.contract import Backend, Container
from dynamo_render.backends.injection import (
    PROBES,
    Flags,
    flags_in_script,
    present,
    quoted,
    script_position,
    tokens,
    with_command,
    with_env,
    with_flags,
    without,
    words_of,
)
from dynamo_render.kube.patterns import pattern
from dynamo_render.plans.launch import Addressing, LaunchPlan, Role
from dynamo_render.values import Value, frozen

CACHE_MOUNT: Final = "/root/.cache/vllm"
RAY_PORT: Final = 6379
RPC_PORT: Final = 13445

_INTEGER = pattern(r"[+-]?[0-9]{1,100}")
_RAY_FLAG = Flags(keyword="vllm", text="--distributed-executor-backend ray")
_RAY_HEAD = f"ray start --head --port={RAY_PORT}"
_KEEPS_CHAIN = frozenset({"&&", "|"})


@frozen
class Spread(Value):
    """How the engine covers the nodes; *world* is the number of GPUs of one data-parallel rank."""

    mode: Literal["ray", "data-parallel"]
    world: int


def launched(plan: LaunchPlan, role: Role, container: Container) -> Container:
    """Return *container* with its cache root and, over several nodes, as a part of the whole engine.

    Raises nothing: a number that cannot be read counts as 1.
    """
    dropped = drops_probes(plan, role, container)
    if plan.cache_root is not None:
        container = with_env(container, "VLLM_CACHE_ROOT", plan.cache_root, user_wins=plan.user_env_wins)
    if plan.addressing is None:
        return container
    spread = spread_of(plan, container)
    if spread is not None and spread.mode == "ray":
        container = _through_ray(plan, plan.addressing, role, container)
    elif spread is not None:
        flags = data_parallel_flags(plan.gpus, spread.world, plan.addressing, role)
        # The shipped text rule leaves a blank where it puts no flags; a safe launch leaves nothing.
        container = (
            with_flags(container, flags, shell_safe=plan.shell_safe) if flags.text or not plan.shell_safe else container
        )
    return without(container, dropped) if dropped else container


def volumes(_plan: LaunchPlan) -> tuple[dict[str, Any], ...]:
    """Return nothing: the launch needs no volume."""
    return ()


def drops_probes(plan: LaunchPlan, role: Role, container: Container) -> tuple[str, ...]:
    """Return every probe that a multinode worker has; one whose launch is not spread keeps them if the plan says so."""
    if plan.addressing is None or role != "worker":
        return ()
    if plan.idle_workers_keep_probes and spread_of(plan, container) is None:
        return ()
    return present(container, PROBES)


def spread_of(plan: LaunchPlan, container: Container) -> Spread | None:
    """Return how the engine covers the nodes, or None when one node is enough or its GPUs are not known."""
    if plan.gpus == 0:
        return None
    words = tokens(words_of(container)[1])
    world = _number(words, "--tensor-parallel-size") * _number(words, "--pipeline-parallel-size")
    if world > plan.gpus:
        return Spread("ray", world)
    if world * _number(words, "--data-parallel-size") > plan.gpus:
        return Spread("data-parallel", world)
    return None


def data_parallel_flags(gpus: int, world: int, addressing: Addressing, role: Role) -> Flags:
    """Return the flags of one node; none for ``main``, which has no place among the nodes."""
    if role == "main":
        return Flags(keyword="vllm", text="")
    local = int(gpus / world)  # Towards zero also for a negative size, as the shipped operator divides.
    start = "0" if role == "leader" else f"$(( {local} * {addressing.rank_in_sum} ))"
    return Flags(
        keyword="vllm",
        text=f"--data-parallel-hybrid-lb --data-parallel-size-local {local} --data-parallel-start-rank {start}"
        f" --data-parallel-address {addressing.leader} --data-parallel-rpc-port {RPC_PORT}",
        need_shell=role == "worker",
    )


def _number(words: tuple[str, ...], flag: str) -> int:
    """Return the first readable value behind *flag*, else 1; ``flag=value`` is not recognised."""
    for name, value in itertools.pairwise(words):
        if name == flag and _INTEGER.fullmatch(value) and -(2**63) <= int(value) < 2**63:
            return int(value)
    return 1


def _through_ray(plan: LaunchPlan, addressing: Addressing, role: Role, container: Container) -> Container:
    """Return *container* as the Ray head that then starts vLLM, or as a node that only serves Ray."""
    command, args = words_of(container)
    if role == "worker":
        args = [f"ray start --address={addressing.leader}:{RAY_PORT} --block"]
    elif role == "leader":
        started = _safe_start(command, args) if plan.shell_safe else _joined_start(command, args)
        args = [f"{_RAY_HEAD} && {started}"]
    elif plan.shell_safe:
        # A lone pod has nobody to join, and a shell would take its arguments for a script.
        return container
    return with_command(container, ["/bin/sh", "-c"], args)


def _joined_start(command: list[str], args: list[str]) -> str:
    return f"{' '.join(command)} {' '.join(args)} {_RAY_FLAG.text}"


def _safe_start(command: list[str], args: list[str]) -> str:
    """Return shell text that starts what the words start, with the Ray flag in its Python command.

    Only a plain chain for the same shell can follow the Ray head as it is. Any other script keeps a shell of its own,
    and with it that shell's language and options, and cannot start before Ray has.
    """
    words = [*command, *args] if command or len(args) != 1 else ["sh", "-c", *args]
    position = script_position(words)
    if position is None:
        return f"{quoted(words)} {_RAY_FLAG.text}"
    script = flags_in_script(words[position], _RAY_FLAG)
    if words[:-1] in (["sh", "-c"], ["/bin/sh", "-c"]) and shell.is_chain(script, _KEEPS_CHAIN):
        return script
    return f"exec {quoted([*words[:position], script, *words[position + 1 :]])}"


BACKEND = Backend(
    name="vllm",
    launched=launched,
    volumes=volumes,
    drops_probes=drops_probes,
    default_cache_mount=CACHE_MOUNT,
)

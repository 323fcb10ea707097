"""SGLang: every node runs the same command and is told the leader's address and its own rank (rendering.md §15.4)."""

from __future__ import annotations

from typing import Any, Final

from dynamo_render.backends.contract import Backend, Container
from dynamo_render.backends.injection import (
    PROBES,
    Flags,
    present,
    with_flags,
    without,
)
from dynamo_render.plans.launch import Addressing, LaunchPlan, Role

RENDEZVOUS_PORT: Final = 29500


def launched(plan: LaunchPlan, role: Role, container: Container) -> Container:
    """Return *container* with the flags of its node; a worker has no probes, because only the leader serves."""
    if plan.addressing is None:
        return container
    flags = node_flags(plan.nodes, plan.addressing, role)
    return without(with_flags(container, flags, shell_safe=plan.shell_safe), drops_probes(plan, role, container))


def node_flags(nodes: int, addressing: Addressing, role: Role) -> Flags:
    """Return the flags of one node; whoever is no leader counts as a worker, ``main`` included."""
    is_leader = role == "leader"
    rank = "0" if is_leader else addressing.rank
    return Flags(
        keyword="sglang",
        text=f"--dist-init-addr {addressing.leader}:{RENDEZVOUS_PORT} --nnodes {nodes} --node-rank {rank}",
        need_shell=addressing.needs_shell and not is_leader,
    )


def volumes(_plan: LaunchPlan) -> tuple[dict[str, Any], ...]:
    """Return nothing: the launch needs no volume."""
    return ()


def drops_probes(plan: LaunchPlan, role: Role, container: Container) -> tuple[str, ...]:
    """Return every probe that a multinode worker has."""
    return present(container, PROBES) if plan.addressing is not None and role == "worker" else ()


BACKEND = Backend(name="sglang", launched=launched, volumes=volumes, drops_probes=drops_probes)

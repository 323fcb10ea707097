"""How one component's engine is started, decided: the input of `backends`."""

from __future__ import annotations

from typing import Literal

from dynamo_render.values import Value, frozen

Role = Literal["main", "leader", "worker"]


@frozen
class Addressing(Value):
    """How the pods of one multinode replica find each other, as texts that the kubelet or a shell expands.

    *hosts* is the leader and then every worker in order; *rank* is the node rank of a worker, *rank_in_sum* the same
    inside ``$(( ))``, where the kubelet expands nothing; *needs_shell* says whether the rank is only right when a shell
    evaluates it, *waits_for_names* whether the leader must wait until the workers resolve.
    """

    leader: str
    hosts: tuple[str, ...]
    rank: str
    rank_in_sum: str
    needs_shell: bool
    waits_for_names: bool


@frozen
class LaunchPlan(Value):
    """What a backend needs to know to start its engine in each role of one component.

    *addressing* is None for a component on one node, whose numbers are 0. Otherwise *gpus* is the GPU limit of one node
    (0 when it is no integer), *processes* the number of MPI processes over all nodes.
    """

    backend: str
    nodes: int = 1
    gpus: int = 0
    processes: int = 0
    addressing: Addressing | None = None
    ssh_secret: str = ""
    cache_root: str | None = None
    shell_safe: bool = True
    idle_workers_keep_probes: bool = True
    user_env_wins: bool = True

"""Decisions about how engines are launched on several nodes, in both profiles.

A name holds the id of the row in decisions.md section 2; what disagrees stands in rendering.md section 25.
"""

from __future__ import annotations

import subprocess

import pytest

from tests.small import (
    BOTH,
    DOCUMENTED,
    LEADER_WORKER_SET,
    SHIPPED,
    container,
    graph,
    rendered,
    service,
    the,
    worker,
)

# D-14, D-15, D-29, D-30: launches


def ray_leader(line: str, profile: str) -> str:
    spread = service("worker", main={"args": [line]}, multinode={"nodeCount": 2}, resources={"limits": {"gpu": "8"}})
    leader = container(spread, profile, "it-ldr")
    assert leader["command"] == ["/bin/sh", "-c"]
    return leader["args"][0]


def calls(script: str) -> list[str]:
    """Return what a shell starts for *script*, a line for each program, its words in angle brackets."""
    programs = "".join(
        f'{name}() {{ printf "%s" {name}; printf " <%s>" "$@"; echo; }}\n' for name in ("ray", "python3")
    )
    done = subprocess.run(["/bin/sh", "-c", programs + script], capture_output=True, text=True, check=True, timeout=20)
    return done.stdout.splitlines()


def test_d_14_a_shell_command_gets_the_flag_inside_its_python_command() -> None:
    line = "python3 -m dynamo.vllm --model 'a b' --tensor-parallel-size 16"
    flag = "<--distributed-executor-backend> <ray>"
    assert calls(ray_leader(line, DOCUMENTED)) == [
        "ray <start> <--head> <--port=6379>",
        f"python3 <-m> <dynamo.vllm> {flag} <--model> <a b> <--tensor-parallel-size> <16>",
    ]
    assert ray_leader(line, SHIPPED) == (
        f"ray start --head --port=6379 && /bin/sh -c {line} --distributed-executor-backend ray"
    )


def test_d_15_leader_addresses_are_expanded_by_the_kubelet() -> None:
    direct = service(
        "worker",
        main={"command": ["python3", "-m", "dynamo.sglang"], "args": ["--tp", "16"]},
        multinode={"nodeCount": 2},
        resources={"limits": {"gpu": "8"}},
    )

    def address(profile: str) -> str:
        result = rendered(graph(It=direct), profile, facts=LEADER_WORKER_SET)
        template = the(result, "LeaderWorkerSet")["spec"]["leaderWorkerTemplate"]["leaderTemplate"]
        args = template["spec"]["containers"][0]["args"]
        return args[args.index("--dist-init-addr") + 1]

    assert address(DOCUMENTED) == "$(LWS_LEADER_ADDRESS):29500"
    assert address(SHIPPED) == "$LWS_LEADER_ADDRESS:29500"


def test_d_29_vllm_workers_that_need_no_second_node_keep_their_probes() -> None:
    idle = worker(multinode={"nodeCount": 2}, resources={"limits": {"gpu": "8"}})
    assert "readinessProbe" in container(idle, DOCUMENTED, "it-wkr")
    assert "readinessProbe" not in container(idle, SHIPPED, "it-wkr")


@pytest.mark.parametrize(("flags", "launch"), [("--tensor-parallel-size 16", "Ray"), ("--data-parallel-size 16", "DP")])
@BOTH
def test_d_29_vllm_workers_lose_their_probes_in_ray_and_data_parallel_launches(
    profile: str, flags: str, launch: str
) -> None:
    spread = worker(flags=flags, multinode={"nodeCount": 2}, resources={"limits": {"gpu": "8"}})
    assert "readinessProbe" not in container(spread, profile, "it-wkr"), launch


def test_d_30_mpi_processes_are_nodes_times_the_gpu_limit() -> None:
    amounts = {"requests": {"gpu": "2"}, "limits": {"gpu": "4"}}
    spread = worker("trtllm", multinode={"nodeCount": 3}, resources=amounts)
    assert " -n 12 " in container(spread, DOCUMENTED, "it-ldr")["args"][0]
    assert " -n 6 " in container(spread, SHIPPED, "it-ldr")["args"][0]


@BOTH
def test_d_30_the_gpu_request_counts_where_there_is_no_limit(profile: str) -> None:
    spread = worker("trtllm", multinode={"nodeCount": 3}, resources={"requests": {"gpu": "2"}})
    assert " -n 6 " in container(spread, profile, "it-ldr")["args"][0]

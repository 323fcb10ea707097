"""TensorRT-LLM over several nodes: the texts of rendering.md §15.6, piece by piece, and the probes of §7."""

from __future__ import annotations

import copy
import shlex
from typing import Any

import attrs
import pytest

from dynamo_render.backends import BACKENDS
from dynamo_render.plans.launch import Addressing, LaunchPlan, Role

TRTLLM = BACKENDS["trtllm"]

# The pieces as the section prints them; angle brackets are its placeholders.
PIECES = {
    "c2": "ls -la /ssh-pk/",
    "c3": "cp /ssh-pk/private.key ~/.ssh/id_rsa",
    "c4": "cp /ssh-pk/private.key.pub ~/.ssh/id_rsa.pub",
    "c5": "cp /ssh-pk/private.key.pub ~/.ssh/authorized_keys",
    "c6": "chmod 600 ~/.ssh/id_rsa ~/.ssh/authorized_keys",
    "c7": "chmod 644 ~/.ssh/id_rsa.pub ~/.ssh/authorized_keys",
    "c8": (
        r"printf 'Host *\nIdentityFile ~/.ssh/id_rsa\nStrictHostKeyChecking no\nPort 2222\n' > "
        "~/.ssh/config"
    ),
    "w1": "mkdir -p ~/.ssh ~/.ssh/host_keys ~/.ssh/run",
    "w9": "ssh-keygen -t rsa -f ~/.ssh/host_keys/ssh_host_rsa_key -N ''",
    "w10": "ssh-keygen -t ecdsa -f ~/.ssh/host_keys/ssh_host_ecdsa_key -N ''",
    "w11": "ssh-keygen -t ed25519 -f ~/.ssh/host_keys/ssh_host_ed25519_key -N ''",
    "w12": (
        r"printf 'Port 2222\nHostKey ~/.ssh/host_keys/ssh_host_rsa_key\nHostKey "
        r"~/.ssh/host_keys/ssh_host_ecdsa_key\nHostKey "
        r"~/.ssh/host_keys/ssh_host_ed25519_key\nPidFile ~/.ssh/run/sshd.pid\nPermitRootLogin "
        r"yes\nPasswordAuthentication no\nPubkeyAuthentication yes\nAuthorizedKeysFile "
        r"~/.ssh/authorized_keys\n' > ~/.ssh/sshd_config"
    ),
    "w13": "/usr/sbin/sshd -D -f ~/.ssh/sshd_config",
    "l1": "mkdir -p ~/.ssh",
    "dns": (
        "TIMEOUT=300; START_TIME=$(date +%s); for worker in <worker hosts joined by spaces>; do "
        'echo "Waiting for DNS: $worker"; until getent hosts $worker >/dev/null 2>&1; do '
        "CURRENT_TIME=$(date +%s); if [ $((CURRENT_TIME - START_TIME)) -gt $TIMEOUT ]; then echo "
        '"ERROR: Timeout waiting for DNS: $worker"; exit 1; fi; echo "DNS not ready for $worker, '
        'retrying..."; sleep 2; done; echo "✓ DNS resolved: $worker"; done; echo "All workers DNS '
        'ready"'
    ),
    "mpi": (
        "mpirun --allow-run-as-root --oversubscribe -n <total> -H <all hosts joined by commas> "
        '--mca pml ob1 --mca plm_rsh_args "-p 2222 -o StrictHostKeyChecking=no -i ~/.ssh/id_rsa" '
        "<xflags> bash -c 'trtllm-llmapi-launch <orig>'"
    ),
}

COMMON = [PIECES[f"c{number}"] for number in range(2, 9)]
# Sorted, with the variable that every role has.
FORWARDED = (
    "CUDA_VISIBLE_DEVICES HF_DATASETS_CACHE HF_ENDPOINT HF_HOME HF_TOKEN HOME HUGGING_FACE_HUB_TOKEN LD_LIBRARY_PATH "
    "MODEL_PATH NCCL_DEBUG NCCL_IB_DISABLE NCCL_P2P_DISABLE OMPI_MCA_orte_keep_fqdn_hostnames PATH PYTHONPATH "
    "TENSORRT_LLM_CACHE_DIR TOKENIZERS_PARALLELISM TRANSFORMERS_CACHE TRTLLM_USE_UCX_KVCACHE USER"
)

WORKER_1 = r"""$(echo "$LWS_LEADER_ADDRESS" | sed 's/\./-1\./')"""
WORKER_2 = r"""$(echo "$LWS_LEADER_ADDRESS" | sed 's/\./-2\./')"""
LWS = Addressing(
    leader="$LWS_LEADER_ADDRESS",
    hosts=("$LWS_LEADER_ADDRESS", WORKER_1, WORKER_2),
    rank="$(LWS_WORKER_INDEX)",
    rank_in_sum="$(LWS_WORKER_INDEX)",
    needs_shell=True,
    waits_for_names=True,
)
GROVE = attrs.evolve(LWS, leader="l", hosts=("l", "w0", "w1"), waits_for_names=False)
DOCUMENTED = LaunchPlan(backend="trtllm", nodes=3, processes=24, addressing=GROVE, ssh_secret="keys")  # noqa: S106
SHIPPED = attrs.evolve(DOCUMENTED, shell_safe=False, idle_workers_keep_probes=False, user_env_wins=False)
BOTH = pytest.mark.parametrize("plan", [SHIPPED, DOCUMENTED], ids=["shipped", "documented"])

KEEP_NAMES = {"name": "OMPI_MCA_orte_keep_fqdn_hostnames", "value": "1"}
ROLES: list[Role] = ["main", "leader", "worker"]
SH = ["/bin/sh", "-c"]


def _container(command: list[str] | None = None, args: list[str] | None = None, **more: Any) -> dict[str, Any]:
    words = {"command": command, "args": args}
    return {"name": "main", **{key: value for key, value in words.items() if value}, **more}


def _mpi(orig: str, *, hosts: str = "l,w0,w1", total: int = 24, names: str = FORWARDED) -> str:
    forwarded = " ".join(f"-x {name}" for name in names.split())
    text = PIECES["mpi"].replace("<total>", str(total)).replace("<all hosts joined by commas>", hosts)
    return text.replace("<xflags>", forwarded).replace("'trtllm-llmapi-launch <orig>'", orig)


def _mpirun(plan: LaunchPlan, container: dict[str, Any]) -> str:
    return TRTLLM.launched(plan, "leader", container)["args"][0].partition(" && mpirun ")[2]


@BOTH
def test_a_worker_serves_ssh(plan: LaunchPlan) -> None:
    pieces = [PIECES["w1"], *COMMON, *(PIECES[f"w{number}"] for number in range(9, 14))]
    launched = TRTLLM.launched(plan, "worker", _container(SH, ["python3 -m dynamo.trtllm"]))
    assert (launched["command"], launched["args"]) == (SH, [" && ".join(pieces)])


@BOTH
def test_a_leader_starts_all_processes(plan: LaunchPlan) -> None:
    pieces = [PIECES["l1"], *COMMON, _mpi("'trtllm-llmapi-launch python3 -m dynamo.trtllm'")]
    launched = TRTLLM.launched(plan, "leader", _container(SH, ["python3 -m dynamo.trtllm"]))
    assert (launched["command"], launched["args"]) == (SH, [" && ".join(pieces)])


@BOTH
def test_a_leader_waits_for_names_that_come_late(plan: LaunchPlan) -> None:
    wait = PIECES["dns"].replace("<worker hosts joined by spaces>", f"{WORKER_1} {WORKER_2}")
    mpi = _mpi("'trtllm-llmapi-launch x'", hosts=f"$LWS_LEADER_ADDRESS,{WORKER_1},{WORKER_2}", total=0)
    late = attrs.evolve(plan, addressing=LWS, processes=0)
    launched = TRTLLM.launched(late, "leader", _container(None, ["x"]))
    assert launched["args"] == [" && ".join([PIECES["l1"], *COMMON, wait, mpi])]


@BOTH
def test_variables_of_the_container_are_forwarded_in_byte_order(plan: LaunchPlan) -> None:
    container = _container(SH, ["x"], env=[{"name": "a"}, {"name": "HOME"}, {"name": "AA", "value": "v"}])
    assert f"mpirun {_mpirun(plan, container)}" == _mpi("'trtllm-llmapi-launch x'", names=f"AA {FORWARDED} a")


SECTION_15_6_ORIG = [
    # command, args, shipped text, documented text behind the launcher (None: the same)
    (["python3", "-m", "dynamo.trtllm"], ["--tp", "8"], "python3 -m dynamo.trtllm --tp 8", None),
    (["python3", "-m", "dynamo.trtllm"], None, "python3 -m dynamo.trtllm", None),
    (SH, ["python3 -m dynamo.trtllm 2>&1 | tee log"], "python3 -m dynamo.trtllm 2>&1 | tee log", None),
    (["/start.sh"], ["a", "b"], "a b", None),
    (["/start.sh", "a"], None, "/start.sh a", None),
    (None, ["python3 -m dynamo.trtllm"], "python3 -m dynamo.trtllm", None),
    (
        ["python3", "-m", "dynamo.trtllm"],
        ["--override", '{"a": 1}'],
        'python3 -m dynamo.trtllm --override {"a": 1}',
        "python3 -m dynamo.trtllm --override '{\"a\": 1}'",
    ),
    (SH, ["python3 -m dynamo.trtllm --x 'a b'"], "python3 -m dynamo.trtllm --x 'a b'", None),
    (
        ["bash", "-c", "python3 -m dynamo.trtllm"],
        None,
        "bash -c python3 -m dynamo.trtllm",
        "python3 -m dynamo.trtllm",
    ),
    (SH, ["cd /x && python3 -m y"], "cd /x && python3 -m y", "/bin/sh -c 'cd /x && python3 -m y'"),
    (SH, ["exec python3 -m y"], "exec python3 -m y", "/bin/sh -c 'exec python3 -m y'"),
    (SH, ["A=b python3 -m y"], "A=b python3 -m y", "/bin/sh -c 'A=b python3 -m y'"),
    (SH, ["time python3 -m y | tee log"], "time python3 -m y | tee log", "/bin/sh -c 'time python3 -m y | tee log'"),
    (SH, ["\ntrtllm-serve m\n"], "\ntrtllm-serve m\n", "trtllm-serve m\n"),
    (SH, [">log python3 -m y"], ">log python3 -m y", "/bin/sh -c '>log python3 -m y'"),
    (SH, ["# y\npython3 -m y"], "# y\npython3 -m y", "/bin/sh -c '# y\npython3 -m y'"),
    (["bash", "-lc"], ["python3 -m y"], "python3 -m y", "bash -lc 'python3 -m y'"),
]


@pytest.mark.parametrize(("command", "args", "shipped", "documented"), SECTION_15_6_ORIG)
def test_the_shipped_leader_joins_the_words_of_the_user(
    command: list[str] | None, args: list[str] | None, shipped: str, documented: str | None
) -> None:
    assert documented != shipped
    expected = _mpi(f"'trtllm-llmapi-launch {shipped}'")
    assert f"mpirun {_mpirun(SHIPPED, _container(command, args))}" == expected


@pytest.mark.parametrize(("command", "args", "shipped", "documented"), SECTION_15_6_ORIG)
def test_the_documented_leader_launches_one_program(
    command: list[str] | None, args: list[str] | None, shipped: str, documented: str | None
) -> None:
    """The launcher's shell gets exactly one script, whatever quotes the user wrote."""
    words = shlex.split(_mpirun(DOCUMENTED, _container(command, args)))
    assert words[-3:] == ["bash", "-c", f"trtllm-llmapi-launch {documented or shipped}"]


def test_a_variable_with_a_strange_name_stays_one_word_of_the_documented_leader() -> None:
    text = _mpirun(DOCUMENTED, _container(SH, ["x"], env=[{"name": "a b;c"}]))
    assert " -x 'a b;c' " in text


@BOTH
@pytest.mark.parametrize("role", ROLES)
def test_every_role_mounts_the_keys_last(plan: LaunchPlan, role: Role) -> None:
    launched = TRTLLM.launched(plan, role, _container(SH, ["x"], volumeMounts=[{"name": "a", "mountPath": "/a"}]))
    keys = {"name": "keys", "mountPath": "/ssh-pk", "readOnly": True}
    assert launched["volumeMounts"] == [{"name": "a", "mountPath": "/a"}, keys]


@BOTH
@pytest.mark.parametrize("role", ROLES)
def test_every_role_keeps_full_host_names(plan: LaunchPlan, role: Role) -> None:
    assert TRTLLM.launched(plan, role, _container(SH, ["x"], env=[{"name": "Z"}]))["env"] == [{"name": "Z"}, KEEP_NAMES]


MINE = {"name": "OMPI_MCA_orte_keep_fqdn_hostnames", "value": "0"}


@pytest.mark.parametrize(("plan", "env"), [(SHIPPED, [MINE, KEEP_NAMES]), (DOCUMENTED, [MINE])])
def test_only_the_documented_variable_gives_way_to_the_user(plan: LaunchPlan, env: list[Any]) -> None:
    """D-09."""
    assert TRTLLM.launched(plan, "main", _container(SH, ["x"], env=[MINE]))["env"] == env


@BOTH
def test_a_lone_pod_keeps_its_command(plan: LaunchPlan) -> None:
    """§15.6, last paragraph."""
    launched = TRTLLM.launched(plan, "main", _container(SH, ["x"]))
    assert (launched["command"], launched["args"]) == (SH, ["x"])


PROBES = {"livenessProbe": {"a": 1}, "readinessProbe": {"b": 1}, "startupProbe": {"c": 1}}
SSH_READINESS = {
    "tcpSocket": {"port": 2222},
    "initialDelaySeconds": 20,
    "periodSeconds": 20,
    "timeoutSeconds": 5,
    "failureThreshold": 10,
}


@BOTH
@pytest.mark.parametrize(
    ("role", "probes"), [("main", PROBES), ("leader", PROBES), ("worker", {"readinessProbe": SSH_READINESS})]
)
def test_a_worker_is_ready_when_it_serves_ssh(plan: LaunchPlan, role: Role, probes: dict[str, Any]) -> None:
    """§7."""
    launched = TRTLLM.launched(plan, role, _container(SH, ["x"], **PROBES))
    assert {key: launched[key] for key in PROBES if key in launched} == probes


@BOTH
@pytest.mark.parametrize(("role", "dropped"), [("main", ()), ("leader", ()), ("worker", tuple(PROBES))])
def test_dropped_probes_are_named(plan: LaunchPlan, role: Role, dropped: tuple[str, ...]) -> None:
    assert TRTLLM.drops_probes(plan, role, _container(SH, ["x"], **PROBES)) == dropped


@BOTH
def test_the_keys_are_a_volume_of_the_pod(plan: LaunchPlan) -> None:
    assert TRTLLM.volumes(plan) == ({"name": "keys", "secret": {"secretName": "keys", "defaultMode": 420}},)


@BOTH
def test_one_node_is_left_alone(plan: LaunchPlan) -> None:
    single = attrs.evolve(plan, addressing=None)
    given = _container(SH, ["x"], **PROBES)
    assert TRTLLM.launched(single, "main", given) is given
    assert TRTLLM.volumes(single) == ()


@BOTH
@pytest.mark.parametrize("role", ROLES)
def test_the_given_container_is_not_changed(plan: LaunchPlan, role: Role) -> None:
    given = _container(SH, ["x"], env=[{"name": "Z"}], volumeMounts=[{"name": "a", "mountPath": "/a"}], **PROBES)
    before = copy.deepcopy(given)
    assert TRTLLM.launched(plan, role, given) != before
    assert given == before


def test_two_workers_share_no_probe() -> None:
    """A later layer may change the container that it got."""
    first, second = (TRTLLM.launched(DOCUMENTED, "worker", _container(SH, ["x"])) for _ in range(2))
    first["readinessProbe"]["tcpSocket"]["port"] = 1
    assert second["readinessProbe"] == SSH_READINESS


def test_the_workers_start_before_the_leader() -> None:
    assert (TRTLLM.workers_start_first, TRTLLM.default_cache_mount) == (True, None)

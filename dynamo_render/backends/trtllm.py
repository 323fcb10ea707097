"""TensorRT-LLM: the leader starts the processes of all nodes through MPI over SSH (rendering.md §15.6).

The shell texts are an agreement with the running images; not a blank of them is free.
"""

from __future__ import annotations

import shlex
from typing import Any, Final

from dynamo_render.backends import shell
from dynamo_render.backends.contract import Backend, Container
from dynamo_render.backends.injection import (
    PROBES,
    is_direct_python,
    present,
    quoted,
    script_position,
    with_command,
    with_env,
    without,
    words_of,
)
from dynamo_render.plans.launch import Addressing, LaunchPlan, Role

SSH_PORT: Final = 2222
KEY_MOUNT: Final = "/ssh-pk"

_FORWARDED: Final = (
    "CUDA_VISIBLE_DEVICES",
    "HF_DATASETS_CACHE",
    "HF_ENDPOINT",
    "HF_HOME",
    "HF_TOKEN",
    "HOME",
    "HUGGING_FACE_HUB_TOKEN",
    "LD_LIBRARY_PATH",
    "MODEL_PATH",
    "NCCL_DEBUG",
    "NCCL_IB_DISABLE",
    "NCCL_P2P_DISABLE",
    "PATH",
    "PYTHONPATH",
    "TENSORRT_LLM_CACHE_DIR",
    "TOKENIZERS_PARALLELISM",
    "TRANSFORMERS_CACHE",
    "TRTLLM_USE_UCX_KVCACHE",
    "USER",
)

_CLIENT_SETUP: Final = (
    "ls -la /ssh-pk/",
    "cp /ssh-pk/private.key ~/.ssh/id_rsa",
    "cp /ssh-pk/private.key.pub ~/.ssh/id_rsa.pub",
    "cp /ssh-pk/private.key.pub ~/.ssh/authorized_keys",
    "chmod 600 ~/.ssh/id_rsa ~/.ssh/authorized_keys",
    "chmod 644 ~/.ssh/id_rsa.pub ~/.ssh/authorized_keys",
    r"printf 'Host *\nIdentityFile ~/.ssh/id_rsa\nStrictHostKeyChecking no\nPort 2222\n' > ~/.ssh/config",
)

_SERVER: Final = (
    "ssh-keygen -t rsa -f ~/.ssh/host_keys/ssh_host_rsa_key -N ''",
    "ssh-keygen -t ecdsa -f ~/.ssh/host_keys/ssh_host_ecdsa_key -N ''",
    "ssh-keygen -t ed25519 -f ~/.ssh/host_keys/ssh_host_ed25519_key -N ''",
    (
        r"printf 'Port 2222\nHostKey ~/.ssh/host_keys/ssh_host_rsa_key\nHostKey ~/.ssh/host_keys/ssh_host_ecdsa_key\n"
        r"HostKey ~/.ssh/host_keys/ssh_host_ed25519_key\nPidFile ~/.ssh/run/sshd.pid\nPermitRootLogin yes\n"
        r"PasswordAuthentication no\nPubkeyAuthentication yes\nAuthorizedKeysFile ~/.ssh/authorized_keys\n'"
        " > ~/.ssh/sshd_config"
    ),
    "/usr/sbin/sshd -D -f ~/.ssh/sshd_config",
)

_PLAIN_SHELLS: Final = frozenset({"sh", "/bin/sh", "bash", "/bin/bash", "/usr/bin/bash"})

# Only a shell knows these, so a launcher cannot start them.
_SHELL_WORDS: Final = frozenset({"!", ".", "[[", "builtin", "command", "coproc", "eval", "exec", "source", "time", "{"})

_WORKER_SCRIPT: Final = " && ".join(("mkdir -p ~/.ssh ~/.ssh/host_keys ~/.ssh/run", *_CLIENT_SETUP, *_SERVER))


def launched(plan: LaunchPlan, role: Role, container: Container) -> Container:
    """Return *container* as the node that starts MPI or as one that serves SSH for it; unchanged on one node."""
    if plan.addressing is None:
        return container
    container = with_env(
        without(container, drops_probes(plan, role, container)),
        "OMPI_MCA_orte_keep_fqdn_hostnames",
        "1",
        user_wins=plan.user_env_wins,
    )
    container = _with_key_mount(container, plan.ssh_secret)
    if role == "worker":
        return _with_script({**container, "readinessProbe": _ssh_readiness()}, _WORKER_SCRIPT)
    if role == "leader":
        return _with_script(container, leader_script(plan, plan.addressing, container))
    return container


def volumes(plan: LaunchPlan) -> tuple[dict[str, Any], ...]:
    """Return the volume with the SSH keys of a multinode launch."""
    if plan.addressing is None:
        return ()
    # 420 is 0644: the keys get their own modes when they are copied.
    return ({"name": plan.ssh_secret, "secret": {"secretName": plan.ssh_secret, "defaultMode": 420}},)


def drops_probes(plan: LaunchPlan, role: Role, container: Container) -> tuple[str, ...]:
    """Return every probe that a multinode worker has; its readiness becomes that of the SSH server."""
    return present(container, PROBES) if plan.addressing is not None and role == "worker" else ()


def leader_script(plan: LaunchPlan, addressing: Addressing, container: Container) -> str:
    """Return the script that prepares SSH, waits for the workers' names if it must, and starts all processes."""
    wait = (_wait_for_names(addressing.hosts[1:]),) if addressing.waits_for_names else ()
    return " && ".join(("mkdir -p ~/.ssh", *_CLIENT_SETUP, *wait, _mpirun(plan, addressing, container)))


def _ssh_readiness() -> dict[str, Any]:
    return {
        "tcpSocket": {"port": SSH_PORT},
        "initialDelaySeconds": 20,
        "periodSeconds": 20,
        "timeoutSeconds": 5,
        "failureThreshold": 10,
    }


def _with_script(container: Container, script: str) -> Container:
    return with_command(container, ["/bin/sh", "-c"], [script])


def _with_key_mount(container: Container, secret: str) -> Container:
    mount = {"name": secret, "mountPath": KEY_MOUNT, "readOnly": True}
    return {**container, "volumeMounts": [*(container.get("volumeMounts") or []), mount]}


def _wait_for_names(hosts: tuple[str, ...]) -> str:
    return (
        f"TIMEOUT=300; START_TIME=$(date +%s); for worker in {' '.join(hosts)}; do "
        'echo "Waiting for DNS: $worker"; '
        "until getent hosts $worker >/dev/null 2>&1; do CURRENT_TIME=$(date +%s); "
        "if [ $((CURRENT_TIME - START_TIME)) -gt $TIMEOUT ]; then "
        'echo "ERROR: Timeout waiting for DNS: $worker"; exit 1; fi; '
        'echo "DNS not ready for $worker, retrying..."; sleep 2; done; '
        'echo "✓ DNS resolved: $worker"; done; echo "All workers DNS ready"'
    )


def _mpirun(plan: LaunchPlan, addressing: Addressing, container: Container) -> str:
    command, args = words_of(container)
    names = sorted({*_FORWARDED, *(entry["name"] for entry in container["env"])})
    if plan.shell_safe:
        names = [shlex.quote(name) for name in names]
        started = shlex.quote(f"trtllm-llmapi-launch {_safe_start(command, args)}")
    else:
        started = f"'trtllm-llmapi-launch {_joined_start(command, args)}'"
    forwarded = " ".join(f"-x {name}" for name in names)
    return (
        f"mpirun --allow-run-as-root --oversubscribe -n {plan.processes} -H {','.join(addressing.hosts)} --mca pml ob1 "
        f'--mca plm_rsh_args "-p 2222 -o StrictHostKeyChecking=no -i ~/.ssh/id_rsa" {forwarded} bash -c {started}'
    )


def _joined_start(command: list[str], args: list[str]) -> str:
    """Return the words without any quoting; a command that is no Python interpreter gives way to its arguments."""
    if is_direct_python(command):
        return " ".join((*command, *args))
    return " ".join(args or command)


def _safe_start(command: list[str], args: list[str]) -> str:
    """Return shell text that may stand behind the launcher and starts what the words start.

    The launcher takes one program, so a script that is more than a pipe from a program keeps a shell of its own.
    """
    words = [*command, *args]
    position = script_position(words)
    if position is not None:
        is_plain = words[1:-1] == ["-c"] and words[0] in _PLAIN_SHELLS
        script = words[position].lstrip(" \t\n")
        return script if is_plain and _starts_with_program(script) else quoted(words)
    if is_direct_python(command):
        return quoted(words)
    rest = args or command
    return rest[0] if len(rest) == 1 else quoted(rest)


def _starts_with_program(script: str) -> bool:
    """Tell whether *script* is one pipe, and its first word the name of a program."""
    if not shell.is_chain(script, frozenset({"|"})):
        return False
    words = shell.commands(script)[0].words
    return bool(words) and words[0].start == 0 and words[0].value not in _SHELL_WORDS and "=" not in words[0].value


BACKEND = Backend(
    name="trtllm",
    launched=launched,
    volumes=volumes,
    drops_probes=drops_probes,
    workers_start_first=True,
)

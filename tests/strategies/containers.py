"""Containers: the user's own beside the main one, and what a user says about the main one."""

from __future__ import annotations

import shlex
from functools import cache
from typing import Any

from hypothesis import strategies as st

from tests.strategies import env, names, probes, quantities, volumes

Json = dict[str, Any]

ENGINES = ("vllm", "sglang", "trtllm")
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


@cache
def _optional_parts(volume_names: tuple[str, ...]) -> dict[str, st.SearchStrategy[Any]]:
    security = st.fixed_dictionaries(
        {},
        optional={
            "runAsUser": st.integers(0, 70000),
            "privileged": st.booleans(),
            "capabilities": st.just({"add": ["IPC_LOCK"]}),
        },
    )
    return {
        "env": env.env_lists(),
        "envFrom": env.env_from(),
        "resources": quantities.container_resources(),
        "volumeMounts": volumes.container_mounts(volume_names),
        "securityContext": security,
        "workingDir": st.sampled_from(("", "/workspace")),
        "imagePullPolicy": st.sampled_from(("Always", "IfNotPresent")),
        "tty": st.booleans(),
        "lifecycle": st.just({"preStop": {"exec": {"command": ["sleep", "5"]}}}),
        **{name: probes.probes() for name in PROBES},
    }


@cache
def container_ports() -> st.SearchStrategy[list[Json]]:
    """Return ports of a container, each number once."""
    port = st.fixed_dictionaries(
        {"containerPort": st.integers(1, 65535)}, optional={"protocol": st.sampled_from(("TCP", "UDP"))}
    )
    return st.lists(port, max_size=2, unique_by=lambda entry: entry["containerPort"])


@cache
def sidecars(name: str, volume_names: tuple[str, ...]) -> st.SearchStrategy[Json]:
    """Return a container of the user's own."""
    return st.fixed_dictionaries(
        {"name": st.just(name), "image": names.images()},
        optional={
            **_optional_parts(volume_names),
            "command": st.just(["sleep", "infinity"]),
            "args": st.lists(names.texts(), max_size=2),
            "ports": container_ports(),
        },
    )


@cache
def scripts(engine: str | None) -> st.SearchStrategy[str]:
    """Return shell scripts that a POSIX shell accepts and that start *engine*, or any program without one."""
    quoted = names.texts().map(lambda text: shlex.quote(text.replace("dynamo.", "")))
    start = f"python3 -m dynamo.{engine} --model" if engine else "my-server --model"
    forms = (
        "{start} m{flags}",
        "exec {start} {text}{flags}",
        "cd /workspace && {start} {text}{flags}",
        "{start} m{flags} 2>&1 | tee /tmp/log.txt",
        'echo "a; b" > /dev/null; {start} "$MODEL"{flags} # note',
        "if true; then\n  {start} m{flags}\nfi",
        "for word in a b; do echo $word; done\n{start} {text} \\\n {flags}",
    )
    return st.builds(
        lambda form, text, flags: form.format(start=start, text=text, flags=flags),
        st.sampled_from(forms),
        quoted,
        engine_flags().map(lambda words: "".join(f" {word}" for word in words)),
    )


@cache
def engine_flags() -> st.SearchStrategy[list[str]]:
    """Return flags from which vLLM's spread over nodes is read, and others."""
    sizes = st.sampled_from(("1", "2", "4", "8", "16"))
    flag = st.sampled_from(("--tensor-parallel-size", "--pipeline-parallel-size", "--data-parallel-size"))
    pair = st.builds(lambda name, size: [name, size], flag, sizes) | st.just(["--enforce-eager"])
    return st.lists(pair, max_size=3).map(lambda pairs: [word for words in pairs for word in words])


@cache
@st.composite
def starts(draw: st.DrawFn, engine: str | None) -> Json:
    """Return a command with arguments that start *engine*: directly, through a shell, or by the default command."""
    form = draw(st.sampled_from(("default", "shell", "login-shell", "direct")))
    if form == "direct":
        module = f"dynamo.{engine}" if engine else "my.server"
        interpreter = draw(st.sampled_from(("python3", "/usr/bin/python3.11")))
        return {"command": [interpreter, "-m", module], "args": ["--model", draw(names.texts()), *draw(engine_flags())]}
    command = {"default": {}, "shell": {"command": ["/bin/sh", "-c"]}, "login-shell": {"command": ["bash", "-lc"]}}
    return {**command[form], "args": [draw(scripts(engine))]}


@cache
@st.composite
def main_containers(
    draw: st.DrawFn, *, engine: str | None, volume_names: tuple[str, ...], must_start: bool, wide: bool
) -> Json:
    """Return what a user says about the main container: with *must_start* its arguments, with *wide* maybe no image."""
    emptied: dict[str, st.SearchStrategy[Any]] = {
        "command": st.just([]),
        "args": st.just([]),
        "ports": st.just([]) | container_ports(),
    }
    content: Json = draw(st.fixed_dictionaries({}, optional={**_optional_parts(volume_names), **emptied}))
    if must_start or draw(st.booleans()):
        content.pop("command", None)
        content |= draw(starts(engine))
    if not wide or draw(st.booleans()):
        content["image"] = draw(names.images())
    return content

"""The program ``dynamo-controller``: arguments, wiring of adapters, signals; importing this module has no effect."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import socket
import sys
import uuid
from argparse import ArgumentParser, Namespace
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NoReturn

import attrs

from dynamo_controller import commands, installing, settings
from dynamo_controller.adapters import loop
from dynamo_controller.adapters.clock import SystemClock
from dynamo_controller.adapters.etcd import EtcdKeys
from dynamo_controller.adapters.http import HttpEndpoints
from dynamo_controller.adapters.keys import SystemKeys
from dynamo_controller.adapters.kubernetes import BadConfiguration, KubernetesCluster
from dynamo_controller.adapters.log import JsonLog
from dynamo_controller.adapters.serving import CannotListen
from dynamo_controller.events import ClusterEvents
from dynamo_controller.manager import Outside
from dynamo_controller.ports import UNREACHABLE, ClusterError
from dynamo_controller.process import policy_of
from dynamo_controller.settings import ControllerSettings, UnusableSettings
from dynamo_render import OperatorSettings, __version__
from dynamo_render.commandline.main import BROKEN_PIPE, INTERRUPTED

PROGRAM = "dynamo-controller"
FINE, DIFFERS, UNUSABLE, TEMPLATES_CHANGE = 0, 1, 2, 3
NEW_OBJECTS = 50_000
"""New objects after which the process looks for circles: one answer of a server may be thousands, in none of them."""
POD_NAMESPACE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

Command = Callable[[Namespace, KubernetesCluster, Outside, ControllerSettings, OperatorSettings], Awaitable[int]]


async def _run(
    _arguments: Namespace,
    _cluster: KubernetesCluster,
    outside: Outside,
    own: ControllerSettings,
    render: OperatorSettings,
) -> int:
    """Keep all resources in place until a signal asks to stop."""
    stop = asyncio.Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(each, stop.set)
    identity = f"{socket.gethostname()}_{uuid.uuid4()}"
    await commands.run(outside, render, _with_lease_namespace(own, render), identity, stop)
    return FINE


async def _facts(
    _arguments: Namespace,
    _cluster: KubernetesCluster,
    outside: Outside,
    _own: ControllerSettings,
    render: OperatorSettings,
) -> int:
    """Print the facts file with which dynamo-render repeats the cluster's renders."""
    sys.stdout.write(await commands.facts(outside, render))
    return FINE


async def _plan(
    arguments: Namespace,
    cluster: KubernetesCluster,
    outside: Outside,
    own: ControllerSettings,
    render: OperatorSettings,
) -> int:
    """Print what a run would change now, as a diff; write nothing. Exit code 1 when it would change something."""
    found = await commands.plan(outside, cluster.for_dry_runs(), render, policy_of(own))
    sys.stdout.write("".join(f"{line}\n" for line in found.lines()))
    if found.has_failed:
        return UNUSABLE
    if arguments.detailed_exitcode and found.impacts:
        return TEMPLATES_CHANGE
    return DIFFERS if found.writes else FINE


COMMANDS: Mapping[str, Command] = {"run": _run, "facts": _facts, "plan": _plan}
MANIFESTS = "manifests"


def main(words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run the command line *words* and return its exit code: 0, 1 or 3 for a plan with changes, 2 for unusable.

    Ends the process for a wrong call, with the same code 2, and for what only asks for help.
    """
    arguments = _parser().parse_args(words)
    try:
        status = _done(arguments, environ)
        sys.stdout.flush()
    except BrokenPipeError:
        # What is left cannot be written either, which the interpreter would complain of at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


def _done(arguments: Namespace, environ: Mapping[str, str]) -> int:
    try:
        own, render = settings.resolved(arguments, environ, _text_of)
        if arguments.command == MANIFESTS:
            sys.stdout.write(installing.text(arguments, own, render, _text_of))
            return FINE
        return loop.run(_connected(arguments, environ, own, render))
    except UnusableSettings as error:
        for line in error.lines:
            _complain(line)
    except BadConfiguration as error:
        _complain(f"no usable way to a cluster: {error}")
    except CannotListen as error:
        _complain(str(error))
    except ClusterError as error:
        _complain(f"the cluster {'cannot be reached' if error.status == UNREACHABLE else 'refuses'}: {error}")
    return UNUSABLE


async def _connected(
    arguments: Namespace, environ: Mapping[str, str], own: ControllerSettings, render: OperatorSettings
) -> int:
    cluster = await KubernetesCluster.connected(_kubeconfig(own, environ), own.context or None)
    clock = SystemClock()
    log = JsonLog(sys.stderr, clock, own.log_level)
    chance = Random()  # noqa: S311 - spreads delays
    outside = Outside(
        cluster=cluster,
        clock=clock,
        events=ClusterEvents(cluster, clock, log),
        log=log,
        chance=chance,
        endpoints=HttpEndpoints(),
        keys=SystemKeys(),
        discovery=EtcdKeys(render.etcd_address) if render.etcd_address else None,
    )
    try:
        return await COMMANDS[arguments.command](arguments, cluster, outside, own, render)
    finally:
        await cluster.close()


def _with_lease_namespace(own: ControllerSettings, render: OperatorSettings) -> ControllerSettings:
    """Return settings that say where the Lease of the election is. Raises UnusableSettings where nobody does."""
    if not own.leader_elect or own.leader_election_namespace:
        return own
    found = render.restricted_namespace
    if not found:
        with contextlib.suppress(OSError):
            found = _text_of(POD_NAMESPACE).strip()
    if not found:
        raise UnusableSettings(["leader_election_namespace: is needed outside of a pod, where leader_elect is true"])
    return attrs.evolve(own, leader_election_namespace=found)


def _kubeconfig(own: ControllerSettings, environ: Mapping[str, str]) -> str | None:
    """Return the file to go by, or None for the account of this pod."""
    if own.kubeconfig:
        return own.kubeconfig
    if "KUBERNETES_SERVICE_HOST" in environ:
        return None
    return environ.get("KUBECONFIG") or str(Path("~/.kube/config").expanduser())


class _Parser(ArgumentParser):
    """A parser that says what is wrong with a call in front of nothing else: the usage would fill a screen."""

    def error(self, message: str) -> NoReturn:
        """Say *message* and end the process."""
        self.exit(UNUSABLE, f"{self.prog}: {message}\n    hint: see `{self.prog} --help`\n")


def _parser() -> ArgumentParser:
    about = "Keep the objects of Dynamo's custom resources in place on a cluster."
    parser = _Parser(PROGRAM, description=about, epilog=f"Example: {PROGRAM} plan --kubeconfig FILE")
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    commands_of = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        about = (command.__doc__ or "").splitlines()[0]
        example = f"Example: {PROGRAM} {name} --kubeconfig FILE"
        parser_of = commands_of.add_parser(name, help=about, description=about, epilog=example)
        settings.add_arguments(parser_of)
        if name == "plan":
            exitcode = "exit with 3 instead of 1 when pods would be replaced"
            parser_of.add_argument("--detailed-exitcode", action="store_true", help=exitcode)
    about = "Print everything that an installation needs: definitions, permissions, Deployment, webhook, Services."
    example = f"Example: {PROGRAM} {MANIFESTS} --image REGISTRY/NAME:TAG | kubectl apply --server-side -f -"
    printing = commands_of.add_parser(MANIFESTS, help=about, description=about, epilog=example)
    installing.add_arguments(printing)
    settings.add_arguments(printing)
    return parser


def _text_of(name: str) -> str:
    return Path(name).read_text("utf-8")


def _complain(message: str) -> None:
    sys.stderr.write(f"{PROGRAM}: {message}\n")


def program() -> NoReturn:
    """Run the command line of this process, and end the process with its exit code."""
    gc.set_threshold(NEW_OBJECTS)
    sys.exit(main(sys.argv[1:], os.environ))


if __name__ == "__main__":
    program()

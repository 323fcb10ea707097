"""The command ``completion``: prints a script that completes commands, flags and files in a shell."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from dynamo_render.commandline import parsing
from dynamo_render.commandline.contract import FINE, Command, Console

SHELLS = ("bash", "zsh", "fish")

_EXAMPLE = """\
source <(dynamo-render completion bash)
dynamo-render completion zsh > "${fpath[1]}/_dynamo-render"
dynamo-render completion fish > ~/.config/fish/completions/dynamo-render.fish"""


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="the shell to print the script for")


def _run(arguments: Namespace, console: Console) -> int:
    import shtab  # noqa: PLC0415 - the only command that needs it

    parser = parsing.whole_parser()
    files, folders = shtab.FILE, shtab.DIRECTORY
    for action in parsing.all_actions(parser):
        if action.metavar in ("FILE", "INPUT", "DIR"):
            action.complete = folders if action.metavar == "DIR" else files  # type: ignore[attr-defined]
    console.stdout.write(shtab.complete(parser, arguments.shell))
    return FINE


COMMAND = Command(
    summary="print a completion script for a shell",
    description="Print a script that lets a shell complete the words of a call.",
    example=_EXAMPLE,
    arguments=_arguments,
    run=_run,
)

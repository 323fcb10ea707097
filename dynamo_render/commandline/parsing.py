"""Parsers of arguments, which raise instead of printing and ending the process."""

from __future__ import annotations

import importlib
from argparse import Action, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from dynamo_render.commandline import COMMANDS
from dynamo_render.commandline.contract import PROGRAM, Command, UsageError


class Shown(Exception):
    """The user asked for help; str() is its text."""


class Parser(ArgumentParser):
    """An argument parser without side effects."""

    def __init__(self, **options: Any) -> None:
        """Take the options of ArgumentParser; help is shown by raising `Shown`."""
        super().__init__(**options, allow_abbrev=False, add_help=False, formatter_class=_formatter)
        self.add_argument("-h", "--help", action=_Help, nargs=0, help="show this help and exit")

    def error(self, message: str) -> NoReturn:
        """Raise UsageError with *message*."""
        raise UsageError(message)


def _formatter(prog: str) -> RawDescriptionHelpFormatter:
    """Return a formatter of fixed width; one is made for every argument, and asking for the terminal is slow."""
    return RawDescriptionHelpFormatter(prog, max_help_position=32, width=110)


class _Help(Action):
    def __call__(self, parser: ArgumentParser, *_arguments: object) -> NoReturn:
        raise Shown(parser.format_help())


def command(name: str) -> Command:
    """Return the command called *name*, which must be in the table."""
    found: Command = importlib.import_module(COMMANDS[name]).COMMAND
    return found


def command_parser(name: str, entry: Command) -> Parser:
    """Return the parser of one command."""
    parser = Parser(prog=f"{PROGRAM} {name}", description=entry.description, epilog=_example(entry))
    entry.arguments(parser)
    return parser


def parsed(name: str, entry: Command, words: Sequence[str]) -> Namespace:
    """Return the arguments of a command; options may stand between inputs. Raises UsageError and Shown."""
    return command_parser(name, entry).parse_intermixed_args(words)


def whole_parser() -> Parser:
    """Return the parser of all commands, which knows everything and is slow to make: for help and completion."""
    parser = Parser(
        prog=PROGRAM,
        description="Show what the operator of NVIDIA Dynamo makes of its custom resources, without a cluster.",
        epilog=f"example:\n  {PROGRAM} render graph.yaml --api-versions grove.io\n\n"
        f"`{PROGRAM} COMMAND --help` explains a command.",
    )
    parser.add_argument("--version", action="version", version=PROGRAM, help="show the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for name in COMMANDS:
        entry = command(name)
        child = commands.add_parser(name, help=entry.summary, description=entry.description, epilog=_example(entry))
        entry.arguments(child)
    return parser


def _example(entry: Command) -> str:
    return "example:\n" + "\n".join(f"  {line}" for line in entry.example.splitlines())


def all_actions(parser: ArgumentParser) -> Iterator[Action]:
    """Yield every argument of *parser* and of the commands below it."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way to list them
        yield action
        if isinstance(action.choices, dict):
            for child in action.choices.values():
                yield from all_actions(child)

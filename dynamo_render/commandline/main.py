"""From words to an exit code: finds the command, runs it, and turns whatever goes wrong into one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import TextIO

from dynamo_render.commandline import COMMANDS
from dynamo_render.commandline.contract import FINE, PROGRAM, UNUSABLE, Console, UsageError
from dynamo_render.commandline.messages import internal_error, printable

# As a shell reports a program that the signals SIGPIPE and SIGINT end.
BROKEN_PIPE = 141
INTERRUPTED = 130


def main(words: Sequence[str], console: Console) -> int:
    """Run the command line *words* and return its exit code.

    0 is fine, 1 says that there are findings, 2 that the call or an input is unusable or that the program is wrong.
    """
    try:
        status = _dispatched(words, console)
        console.stdout.flush()
    except BrokenPipeError:
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        console.stderr.write(printable(f"{PROGRAM}: {name}{(error.strerror or str(error)).lower()}") + "\n")
        return UNUSABLE
    except Exception as error:  # noqa: BLE001 - the last resort
        console.stderr.write(internal_error(error, console.environ))
        return UNUSABLE
    return status


def process_console() -> Console:
    """Return the console of this process; what it writes is the same bytes everywhere."""
    stdin = sys.stdin.buffer if sys.stdin else None
    return Console(stdin, _in_utf_8(sys.stdout, "strict"), _in_utf_8(sys.stderr, "backslashreplace"), os.environ)


def _in_utf_8(stream: TextIO | None, errors: str) -> TextIO:
    """Return *stream* set to UTF-8 and line feeds; where the process has none, one that forgets."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors=errors, newline="\n")
    return stream


def _dispatched(words: Sequence[str], console: Console) -> int:
    if not words:
        return _usage(f"name a command: {', '.join(COMMANDS)}", PROGRAM, console)
    name = words[0]
    if name in COMMANDS:
        return _run(name, words[1:], console)
    if name == "--version":
        from dynamo_render import __version__  # noqa: PLC0415 - no other command needs it

        console.stdout.write(f"{PROGRAM} {__version__}\n")
        return FINE
    if name in ("-h", "--help"):
        from dynamo_render.commandline import parsing  # noqa: PLC0415 - asks every command for its arguments

        console.stdout.write(parsing.whole_parser().format_help())
        return FINE
    return _usage(f"there is no command {name!r}; commands: {', '.join(COMMANDS)}", PROGRAM, console)


def _run(name: str, words: Sequence[str], console: Console) -> int:
    from dynamo_render.commandline import parsing  # noqa: PLC0415 - --version does not need it

    entry = parsing.command(name)
    try:
        return entry.run(parsing.parsed(name, entry, words), console)
    except parsing.Shown as shown:
        console.stdout.write(str(shown))
        return FINE
    except UsageError as error:
        return _usage(str(error), f"{PROGRAM} {name}", console)


def _usage(message: str, program: str, console: Console) -> int:
    console.stderr.write(printable(f"{program}: {message}") + f"\n    hint: see `{program} --help`\n")
    return UNUSABLE

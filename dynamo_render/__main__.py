"""The program ``dynamo-render``; importing this module has no effect."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

INTERRUPTED = 130


def main() -> NoReturn:
    """Run the command line of this process, and end the process with its exit code."""
    status = INTERRUPTED
    try:
        # Imported here, so that an interrupt ends the program quietly from the start.
        from dynamo_render.commandline import main as commandline  # noqa: PLC0415

        status = commandline.main(sys.argv[1:], commandline.process_console())
        if sys.stderr:
            sys.stderr.flush()
    except (KeyboardInterrupt, BrokenPipeError):
        pass
    # Everything is written. Taking the interpreter apart would cost a tenth of the time of a short call, and would
    # complain about output that nobody reads any more.
    os._exit(status)


if __name__ == "__main__":
    main()

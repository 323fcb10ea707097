"""The program ``dynamo-render``; importing this module has no effect."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

INTERRUPTED = 130

# Loading makes many objects and no garbage. Looking for some after every 700 takes a short command a twentieth of its
# time; after this many, the memory of a long one stays as flat.
_OBJECTS_BETWEEN_COLLECTIONS = 50_000


def main() -> NoReturn:
    """Run the command line of this process, and end the process with its exit code."""
    status = INTERRUPTED
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
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

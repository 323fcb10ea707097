"""The command line: reads arguments, files and environment; prints objects, problems and help; chooses exit codes.

Only this room and `dynamo_render.__main__` do I/O, and nothing here decides what is rendered. A command is one module
with a `COMMAND`, and one line in `COMMANDS`; it is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping

COMMANDS: Mapping[str, str] = {
    "render": "dynamo_render.commandline.render",
    "validate": "dynamo_render.commandline.validate",
    "rules": "dynamo_render.commandline.rules",
    "diff": "dynamo_render.commandline.diff",
    "golden": "dynamo_render.commandline.golden",
    "schema": "dynamo_render.commandline.schema",
    "completion": "dynamo_render.commandline.completion",
}

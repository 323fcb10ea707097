"""How the engine of a component is started, one entry per framework.

An entry sees a launch plan and a container, and knows no other entry, no custom resource and no release. `detect` says
which entry a worker uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dynamo_render.backends.contract import Backend
from dynamo_render.room import Room

BACKENDS: Final[Mapping[str, Backend]] = Room(
    {
        "vllm": "dynamo_render.backends.vllm:BACKEND",
        "sglang": "dynamo_render.backends.sglang:BACKEND",
        "trtllm": "dynamo_render.backends.trtllm:BACKEND",
        "none": "dynamo_render.backends.none:BACKEND",
    }
)

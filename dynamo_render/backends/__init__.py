"""How the engine of a component is started, one entry per framework.

An entry sees a launch plan and a container, and knows no other entry, no custom resource and no release. `detect` says
which entry a worker uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dynamo_render.backends import none, sglang, trtllm, vllm
from dynamo_render.backends.contract import Backend

BACKENDS: Final[Mapping[str, Backend]] = {
    "vllm": vllm.BACKEND,
    "sglang": sglang.BACKEND,
    "trtllm": trtllm.BACKEND,
    "none": none.BACKEND,
}

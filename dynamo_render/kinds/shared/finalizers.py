"""What a pass does about the finalizer and the deletion of a resource. controllers-graph.md section 3.

Garbage collection removes what a resource owns; a finalizer is needed only where something outside the cluster stays.
"""

from __future__ import annotations

from typing import Literal

from dynamo_render.kube import live
from dynamo_render.kube.live import Object

FINALIZER = "nvidia.com/finalizer"

Step = Literal["add", "continue", "finalize", "stop"]


def finalizer_step(resource: Object, *, needed: bool) -> Step:
    """Return what comes first in a pass over *resource*; *needed* says whether its deletion asks for clean-up.

    ``add``: add the finalizer, then continue. ``finalize``: clean up if needed, remove the finalizer, end the pass.
    ``stop``: end the pass, for others hold the resource and nothing may be created for it. This comes before
    validation, so that an invalid resource can be deleted. A finalizer that is not needed is left until the deletion.
    """
    is_held = FINALIZER in (resource["metadata"].get("finalizers") or ())
    if live.is_being_deleted(resource):
        return "finalize" if is_held else "stop"
    return "add" if needed and not is_held else "continue"

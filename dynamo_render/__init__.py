"""Render Dynamo custom resources to Kubernetes objects, without a cluster.

`render` maps one resource, the operator's settings and facts about the cluster to the objects that belong to it. The
package does no I/O and reads no clock, environment or random value; the same input gives the same bytes everywhere.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dynamo_render.errors import (
        DynamoRenderError,
        InvalidFacts,
        InvalidInput,
        InvalidResource,
        InvalidSettings,
        MissingFacts,
        Problem,
        RenderBug,
        UnreadableInput,
    )
    from dynamo_render.facts import ClusterFacts, FactQuery, NamespaceFacts, NodeShape
    from dynamo_render.kinds.shared.machine import Lookup, Outcome, Seen
    from dynamo_render.kube.text import read_documents, write_documents
    from dynamo_render.machines import advance, lookups
    from dynamo_render.observed import Observed, RestartStatus
    from dynamo_render.pipeline import Rendered, needs, render
    from dynamo_render.plans.graph import Owner
    from dynamo_render.settings import OperatorSettings
    from dynamo_render.validation import validate

__version__ = "0.1.0"

__all__ = [
    "ClusterFacts",
    "DynamoRenderError",
    "FactQuery",
    "InvalidFacts",
    "InvalidInput",
    "InvalidResource",
    "InvalidSettings",
    "Lookup",
    "MissingFacts",
    "NamespaceFacts",
    "NodeShape",
    "Observed",
    "OperatorSettings",
    "Outcome",
    "Owner",
    "Problem",
    "RenderBug",
    "Rendered",
    "RestartStatus",
    "Seen",
    "UnreadableInput",
    "advance",
    "lookups",
    "needs",
    "read_documents",
    "render",
    "validate",
    "write_documents",
]

# Where each public name lives. It is loaded when it is first asked for: few programs use them all.
_HOMES = {
    "errors": (
        *("DynamoRenderError", "InvalidFacts", "InvalidInput", "InvalidResource", "InvalidSettings", "MissingFacts"),
        *("Problem", "RenderBug", "UnreadableInput"),
    ),
    "facts": ("ClusterFacts", "FactQuery", "NamespaceFacts", "NodeShape"),
    "kinds.shared.machine": ("Lookup", "Outcome", "Seen"),
    "kube.text": ("read_documents", "write_documents"),
    "machines": ("advance", "lookups"),
    "observed": ("Observed", "RestartStatus"),
    "pipeline": ("Rendered", "needs", "render"),
    "plans.graph": ("Owner",),
    "settings": ("OperatorSettings",),
    "validation": ("validate",),
}


def __getattr__(name: str) -> Any:
    """Load the module in which the public *name* lives, and return it."""
    for home, names in _HOMES.items():
        if name in names:
            found = globals()[name] = getattr(importlib.import_module(f"{__name__}.{home}"), name)
            return found
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    """Return the public names, loaded or not."""
    return [*globals(), *__all__]

"""Render Dynamo custom resources to Kubernetes objects, without a cluster.

`render` maps one resource, the operator's settings and facts about the cluster to the objects that belong to it. The
package does no I/O and reads no clock, environment or random value; the same input gives the same bytes everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from dynamo_render.kube.text import read_documents, write_documents
from dynamo_render.observed import Observed, RestartStatus
from dynamo_render.pipeline import Rendered, needs, render
from dynamo_render.plans.graph import Owner
from dynamo_render.settings import OperatorSettings

if TYPE_CHECKING:
    from dynamo_render.kinds.shared.machine import Lookup, Outcome, Seen
    from dynamo_render.machines import advance, lookups
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


_MACHINES, _MACHINE_VALUES = "dynamo_render.machines", "dynamo_render.kinds.shared.machine"
_LAZY = {
    "validate": "dynamo_render.validation",
    "advance": _MACHINES,
    "lookups": _MACHINES,
    "Lookup": _MACHINE_VALUES,
    "Outcome": _MACHINE_VALUES,
    "Seen": _MACHINE_VALUES,
}
"""Names whose modules are loaded when they are first asked for: a render does without them."""


def __getattr__(name: str) -> Any:
    """Return what is loaded only when it is asked for. Raises AttributeError for any other name."""
    if name in _LAZY:
        import importlib  # noqa: PLC0415 - as the docstring says

        return getattr(importlib.import_module(_LAZY[name]), name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)

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
    "MissingFacts",
    "NamespaceFacts",
    "NodeShape",
    "Observed",
    "OperatorSettings",
    "Owner",
    "Problem",
    "RenderBug",
    "Rendered",
    "RestartStatus",
    "UnreadableInput",
    "needs",
    "read_documents",
    "render",
    "validate",
    "write_documents",
]


def __getattr__(name: str) -> Any:
    """Return `validate` when it is first asked for: a render does without what it loads."""
    if name == "validate":
        from dynamo_render.validation import validate  # noqa: PLC0415 - as the docstring says

        return validate
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)

"""Every rule by its id, with its severity, one sentence and two examples: for `rules`, the documents and the tests.

Nothing here checks anything, and no render loads it; the code that finds a problem names the rule by its id.
"""

from __future__ import annotations

from collections.abc import Mapping

from dynamo_render.kube import structural
from dynamo_render.rules import (
    component_deployment,
    controller,
    deprecation,
    graph,
    model,
    names,
    pod,
    provider,
    request,
    sanity,
    schema,
    service,
    update,
)
from dynamo_render.rules.contract import Rule

FAMILIES: Mapping[str, tuple[Rule, ...]] = {
    "Schema": schema.RULES,
    "Services": service.RULES,
    "Graphs": graph.RULES,
    "Component deployments": component_deployment.RULES,
    "Requests": request.RULES,
    "Models": model.RULES,
    "Updates": update.RULES,
    "Controller": controller.RULES,
    "Names and metadata": names.RULES,
    "Providers": provider.RULES,
    "Pods": pod.RULES,
    "Sanity": sanity.RULES,
    "Deprecations": deprecation.RULES,
}

RULES: Mapping[str, Rule] = {rule.id: rule for family in FAMILIES.values() for rule in family}


def nearest(name: str) -> str | None:
    """Return ``did you mean X?`` for the rule whose id is closest to *name*, if any is close."""
    return structural.nearest(name, tuple(RULES))

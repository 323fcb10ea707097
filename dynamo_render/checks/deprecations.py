"""Fields of earlier releases that are gone now: the API server drops them without a word. Specification: api.md 13."""

from __future__ import annotations

from collections.abc import Mapping

from dynamo_render.errors import Problem

Path = tuple["str | int", ...]

_RENAMED = "spec.model and spec.profilingConfig take its place"

# By kind and path: what to do instead.
REMOVED: Mapping[tuple[str, Path], str] = {
    ("DynamoComponentDeployment", ("spec", "dynamoComponent")): "name the image in extraPodSpec.mainContainer.image",
    ("DynamoComponentDeployment", ("spec", "dynamoTag")): "name the image in extraPodSpec.mainContainer.image",
    ("DynamoGraphDeployment", ("spec", "dynamoGraph")): "list the services and their images in spec.services",
    ("DynamoGraphDeploymentRequest", ("spec", "modelName")): "write spec.model",
    ("DynamoGraphDeploymentRequest", ("spec", "online")): _RENAMED,
    ("DynamoGraphDeploymentRequest", ("spec", "sla")): "write it in spec.profilingConfig.config.sla",
    ("DynamoGraphDeploymentRequest", ("spec", "gpu")): "write it in spec.profilingConfig.config.hardware",
}


def told(problem: Problem, kind: str) -> Problem:
    """Return *problem*, or what there is to say about it if its unknown field was known in an earlier release."""
    instead = REMOVED.get((kind, problem.path)) if problem.rule == "schema/unknown-field" else None
    if instead is None:
        return problem
    message = "belongs to an earlier release of the API and is dropped"
    return Problem("deprecated/removed-field", problem.path, message, instead, "warning")

"""The last stages: the graph is made, and watched for as long as it is there. controllers-other.md 1.14 and 1.15."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dynamo_render.kinds.dynamo_graph_deployment_request.profiling import target_namespace, tracking_labels
from dynamo_render.kinds.dynamo_graph_deployment_request.request import GRAPH_UID, Request
from dynamo_render.kinds.dynamo_graph_deployment_request.telling import told, with_conditions
from dynamo_render.kinds.dynamo_graph_deployment_request.transitions import Told
from dynamo_render.kinds.shared.machine import Annotate, Create, Lookup, Outcome, Seen, Step
from dynamo_render.kube import live
from dynamo_render.kube.live import Object
from dynamo_render.kube.manifest import Manifest
from dynamo_render.kube.structural import copied

GRAPH_API, GRAPH = "nvidia.com/v1alpha1", "DynamoGraphDeployment"
UNWATCHED_DELAY = 30.0
"""Seconds between looks at a graph outside of the only namespace that is watched."""

_EXISTS = Told("DeploymentReady", False, "DeploymentExists", "DGD {graph} was there already and is left as it is")
_REFUSED = Told("DeploymentReady", False, "DeploymentCreationFailed", "{text}")


def lookups(request: Request) -> Iterator[Lookup]:
    """Yield the graph that has been made."""
    if request.spec.auto_apply and _is_made(request):
        yield _lookup(request)


def advance(request: Request, seen: Seen) -> Step:
    """Return what comes of a request whose graph has been generated, in the states Deploying and Ready."""
    if not request.spec.auto_apply:
        return told(request, "T11" if request.state == "Deploying" else "T15")
    if _is_made(request):
        return _monitored(request, seen)
    if request.state == "Ready":
        return told(request, "T13 unknown", failure="the status says Ready and names no deployment")
    return _made(request, seen)


def graph_to_create(request: Request) -> Manifest:
    """Return the graph of a request as it is created: what was generated, in its place, under its names."""
    generated = live.status(request.resource).get("generatedDeployment") or {}
    metadata = generated.get("metadata") or {}
    overrides = request.overrides
    own = request.name if request.profile.graph_is_named_after_request else metadata.get("name")
    given, tracking = dict(overrides.labels or {}), tracking_labels(request)
    ours = {**given, **tracking} if request.profile.tracking_labels_are_kept else {**tracking, **given}
    made: dict[str, Any] = {
        "name": overrides.name or own or request.name,
        "namespace": target_namespace(request),
        "labels": {**(metadata.get("labels") or {}), **ours},
    }
    annotations = {**(metadata.get("annotations") or {}), **(overrides.annotations or {})}
    if annotations:
        made["annotations"] = annotations
    return {"apiVersion": GRAPH_API, "kind": GRAPH, "metadata": made, "spec": copied(generated.get("spec") or {})}


def _is_made(request: Request) -> bool:
    return bool(_deployment(request).get("created"))


def _deployment(request: Request) -> Object:
    return live.status(request.resource).get("deployment") or {}


def _lookup(request: Request) -> Lookup:
    deployment = _deployment(request)
    namespace = str(deployment.get("namespace") or request.namespace)
    return Lookup(GRAPH_API, GRAPH, namespace, str(deployment.get("name") or request.name))


def _made(request: Request, seen: Seen) -> Step:
    """Return the action that makes the graph and, when it has an outcome, what is told of it."""
    if not live.status(request.resource).get("generatedDeployment"):
        return Step(failure="generatedDeployment is not set", row="T12 refused")
    wanted = graph_to_create(request)
    create = Create("graph", wanted, owned=False)
    outcome = seen.outcomes.get(create.id)
    if outcome is None:
        return Step(actions=(create,))
    name = wanted["metadata"]["name"]
    if outcome.sort == "refused":
        fields = _trouble(request, _REFUSED, text=outcome.text)
        failure = f"failed to create DynamoGraphDeployment {name}: {outcome.text}"
        return told(request, "T12 refused", actions=(create,), fields=fields, failure=failure, text=outcome.text)
    note = Annotate("graph uid", {GRAPH_UID: str(outcome.content["metadata"].get("uid") or "")})
    deployment = {"name": name, "namespace": wanted["metadata"]["namespace"], "state": "pending", "created": True}
    fields = {"deployment": deployment}
    if outcome.sort == "done" or _is_for(request, outcome):
        return told(request, "T12 created", actions=(create, note), fields=fields, graph=name)
    return told(
        request, "T12 exists", actions=(create, note), fields={**fields, **_trouble(request, _EXISTS, graph=name)}
    )


def _is_for(request: Request, outcome: Outcome) -> bool:
    """Whether a graph that is there already was made by an earlier pass of this request, which could not tell it."""
    labels = outcome.content["metadata"].get("labels") or {}
    created = str(outcome.content["metadata"].get("creationTimestamp") or "")
    own = str(request.resource["metadata"].get("creationTimestamp") or "")
    return all(labels.get(key) == value for key, value in tracking_labels(request).items()) and created >= own


def _trouble(request: Request, condition: Told, **words: str) -> dict[str, Any]:
    """Return the conditions with one that tells why there is no new graph, where that is told."""
    if not request.profile.creation_trouble_is_told:
        return {}
    return with_conditions(
        {"conditions": request.status.get("conditions") or []}, [condition], request.generation, words
    )


def _monitored(request: Request, seen: Seen) -> Step:
    """Return what is told of a graph as it is now; nothing is told of one that nobody has looked for."""
    lookup = _lookup(request)
    deployment, name = dict(_deployment(request)), lookup.name
    if not seen.knows(lookup):
        return Step(row="T13 waiting")
    graph = seen.one(lookup)
    if graph is None or _is_another(request, graph):
        deployment.pop("state", None)
        return told(request, "T13 gone", fields={"deployment": deployment}, graph=name)
    state = str(live.status(graph).get("state") or "")
    deployment.pop("state", None)
    fields = {"deployment": {**deployment, **({"state": state} if state else {})}}
    row = _row(request, state)
    again = UNWATCHED_DELAY if request.settings.restricted_namespace not in ("", lookup.namespace) else None
    if row == "T13 degraded" and request.profile.ready_request_stays_ready:
        return _stays_ready(request, fields, name, state, again)
    return told(request, row, fields=fields, graph=name, state=state, look_again=again)


def _row(request: Request, state: str) -> str:
    is_ready, was_ready = state == "successful", live.condition_status(request.resource, "DeploymentReady") == "True"
    if request.state == "Deploying":
        return "T13 ready" if is_ready else "T13 waiting"
    if is_ready:
        return "T13 serving" if was_ready else "T13 ready"
    return "T13 degraded" if was_ready else "T13 still degraded"


def _stays_ready(request: Request, fields: dict[str, Any], name: str, state: str, again: float | None) -> Step:
    """Return the row of a graph that degrades where Ready is the end: all of it is told but the state."""
    step = told(request, "T13 degraded", fields=fields, graph=name, state=state, look_again=again)
    assert step.status is not None  # noqa: S101 - a condition has changed
    return Step(status={**step.status, "state": "Ready"}, events=step.events, look_again=step.look_again, row=step.row)


def _is_another(request: Request, graph: Object) -> bool:
    """Whether a live graph is not the one that was made, but has its name."""
    uid = request.annotation(GRAPH_UID)
    return bool(uid) and graph["metadata"].get("uid", uid) != uid

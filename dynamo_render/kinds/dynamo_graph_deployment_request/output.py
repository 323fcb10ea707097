"""What the profiler left, read: one graph, and objects beside it. controllers-other.md section 1.12.

The text is a stranger's: its size is limited, what cannot be read is skipped, and nothing in it is trusted further than
its type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dynamo_render.errors import Problem, UnreadableInput, field_path
from dynamo_render.kinds.dynamo_graph_deployment_request.request import ADDITIONAL, STARTED_FROM, Request
from dynamo_render.kube import text as documents
from dynamo_render.kube import yaml_marshalled
from dynamo_render.kube.live import Object
from dynamo_render.kube.manifest import Manifest
from dynamo_render.kube.schema_nodes import Findings
from dynamo_render.spec import structure
from dynamo_render.spec.graph import GraphSpec
from dynamo_render.values import Value, frozen
from dynamo_render.workloads.profiling_job import MOCKER_KEY, OUTPUT_KEY, output_name

GRAPH = "DynamoGraphDeployment"
MOST_OUTPUT = 2**20
"""Bytes of one key of a ConfigMap that are read: as many as the API server stores of all of them together."""
MOST_ADDITIONAL = 250_000
MOST_ANNOTATIONS = 2**18
"""Bytes that the API server takes as all annotations of one object."""
MOST_TOLD = 20
"""Problems of a generated graph that are told; a stranger's text may have any number of them."""

_SEPARATOR = re.compile(r"^---(?P<rest>[^\n]*)(?:\n|\Z)", re.MULTILINE)
_BLANK_OR_COMMENT = re.compile(r"\s*(?:#.*)?")

Judge = Callable[[Object], Iterable[Problem]]


class UnusableOutput(Exception):
    """Nothing can be made of what the profiler left; the message says why."""


@frozen
class Output(Value):
    """A *graph* as the status holds it, and the text of the objects *beside* it; empty without any."""

    graph: Manifest
    beside: str


def read(request: Request, found: Object | None, judge: Judge) -> Output:
    """Return what the ConfigMap *found* holds. Raises UnusableOutput; *judge* says what is wrong with a graph."""
    name = output_name(request.name)
    if found is None:
        raise UnusableOutput(f"output ConfigMap {name} not found - profiling may not have completed yet")
    key = MOCKER_KEY if request.spec.use_mocker else OUTPUT_KEY
    text = (found.get("data") or {}).get(key)
    if not isinstance(text, str):
        raise UnusableOutput(f"key {key} not found in ConfigMap {name}")
    try:
        graph, others = _parts(request, text, judge)
    except UnusableOutput as error:
        raise UnusableOutput(f"failed to extract DGD from {key}: {error}") from None
    beside = "\n---\n".join(map(yaml_marshalled.marshalled, others))
    _refuse_too_much(request, beside)
    return Output(graph, beside)


def objects(text: str) -> Iterator[Manifest]:
    """Yield the objects of a text that says of each what kind it is; all else is passed over."""
    for value in _values(text, lambda _error: None):
        kind = value.get("kind") if isinstance(value, dict) else None
        if isinstance(kind, str) and kind:
            yield value


def _parts(request: Request, text: str, judge: Judge) -> tuple[Manifest, list[Manifest]]:
    size = len(text.encode(errors="replace"))
    if size > MOST_OUTPUT:
        raise UnusableOutput(f"it has {size} bytes, the limit is {MOST_OUTPUT}")
    unreadable: list[UnreadableInput] = []
    found = [
        value
        for value in _values(text, unreadable.append)
        if isinstance(value, dict) and isinstance(value.get("kind"), str) and value["kind"]
    ]
    graphs = [value for value in found if value["kind"] == GRAPH]
    is_checked = request.profile.generated_graph_is_checked
    if is_checked and unreadable:
        raise UnusableOutput(f"it is no YAML: {unreadable[0]}")
    if not graphs:
        raise UnusableOutput("no DynamoGraphDeployment found in YAML content")
    if is_checked and len(graphs) > 1:
        raise UnusableOutput(f"it holds {len(graphs)} graphs, and only one can be the result")
    others = [value for value in found if value["kind"] != GRAPH]
    return _kept(request, graphs[-1], judge), others


def _kept(request: Request, graph: Manifest, judge: Judge) -> Manifest:
    """Return a graph as the status holds it. Raises UnusableOutput with what is wrong with it."""
    findings = Findings()
    given = graph.get("spec")
    spec = structure.decoder_of(GraphSpec)(given if given is not None else {}, (None, "spec"), findings)
    problems: list[Problem] = [each for each in findings.problems if each.rule == "schema/type"]
    if request.profile.generated_graph_is_checked:
        problems = list(judge(_as_it_will_be(request, graph)))
    errors = [f"{field_path(each.path)}: {each.message}" for each in problems if each.severity == "error"]
    if errors:
        shown = "; ".join(errors[:MOST_TOLD]) + (f"; and {len(errors) - MOST_TOLD} more" if errors[MOST_TOLD:] else "")
        raise UnusableOutput(f"failed to convert to DynamoGraphDeployment: {shown}")
    if request.profile.generated_graph_is_kept_whole:
        return graph
    metadata = {key: value for key, value in (graph.get("metadata") or {}).items() if value is not None}
    frame: Manifest = {key: graph[key] for key in ("apiVersion", "kind") if key in graph}
    return {**frame, "metadata": metadata, "spec": _as_a_typed_client_writes_it(structure.encoded(spec)), "status": {}}


def _as_a_typed_client_writes_it(spec: Manifest) -> Manifest:
    """Return *spec* with the empty fields that released operators store in a status."""
    for claim in spec.get("pvcs") or ():
        claim.setdefault("size", "0")
    for service in (spec.get("services") or {}).values():
        pod, memory = service.get("extraPodSpec"), service.get("sharedMemory")
        if memory is not None:
            memory.setdefault("size", "0")
        if pod is not None:
            pod.setdefault("containers", None)
            if "mainContainer" in pod:
                pod["mainContainer"] = {"name": "", "resources": {}, **pod["mainContainer"]}
    return spec


def _as_it_will_be(request: Request, graph: Manifest) -> Manifest:
    """Return *graph* under a name that will do: its own is not used."""
    given = graph.get("metadata")
    metadata: dict[str, Any] = given if isinstance(given, dict) else {}
    name = request.overrides.name or request.name
    return {**graph, "metadata": {**metadata, "name": name, "namespace": request.namespace}}


def _refuse_too_much(request: Request, beside: str) -> None:
    size = len(beside.encode())
    others = (request.resource["metadata"].get("annotations") or {}).items()
    taken = sum(len(key.encode()) + len(str(value).encode()) for key, value in others if key != ADDITIONAL)
    limit = min(MOST_ADDITIONAL, MOST_ANNOTATIONS - taken - len(ADDITIONAL) - len(STARTED_FROM))
    if size > limit:
        raise UnusableOutput(
            f"additional resources YAML size ({size} bytes) exceeds maximum annotation size ({limit} bytes); "
            "consider reducing the number of resources or storing them separately"
        )


def _values(text: str, refused: Callable[[UnreadableInput], None]) -> Iterator[Any]:
    """Yield the value of every document that can be read; *refused* gets why another one cannot."""
    pieces = [text] if text.lstrip().startswith("{") else _pieces(text)
    for piece in pieces:
        for value, _places in documents.read_with_places(piece, "the output", refused):
            yield value


def _pieces(text: str) -> Iterator[str]:
    """Yield the documents of a YAML stream; a separator with more than a comment takes what is above it along."""
    start = 0
    for mark in _SEPARATOR.finditer(text):
        if _BLANK_OR_COMMENT.fullmatch(mark["rest"]):
            yield text[start : mark.start()]
        start = mark.end()
    yield text[start:]

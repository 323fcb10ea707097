"""Rules of the schema: what the API server refuses or drops before anyone else sees the resource."""

from __future__ import annotations

from dynamo_render.rules.contract import NULL, Json, Rule, rule, warning, worker, worker_container, worker_pod

_PORT = {"containerPort": 8080}


def _picker(staleness: str) -> Json:
    detector = {"metricsStalenessThreshold": staleness}
    config = {"plugins": [], "schedulingProfiles": [], "saturationDetector": detector}
    return worker(eppConfig={"config": config})


def _picker_parameters(parameters: Json) -> Json:
    plugin = {"name": "a", "type": "a", "parameters": parameters}
    return worker(eppConfig={"config": {"plugins": [plugin], "schedulingProfiles": []}})


def _nested(levels: int) -> Json:
    content: Json = {}
    for _ in range(levels):
        content = {"a": content}
    return content


RULES: tuple[Rule, ...] = (
    rule("schema/kind", "The kind is one of the API group, in its version.", "api.md 1", bad={"kind": "DynamoGraph"}),
    rule(
        "schema/type", "A value has the type of its field; nothing is converted.", "api.md 2", bad=worker(replicas="2")
    ),
    rule(
        "schema/required",
        "A field that must be given is given.",
        "api.md 2",
        bad=worker(volumeMounts=[{"mountPoint": "/models"}]),
        good=worker(volumeMounts=[{"name": "models", "mountPoint": "/models"}]),
    ),
    rule(
        "schema/enum",
        "A value is among the ones that its field allows.",
        "api.md 3",
        bad={"spec": {"backendFramework": "vlm"}},
    ),
    rule("schema/range", "A number is within the limits of its field.", "api.md 4", bad=worker(replicas=-1)),
    rule(
        "schema/length",
        "A text is as long as its field wants.",
        "api.md 3",
        bad={"spec": {"restart": {"id": ""}}},
        good={"spec": {"restart": {"id": "1"}}},
    ),
    rule(
        "schema/count",
        "A list or mapping has no more entries than its field allows.",
        "api.md 3",
        bad={"spec": {"services": {f"Extra{number}": {} for number in range(30)}}},
    ),
    rule(
        "schema/duplicate",
        "The entries of a list with keys differ in these keys.",
        "api.md 2",
        bad=worker_container(ports=[_PORT, _PORT]),
        good=worker_container(ports=[_PORT]),
    ),
    rule(
        "schema/quantity",
        "A quantity is a number with an optional unit.",
        "api.md 2",
        bad=worker(sharedMemory={"size": "8 Gi"}),
        good=worker(sharedMemory={"size": "8Gi"}),
    ),
    rule(
        "schema/duration",
        "A duration is numbers with units, such as 1m30s.",
        "api.md 4",
        bad=_picker("soon"),
        good=_picker("200ms"),
    ),
    rule(
        "schema/depth",
        "Free content is nested at most 200 levels deep.",
        "api.md 4",
        bad=_picker_parameters(_nested(210)),
        good=_picker_parameters(_nested(3)),
    ),
    rule(
        "schema/claim",
        "A claim to be created has the keys size, storageClass and volumeAccessMode.",
        "api.md 3 DGD-S01",
        bad={"spec": {"pvcs": [{"name": "models", "create": True, "size": "1Gi"}]}},
        good={"spec": {"pvcs": [{"name": "models"}]}},
    ),
    rule(
        "schema/name",
        "Name, namespace and finalizers are legal names.",
        "api.md 12",
        bad={"metadata": {"name": "My_Graph"}},
    ),
    warning(
        "schema/unknown-field",
        "A field is one of its object; others are dropped without a word.",
        "api.md 2",
        bad=worker(replica=2),
    ),
    warning(
        "schema/null",
        "A field with a meaning of its own for null is left out instead: null counts as not given.",
        "decisions.md 2 D-12",
        bad=worker_pod(securityContext=NULL),
    ),
)

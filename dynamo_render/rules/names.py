"""Rules for names that are computed, and for labels and annotations."""

from __future__ import annotations

from dynamo_render.rules.contract import GROVE, Json, Rule, rule, warning, worker

_SECTION = "api.md 12"
_PART: Json = {"extraPodSpec": {"mainContainer": {"image": "registry.example/runtime:1.0"}}}
_LONG = "a-graph-with-a-long-name"


def _service(name: str) -> Json:
    return {"spec": {"services": {name: _PART}}}


def _claim_called(name: str) -> Json:
    kind = {"create": True, "storageClass": "fast", "size": "1Gi", "volumeAccessMode": "ReadWriteMany"}
    return {"name": name, **kind}


def _exposed(host: str) -> Json:
    ingress = {"enabled": True, "host": host, "ingressControllerClassName": "nginx"}
    return {"spec": {"services": {"Frontend": {"ingress": ingress}}}}


RULES: tuple[Rule, ...] = (
    rule(
        "names/collision",
        "The objects of two services differ in their names, which are in small letters.",
        _SECTION,
        bad=_service("WORKER"),
        good=_service("Other"),
    ),
    rule(
        "names/service",
        "The Service of a component has a legal name: small letters, digits, hyphens, at most 63.",
        _SECTION,
        bad=_service("My_Service"),
        good=_service("MyService"),
    ),
    rule(
        "names/label",
        "What becomes a label is a legal label value of at most 63 characters.",
        _SECTION,
        bad=worker(subComponentType="not a label"),
        good=worker(subComponentType="prefill"),
    ),
    rule(
        "names/grove",
        "The names that Grove composes have at most 45 characters in all.",
        _SECTION,
        bad={"metadata": {"name": _LONG}, **_service("AServiceWithALongName1")},
        good={"metadata": {"name": _LONG}, **_service("AServiceWithALongName")},
        facts=GROVE,
    ),
    rule(
        "names/object",
        "Every other object has a legal name.",
        _SECTION,
        bad={"spec": {"pvcs": [_claim_called("My_Models")]}},
        good={"spec": {"pvcs": [_claim_called("models")]}},
    ),
    rule(
        "object/ingress-host",
        "The host of an Ingress is a legal host name.",
        "rendering.md 22",
        bad=_exposed("Chat Room"),
        good=_exposed("chat"),
    ),
    rule(
        "metadata/label",
        "Labels have legal keys and values.",
        "api.md 11",
        bad=worker(labels={"team": "not a label"}),
        good=worker(labels={"team": "chat"}),
    ),
    rule(
        "metadata/annotation",
        "Annotations have legal keys, and 256 KiB in all.",
        "api.md 11",
        bad=worker(annotations={"not a key": "x"}),
        good=worker(annotations={"team": "any text"}),
    ),
    warning(
        "metadata/owned",
        "Labels and annotations of the operator are not given by users.",
        "decisions.md 2 D-16",
        bad=worker(labels={"nvidia.com/selector": "mine"}),
        good=worker(labels={"team": "chat"}),
    ),
    warning(
        "ignore/unknown-rule",
        "The annotation dynamo-render/ignore names rules that exist.",
        "cli.md 3",
        bad={"metadata": {"annotations": {"dynamo-render/ignore": "SVC-W99"}}},
        good={"metadata": {"annotations": {"dynamo-render/ignore": "SVC-W01"}}},
    ),
)

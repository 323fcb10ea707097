"""Rules of admission for each service of a graph and for component deployments."""

from __future__ import annotations

from dynamo_render.rules.contract import Json, Rule, rule, warning, worker

_SECTION = "api.md 9.3"
_CONFIG: Json = {"config": {"plugins": [], "schedulingProfiles": []}}
_REFERENCE: Json = {"configMapRef": {"name": "picker", "key": "epp.yaml"}}
_POOL: Json = {"api_groups": ["inference.networking.k8s.io"]}


def _picker(**fields: object) -> Json:
    epp = {
        "componentType": "epp",
        "replicas": 1,
        "eppConfig": _CONFIG,
        "extraPodSpec": {"mainContainer": {"image": "registry.example/epp:1.0"}},
    }
    return {"spec": {"services": {"Picker": {**epp, **fields}}}}


RULES: tuple[Rule, ...] = (
    warning(
        "SVC-W01",
        "dynamoNamespace is computed; what a service says is ignored.",
        _SECTION,
        bad=worker(dynamoNamespace="mine"),
    ),
    rule(
        "SVC-V02",
        "An ingress that is enabled has a host.",
        _SECTION,
        bad=worker(ingress={"enabled": True}),
        good=worker(ingress={"enabled": True, "host": "chat"}),
    ),
    rule(
        "SVC-V03",
        "A volume mount has a mount point unless it is a compilation cache.",
        _SECTION,
        bad=worker(volumeMounts=[{"name": "models"}]),
        good=worker(volumeMounts=[{"name": "models", "useAsCompilationCache": True}]),
    ),
    rule(
        "SVC-V04",
        "Shared memory that is not disabled has a size.",
        _SECTION,
        bad=worker(sharedMemory={"size": "0"}),
        good=worker(sharedMemory={"disabled": True}),
    ),
    warning(
        "SVC-W02",
        "autoscaling is ignored; scaling adapters take its place.",
        _SECTION,
        bad=worker(autoscaling={}),
        good=worker(scalingAdapter={"enabled": True}),
    ),
    rule(
        "SVC-V05",
        "An EPP component needs a cluster with the Gateway API Inference Extension.",
        _SECTION,
        bad=_picker(),
        facts={"api_groups": []},
    ),
    rule(
        "SVC-V06",
        "An EPP component runs on one node.",
        _SECTION,
        bad=_picker(multinode={"nodeCount": 2}),
        good=_picker(),
        facts=_POOL,
    ),
    rule(
        "SVC-V07", "An EPP component has one replica.", _SECTION, bad=_picker(replicas=2), good=_picker(), facts=_POOL
    ),
    rule(
        "SVC-V08", "An EPP component has eppConfig.", _SECTION, bad=_picker(eppConfig=None), good=_picker(), facts=_POOL
    ),
    rule(
        "SVC-V09",
        "eppConfig holds a configuration or a reference to one.",
        _SECTION,
        bad=_picker(eppConfig={}),
        good=_picker(eppConfig=_REFERENCE),
        facts=_POOL,
    ),
    rule(
        "SVC-V10",
        "eppConfig does not hold both.",
        _SECTION,
        bad=_picker(eppConfig={**_CONFIG, **_REFERENCE}),
        good=_picker(),
        facts=_POOL,
    ),
    rule(
        "SVC-V11",
        "The reference of eppConfig has the name of a ConfigMap.",
        _SECTION,
        bad=_picker(eppConfig={"configMapRef": {"name": "", "key": "epp.yaml"}}),
        good=_picker(eppConfig=_REFERENCE),
        facts=_POOL,
    ),
    rule(
        "component/image",
        "The main container has an image: no component type has a default one.",
        "rendering.md 6",
        bad=worker(extraPodSpec={"mainContainer": {"image": None}}),
    ),
    rule(
        "count/nodes",
        "A replica spans at most 1000 nodes.",
        "api.md 4",
        bad=worker(multinode={"nodeCount": 1001}),
        good=worker(multinode={"nodeCount": 2}),
    ),
)

"""Rules of the API server for the pods that are rendered."""

from __future__ import annotations

from dynamo_render.rules.contract import Rule, rule, warning, worker, worker_container, worker_pod

_SECTION = "rendering.md 5"
_EMPTY: dict[str, object] = {}
_PROBE = {"httpGet": {"port": "system", "path": "/live"}}
_SIDECAR = {"name": "sidecar", "image": "registry.example/sidecar:1.0"}
_SCRATCH = {"name": "scratch", "emptyDir": _EMPTY}

RULES: tuple[Rule, ...] = (
    rule(
        "pod/probe",
        "A probe asks in exactly one way, with numbers that make sense.",
        _SECTION,
        bad=worker_container(startupProbe={"periodSeconds": 10}),
        good=worker_container(startupProbe=_PROBE),
    ),
    rule(
        "pod/lifecycle",
        "A lifecycle hook does exactly one thing.",
        _SECTION,
        bad=worker_container(lifecycle={"preStop": _EMPTY}),
        good=worker_container(lifecycle={"preStop": {"sleep": {"seconds": 5}}}),
    ),
    rule(
        "pod/duplicate",
        "Containers, volumes and the ports of a container have different names.",
        _SECTION,
        bad=worker_pod(containers=[{**_SIDECAR, "name": "main"}]),
        good=worker_pod(containers=[_SIDECAR]),
    ),
    rule(
        "pod/name",
        "Containers, volumes and accounts have legal names.",
        _SECTION,
        bad=worker_pod(containers=[{**_SIDECAR, "name": "Side_Car"}]),
        good=worker_pod(containers=[_SIDECAR]),
    ),
    rule(
        "pod/image",
        "Every container has an image, and it is a legal reference.",
        _SECTION,
        bad=worker_container(image="Registry/Runtime:1.0:2"),
    ),
    rule(
        "pod/port",
        "Ports are from 1 to 65535, with short names in small letters.",
        _SECTION,
        bad=worker_container(ports=[{"containerPort": 70000}]),
        good=worker_container(ports=[{"containerPort": 8080, "name": "system"}]),
    ),
    rule(
        "pod/env",
        "Variables have legal names and one source each.",
        _SECTION,
        bad=worker(envs=[{"name": "A=B", "value": "1"}]),
        good=worker(envs=[{"name": "A", "value": "1"}]),
    ),
    rule(
        "pod/mount",
        "A mount has a volume of the pod and a path of its own.",
        _SECTION,
        bad=worker_container(volumeMounts=[{"name": "scratch", "mountPath": "/scratch"}]),
        good=worker_pod(
            volumes=[_SCRATCH], mainContainer={"volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}]}
        ),
    ),
    rule(
        "pod/volume",
        "A volume has one source.",
        _SECTION,
        bad=worker_pod(volumes=[{**_SCRATCH, "hostPath": {"path": "/scratch"}}]),
        good=worker_pod(volumes=[_SCRATCH]),
    ),
    rule(
        "pod/resources",
        "Requests are within limits, amounts are not negative, devices are whole and have equal limits.",
        _SECTION,
        bad=worker(resources={"requests": {"memory": "2Gi"}, "limits": {"memory": "1Gi"}}),
        good=worker(resources={"requests": {"memory": "1Gi"}, "limits": {"memory": "2Gi"}}),
    ),
    rule(
        "pod/value",
        "Fields of pods and containers have values that exist and fit the workload.",
        _SECTION,
        bad=worker_pod(restartPolicy="Never"),
        good=worker_pod(restartPolicy="Always"),
    ),
    rule(
        "pod/label",
        "A node selector asks for labels that a node can have.",
        _SECTION,
        bad=worker_pod(nodeSelector={"gpu": "not a label"}),
        good=worker_pod(nodeSelector={"gpu": "h100"}),
    ),
    warning(
        "pod/grace-period",
        "A grace period is not negative: a cluster reads it as one second.",
        _SECTION,
        bad=worker_pod(terminationGracePeriodSeconds=-1),
        good=worker_pod(terminationGracePeriodSeconds=30),
    ),
)

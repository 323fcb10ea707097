"""Rules about what is accepted everywhere and still hardly meant."""

from __future__ import annotations

from dynamo_render.rules.contract import GROVE, LEADER_WORKER_SET, Rule, warning, worker, worker_container, worker_pod

_SECTION = "rendering.md 5"
_PLANNER = {
    "componentType": "planner",
    "extraPodSpec": {"mainContainer": {"image": "registry.example/planner:1.0"}},
}
_LARGE = ["--model", "acme/chat-70B"]

RULES: tuple[Rule, ...] = (
    warning(
        "sanity/service-account",
        "A service account that is chosen is declared, or the operator's own.",
        _SECTION,
        bad=worker_pod(serviceAccountName="mine"),
        declared=(("ServiceAccount", "", "theirs"),),
        good=worker_pod(serviceAccountName="theirs"),
    ),
    warning(
        "sanity/secret",
        "A secret that is used is declared beside the resource, or known from the facts.",
        _SECTION,
        bad=worker(envFromSecret="token"),
        declared=(("Secret", "", "other"),),
        good=worker(envFromSecret="other"),
    ),
    warning(
        "sanity/config-map",
        "A config map that is used is declared beside the resource, or known from the facts.",
        _SECTION,
        bad=worker_container(envFrom=[{"configMapRef": {"name": "options"}}]),
        declared=(("ConfigMap", "", "other"),),
        good=worker_container(envFrom=[{"configMapRef": {"name": "other"}}]),
    ),
    warning(
        "sanity/claim",
        "A claim that is mounted is in spec.pvcs, declared beside the resource, or known from the facts.",
        "api.md 17 row 6",
        bad=worker(volumeMounts=[{"name": "models", "mountPoint": "/models"}]),
        facts={"namespaces": {"default": {"pvcs": ["weights"]}}},
        good=worker(volumeMounts=[{"name": "weights", "mountPoint": "/models"}]),
    ),
    warning(
        "sanity/duplicate-claim",
        "A claim is listed once.",
        "api.md 17 row 4",
        bad={"spec": {"pvcs": [{"name": "models"}, {"name": "models"}]}},
        good={"spec": {"pvcs": [{"name": "models"}]}},
    ),
    warning(
        "sanity/start-budget",
        "The probes leave enough time to load a model of the size that its name says.",
        "rendering.md 7",
        bad=worker_container(args=_LARGE, startupProbe={"httpGet": {"port": "system"}, "failureThreshold": 5}),
        good=worker_container(args=_LARGE, startupProbe={"httpGet": {"port": "system"}, "failureThreshold": 100}),
    ),
    warning(
        "sanity/gpu-mismatch",
        "Requested GPUs and their limit agree.",
        "rendering.md 10",
        bad=worker(resources={"requests": {"gpu": "1"}, "limits": {"gpu": "2"}}),
        good=worker(resources={"requests": {"gpu": "2"}, "limits": {"gpu": "2"}}),
        settings={"profile": "0.9-shipped"},
    ),
    warning(
        "sanity/no-gpu",
        "A worker that runs an engine gets a GPU.",
        "rendering.md 10",
        bad=worker(resources=None),
    ),
    warning(
        "sanity/probe-port",
        "A probe names a port that its container has.",
        "rendering.md 7",
        bad=worker(livenessProbe={"httpGet": {"port": "health"}}),
        good=worker(livenessProbe={"httpGet": {"port": "system"}}),
    ),
    warning(
        "access/role-not-set",
        "A setting names the cluster role of planners and endpoint pickers, in cluster-wide mode.",
        "operator-config.md 2.6",
        bad={"spec": {"services": {"Planner": _PLANNER}}},
        good={"spec": {"services": {"Planner": None}}},
    ),
    warning(
        "discovery/overruled",
        "A service on Grove does not ask for another discovery backend than its graph.",
        "rendering.md 13",
        bad=worker(annotations={"nvidia.com/dynamo-discovery-backend": "etcd"}),
        good=worker(annotations={"nvidia.com/dynamo-discovery-backend": "kubernetes"}),
        facts=GROVE,
    ),
    warning(
        "sanity/placeholder",
        "An image holds no placeholder.",
        "cli.md 2",
        bad=worker_container(image="${IMAGE}"),
    ),
    warning(
        "sanity/replaced",
        "A value that the operator replaces is not given.",
        _SECTION,
        bad=worker(multinode={"nodeCount": 2}, extraPodSpec={"schedulerName": "mine"}),
        good=worker(multinode={"nodeCount": 2}),
        facts=LEADER_WORKER_SET,
    ),
)

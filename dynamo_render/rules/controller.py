"""Rules of the controllers: what aborts the work on a resource after it was accepted."""

from __future__ import annotations

from dynamo_render.rules.contract import LEADER_WORKER_SET, Json, Rule, rule, warning, worker, worker_container

_SECTION = "api.md 9.7"
_NODES: Json = {"multinode": {"nodeCount": 2}}
_SPLIT: Json = {
    "extraPodSpec": {"mainContainer": {"args": ["--model", "acme/chat", "--tensor-parallel-size", "2"]}},
}
_KAI: Json = {"api_groups": ["grove.io", "scheduling.run.ai"], "kai_queues": ["dynamo", "batch"]}


def _queue(name: str) -> Json:
    return {"metadata": {"annotations": {"nvidia.com/kai-scheduler-queue": name}}}


def _planner(**fields: object) -> Json:
    container = {"image": "registry.example/planner:1.0"}
    planner = {"componentType": "planner", "replicas": 1, "extraPodSpec": {"mainContainer": container}}
    return {"spec": {"services": {"Planner": {**planner, **fields}}}}


RULES: tuple[Rule, ...] = (
    rule(
        "CTL-02",
        "A service on several nodes needs Grove, or LeaderWorkerSet with Volcano.",
        _SECTION,
        bad=worker(**_NODES),
        facts={"api_groups": []},
    ),
    rule(
        "CTL-03",
        "The command of a worker starts the framework that backendFramework names.",
        _SECTION,
        bad=worker_container(command=["python3", "-m", "dynamo.sglang"]),
    ),
    rule(
        "CTL-04",
        "Amounts of resources are quantities.",
        _SECTION,
        bad=worker(resources={"limits": {"memory": "80 GB"}}),
        good=worker(resources={"limits": {"memory": "80G"}}),
    ),
    rule(
        "CTL-05",
        "DYN_DEPLOYMENT_CONFIG holds JSON of its form.",
        _SECTION,
        bad=worker(envs=[{"name": "DYN_DEPLOYMENT_CONFIG", "value": "{"}]),
        good=worker(envs=[{"name": "DYN_DEPLOYMENT_CONFIG", "value": "{}"}]),
    ),
    rule(
        "CTL-07",
        "A volume mount has a name.",
        _SECTION,
        bad=worker(volumeMounts=[{"name": "", "mountPoint": "/models"}]),
        good=worker(volumeMounts=[{"name": "models", "mountPoint": "/models"}]),
    ),
    rule(
        "CTL-08",
        "A compilation cache has a mount point where the engine has no default one.",
        _SECTION,
        bad={"spec": {"services": {"Frontend": {"volumeMounts": [{"name": "c", "useAsCompilationCache": True}]}}}},
        good=worker(volumeMounts=[{"name": "c", "useAsCompilationCache": True}]),
    ),
    rule(
        "CTL-09",
        "A claim that is not to be created exists.",
        _SECTION,
        bad={"spec": {"pvcs": [{"name": "models"}]}},
        good={"spec": {"pvcs": [{"name": "weights"}]}},
        facts={"namespaces": {"default": {"pvcs": ["weights"]}}},
    ),
    rule(
        "CTL-12",
        "The queue of the kai-scheduler exists.",
        _SECTION,
        bad=_queue("nightly"),
        good=_queue("batch"),
        facts=_KAI,
    ),
    rule(
        "CTL-13",
        "The cluster roles that planners and endpoint pickers are bound to exist.",
        _SECTION,
        bad=_planner(),
        facts={"api_groups": ["rbac.authorization.k8s.io"], "cluster_roles": ["admin"]},
        settings={"planner_cluster_role": "planner"},
    ),
    rule(
        "CTL-15",
        "The main container of a LeaderWorkerSet has a command and arguments.",
        _SECTION,
        bad=worker(**_NODES, extraPodSpec={"mainContainer": {"args": None, "command": ["run"]}}),
        good=worker(**_NODES),
        facts=LEADER_WORKER_SET,
    ),
    rule(
        "CTL-16",
        "A component of a LeaderWorkerSet has a limit of GPUs.",
        _SECTION,
        bad=worker(**_NODES, resources=None),
        good=worker(**_NODES),
        facts=LEADER_WORKER_SET,
    ),
    rule(
        "count/replicas",
        "A component of LeaderWorkerSets has at most 1000 replicas.",
        "api.md 4",
        bad=worker(**_NODES, replicas=1001),
        good=worker(**_NODES, replicas=2),
        facts=LEADER_WORKER_SET,
    ),
    warning(
        "probe/dropped",
        "Probes of workers are not used where only the leader serves.",
        "decisions.md 2 D-08",
        bad=worker(**_NODES, **_SPLIT, livenessProbe={"httpGet": {"port": "system"}}),
        good=worker(**_NODES, **_SPLIT),
        facts=LEADER_WORKER_SET,
    ),
    warning(
        "ingress/no-gateway",
        "A VirtualService has a gateway, its own or the operator's.",
        "decisions.md 2 D-21",
        bad=worker(ingress={"enabled": True, "host": "chat", "useVirtualService": True}),
        good=worker(
            ingress={"enabled": True, "host": "chat", "useVirtualService": True, "virtualServiceGateway": "mesh/gate"}
        ),
    ),
)

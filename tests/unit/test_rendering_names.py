"""The rows of rendering.md section 3 (derived names) and section 4 (inventory, order and ownership of objects)."""

from __future__ import annotations

import pytest

from dynamo_render import Owner
from tests.small import (
    BOTH,
    DOCUMENTED,
    ETCD,
    GROVE,
    KUBERNETES,
    LEADER_WORKER_SET,
    NOTHING,
    SHIPPED,
    Json,
    clique,
    component,
    env,
    graph,
    main,
    names,
    of_kind,
    problems,
    rendered,
    service,
    the,
    worker,
)

PICKER = {"configMapRef": {"name": "a", "key": "b"}}
CONFIG: Json = {"config": {"plugins": [], "schedulingProfiles": []}}
NGINX = {"enabled": True, "host": "chat", "ingressControllerClassName": "nginx"}


@BOTH
@pytest.mark.parametrize(
    ("written", "namespace"),
    [
        pytest.param(service(), "team-a-demo", id="3-dynamo-namespace"),
        pytest.param(service(globalDynamoNamespace=True), "dynamo", id="3-dynamo-namespace-global"),
        pytest.param(service(dynamoNamespace="mine"), "team-a-demo", id="3-dynamo-namespace-of-the-user-is-ignored"),
    ],
)
def test_dynamo_namespace(profile: str, written: Json, namespace: str) -> None:
    result = rendered(graph(It=written), profile)
    assert env(main(result, "it"))["DYN_NAMESPACE"] == namespace
    assert clique(result, "it")["labels"]["nvidia.com/dynamo-namespace"] == namespace


@BOTH
@pytest.mark.parametrize(
    ("owners", "graph_name"),
    [
        pytest.param(
            [{"kind": "Other", "name": "no"}, {"kind": "DynamoGraphDeployment", "name": "first"}],
            "first",
            id="3-graph-name-of-the-first-owner-of-that-kind",
        ),
        pytest.param(
            [{"kind": "DynamoGraphDeployment", "name": "one"}, {"kind": "DynamoGraphDeployment", "name": "two"}],
            "one",
            id="3-graph-name-of-the-first-of-two",
        ),
    ],
)
def test_graph_name_of_a_component_deployment(profile: str, owners: list[Json], graph_name: str) -> None:
    resource = component({**service(), "dynamoNamespace": "x"}, ownerReferences=owners)
    found = env(the(rendered(resource, profile), "Deployment")["spec"]["template"]["spec"]["containers"][0])
    assert (found["DYN_PARENT_DGD_K8S_NAME"], found["DYN_NAMESPACE"]) == (graph_name, f"team-a-{graph_name}")


@BOTH
@pytest.mark.parametrize("kind", ["DynamoComponentDeployment", "Deployment", "Service", "Ingress", "VirtualService"])
def test_3_component_name_is_graph_and_lower_case_service(profile: str, kind: str) -> None:
    mesh = {**NGINX, "useVirtualService": True, "virtualServiceGateway": "g"}
    written = service("frontend", ingress=mesh if kind == "VirtualService" else NGINX)
    settings = {**ETCD, "virtual_service_gateway": "g"}
    result = rendered(graph(MyFront=written), profile, settings=settings, facts=NOTHING)
    assert names(result, kind)[0] == "demo-myfront"


@BOTH
def test_3_component_name_names_the_scaling_adapter_and_the_selector(profile: str) -> None:
    result = rendered(graph(MyWorker=worker(scalingAdapter={"enabled": True})), profile)
    assert names(result, "DynamoGraphDeploymentScalingAdapter") == ["demo-myworker"]
    assert clique(result, "myworker")["labels"]["nvidia.com/selector"] == "demo-myworker"


@BOTH
@pytest.mark.parametrize(
    ("model", "model_hash"),
    [
        pytest.param("Qwen/Qwen3-0.6B", "fb68f5a6", id="3-model-hash-of-Qwen3-0.6B"),
        pytest.param("Qwen/Qwen3", "cf172107", id="3-model-hash-of-Qwen3"),
    ],
)
def test_model_hash_and_service_name(profile: str, model: str, model_hash: str) -> None:
    result = rendered(graph(It=service(modelRef={"name": model, "revision": "ignored"})), profile)
    assert names(result, "Service") == [f"dynamo-model-{model_hash}"]
    assert clique(result, "it")["labels"]["nvidia.com/dynamo-base-model-hash"] == model_hash


@BOTH
def test_3_discovery_account_role_and_binding(profile: str) -> None:
    result = rendered(graph(It=service()), profile, settings=KUBERNETES)
    assert names(result, "ServiceAccount") == ["demo-k8s-service-discovery"]
    assert names(result, "Role") == ["demo-k8s-service-discovery-role"]
    assert names(result, "RoleBinding") == ["demo-k8s-service-discovery-binding"]


@BOTH
def test_3_pool_and_picker_config(profile: str) -> None:
    result = rendered(graph(It=service("epp", eppConfig=CONFIG)), profile)
    assert (names(result, "InferencePool"), names(result, "ConfigMap")) == (["demo-pool"], ["demo-epp-config"])


@BOTH
@pytest.mark.parametrize(
    ("facts", "annotations", "on_grove"),
    [
        pytest.param(GROVE, None, True, id="4-grove-is-there"),
        pytest.param(GROVE, {"nvidia.com/enable-grove": "true"}, True, id="4-grove-is-there-and-wanted"),
        pytest.param(GROVE, {"nvidia.com/enable-grove": "no"}, True, id="4-any-other-value-means-grove"),
        pytest.param(GROVE, {"nvidia.com/enable-grove": "False"}, False, id="4-false-in-any-case-turns-grove-off"),
        pytest.param(NOTHING, {"nvidia.com/enable-grove": "true"}, False, id="4-grove-is-not-there"),
    ],
)
def test_path_of_a_graph(profile: str, facts: Json, annotations: Json | None, *, on_grove: bool) -> None:
    result = rendered(graph(annotations=annotations, It=service()), profile, facts=facts)
    assert bool(of_kind(result, "PodCliqueSet")) == on_grove
    assert bool(of_kind(result, "DynamoComponentDeployment")) != on_grove


@BOTH
@pytest.mark.parametrize(
    ("facts", "nodes", "kind"),
    [
        pytest.param(LEADER_WORKER_SET, 2, "LeaderWorkerSet", id="4-component-on-several-nodes"),
        pytest.param(LEADER_WORKER_SET, 1, "Deployment", id="4-component-on-one-node"),
        pytest.param(NOTHING, 2, "Deployment", id="4-component-without-leader-worker-set"),
        pytest.param({"api_groups": ["leaderworkerset.x-k8s.io"]}, 2, "Deployment", id="4-component-without-volcano"),
    ],
)
def test_path_of_a_component(profile: str, facts: Json, nodes: int, kind: str) -> None:
    spread: Json = {"multinode": {"nodeCount": nodes}} if nodes > 1 else {}
    spec = {**worker(resources={"limits": {"gpu": "1"}}, **spread), "dynamoNamespace": "x"}
    workloads = {"Deployment", "LeaderWorkerSet"}
    assert [
        found["kind"] for found in rendered(component(spec), profile, facts=facts).objects if found["kind"] in workloads
    ] == [kind]


def test_4_a_multinode_graph_needs_an_orchestrator() -> None:
    assert problems(graph(It=worker(multinode={})), facts=NOTHING) == [("CTL-02", "spec.services.It.multinode")]


WIDE = {
    "planner_cluster_role": "p",
    "epp_cluster_role": "e",
    "ingress_class_name": "nginx",
    "virtual_service_gateway": "g",
}
SOURCE = {
    "mpi_source": {"type": "Opaque", "data": {"private.key": "a2V5"}},
    "namespaces": {"team-a": {"mpi_secret": False}},
}
CLAIMED = {
    "pvcs": [{"name": "c", "create": True, "storageClass": "s", "size": "1Gi", "volumeAccessMode": "ReadWriteOnce"}]
}
FULL = {
    "Front": service("frontend", modelRef={"name": "m"}),
    "Pick": service("epp", eppConfig=CONFIG),
    "Plan": service("planner", scalingAdapter={"enabled": True}),
    "Trt": worker("trtllm", multinode={"nodeCount": 2}, resources={"limits": {"gpu": "1"}}),
}
SHARED_OBJECTS = [
    ("ServiceAccount", "planner-serviceaccount"),
    ("RoleBinding", "planner-serviceaccount-binding"),
    ("ServiceAccount", "epp-serviceaccount"),
    ("RoleBinding", "epp-serviceaccount-binding"),
    ("PersistentVolumeClaim", "c"),
    ("DynamoGraphDeploymentScalingAdapter", "demo-plan"),
    ("ServiceAccount", "demo-k8s-service-discovery"),
    ("Role", "demo-k8s-service-discovery-role"),
    ("RoleBinding", "demo-k8s-service-discovery-binding"),
    ("ConfigMap", "demo-epp-config"),
    ("InferencePool", "demo-pool"),
    ("Secret", "mpi-run-ssh-secret"),
]


def inventory(profile: str, **facts: object) -> tuple[list[tuple[str, str]], dict[str, Owner | None]]:
    """Return kind and name of every object that a graph with everything leads to, and the owner by kind and name."""
    result = rendered(graph(spec=CLAIMED, **FULL), profile, settings=WIDE, facts={**SOURCE, **facts})
    found = [(made["kind"], made["metadata"]["name"]) for made in result.objects]
    owners = {f"{kind}/{name}": owner for (kind, name), owner in zip(found, result.owners, strict=True)}
    return found, owners


@pytest.mark.parametrize(
    ("profile", "outside"),
    [
        pytest.param(DOCUMENTED, ["VirtualService"], id="4-order-on-grove-documented"),
        pytest.param(SHIPPED, ["Ingress", "VirtualService"], id="4-order-on-grove-shipped"),
    ],
)
def test_inventory_on_grove(profile: str, outside: list[str]) -> None:
    found, _ = inventory(profile, api_groups=["grove.io"])
    assert found == [
        *SHARED_OBJECTS,
        ("PodCliqueSet", "demo"),
        ("Service", "dynamo-model-62c66a7a"),
        ("Service", "demo-front"),
        *[(kind, "demo-front") for kind in outside],
        ("Service", "demo-pick"),
        ("Service", "demo-plan"),
        ("Service", "demo-trt"),
    ]


@pytest.mark.parametrize("profile", [pytest.param(DOCUMENTED, id="4-order-without-grove")])
def test_inventory_without_grove(profile: str) -> None:
    found, _ = inventory(profile, **LEADER_WORKER_SET)
    assert found == [
        *SHARED_OBJECTS,
        *[("DynamoComponentDeployment", f"demo-{name}") for name in ("front", "pick", "plan", "trt")],
        ("Deployment", "demo-front"),
        ("Service", "demo-front"),
        ("Service", "dynamo-model-62c66a7a"),
        ("VirtualService", "demo-front"),
        ("Deployment", "demo-pick"),
        ("Service", "demo-pick"),
        ("Deployment", "demo-plan"),
        ("Service", "demo-plan"),
        ("PodGroup", "demo-trt-0"),
        ("LeaderWorkerSet", "demo-trt-0"),
        ("Service", "demo-trt"),
    ]


@BOTH
@pytest.mark.parametrize(
    ("key", "owner"),
    [
        pytest.param("ServiceAccount/planner-serviceaccount", None, id="4-owner-of-planner-account"),
        pytest.param("RoleBinding/epp-serviceaccount-binding", None, id="4-owner-of-picker-binding"),
        pytest.param("Secret/mpi-run-ssh-secret", None, id="4-owner-of-mpi-secret"),
        pytest.param("PersistentVolumeClaim/c", "demo", id="4-owner-of-claim"),
        pytest.param("Role/demo-k8s-service-discovery-role", "demo", id="4-owner-of-discovery-role"),
        pytest.param("InferencePool/demo-pool", "demo", id="4-owner-of-pool"),
        pytest.param("DynamoComponentDeployment/demo-front", "demo", id="4-owner-of-component-deployment"),
        pytest.param("Deployment/demo-front", "demo-front", id="4-owner-of-deployment"),
        pytest.param("Service/demo-front", "demo-front", id="4-owner-of-service"),
        pytest.param("PodGroup/demo-trt-0", "demo-trt", id="4-owner-of-pod-group"),
    ],
)
def test_ownership(profile: str, key: str, owner: str | None) -> None:
    _, owners = inventory(profile, **LEADER_WORKER_SET)
    found = owners[key]
    assert (found and found.name) == owner


@BOTH
def test_4_a_model_service_of_several_components_stands_once_and_is_owned_by_the_first(profile: str) -> None:
    written = service(modelRef={"name": "m"})
    result = rendered(graph(A=written, B=written), profile, facts=NOTHING)
    owners = [
        owner for made, owner in zip(result.objects, result.owners, strict=True) if "model" in made["metadata"]["name"]
    ]
    assert [owner and owner.name for owner in owners] == ["demo-a"]

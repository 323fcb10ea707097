"""The worked examples of rendering.md section 26: shipped as written there, documented as remarks beside them say."""

from __future__ import annotations

import pytest

from tests.small import (
    BOTH,
    DOCUMENTED,
    ETCD,
    LEADER_WORKER_SET,
    NOTHING,
    SHIPPED,
    Json,
    clique,
    env,
    graph,
    main,
    pod,
    rendered,
    service,
    the,
)

# 26.1

WORKER: Json = {
    "componentType": "worker",
    "replicas": 1,
    "annotations": {"example.com/owner": "me"},
    "envs": [{"name": "LOG", "value": "svc"}],
    "resources": {"limits": {"cpu": "2000m", "gpu": "1"}, "requests": {"cpu": "1", "gpu": "1"}},
    "extraPodSpec": {
        "terminationGracePeriodSeconds": 0,
        "imagePullSecrets": [{"name": "ngc-a"}],
        "containers": [{"name": "sidecar", "image": "busybox:1.36"}],
        "mainContainer": {
            "image": "nvcr.io/acme/vllm:1",
            "args": ["python3 -m dynamo.vllm --model m"],
            "env": [{"name": "LOG", "value": "main"}, {"name": "DYN_SYSTEM_PORT", "value": "9191"}],
            "resources": {"limits": {"cpu": "1", "memory": "1024Mi"}},
            "livenessProbe": {"httpGet": {"port": 8081}, "failureThreshold": 5},
            "startupProbe": {"httpGet": {"path": "/up", "port": 8081}},
        },
    },
}


def first_example(profile: str) -> Json:
    """Return the clique of example 26.1."""
    resource = graph(
        spec={"envs": [{"name": "LOG", "value": "graph"}, {"name": "TZ", "value": "UTC"}]},
        Worker=WORKER,
    )
    settings = {"restricted_namespace": "team-a", "nats_address": "nats://nats:4222"}
    secrets = {"namespaces": {"team-a": {"pull_secrets": {"nvcr.io": ["ngc-a", "ngc-b"]}}}}
    return clique(
        rendered(resource, profile, settings=settings, facts={"api_groups": ["grove.io"], **secrets}), "worker"
    )


VARIABLES = {
    "DYN_COMPONENT": "worker",
    "DYN_DISCOVERY_BACKEND": "kubernetes",
    "DYN_HEALTH_CHECK_ENABLED": "false",
    "DYN_NAMESPACE": "team-a-demo",
    "DYN_PARENT_DGD_K8S_NAME": "demo",
    "DYN_PARENT_DGD_K8S_NAMESPACE": "team-a",
    "DYN_SYSTEM_ENABLED": "true",
    "DYN_SYSTEM_PORT": "9191",
    "DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS": '["generate"]',
    "LOG": "svc",
    "NATS_SERVER": "nats://nats:4222",
    "POD_NAME": {"fieldRef": {"fieldPath": "metadata.name"}},
    "POD_NAMESPACE": {"fieldRef": {"fieldPath": "metadata.namespace"}},
    "POD_UID": {"fieldRef": {"fieldPath": "metadata.uid"}},
    "TZ": "UTC",
}
DIFFERENT: dict[str, Json] = {
    SHIPPED: {
        "requests": {"cpu": "1"},
        "liveness": {
            "httpGet": {"path": "/live", "port": "system"},
            "periodSeconds": 5,
            "timeoutSeconds": 4,
            "failureThreshold": 5,
        },
        "readiness": (4, 3),
        "grace": 60,
    },
    DOCUMENTED: {
        "requests": {"cpu": "1", "nvidia.com/gpu": "1"},
        "liveness": {"httpGet": {"port": 8081}, "failureThreshold": 5},
        "readiness": (30, 60),
        "grace": 0,
    },
}


@BOTH
def test_26_1_merge_env_precedence_and_pull_secrets(profile: str) -> None:
    found, different = first_example(profile), DIFFERENT[profile]
    container = found["spec"]["podSpec"]["containers"][1]
    assert env(container) == VARIABLES
    assert [entry["name"] for entry in container["env"]] == list(VARIABLES)
    timeout, failures = different["readiness"]
    container = {**container, "env": []}
    assert {**found, "spec": {**found["spec"], "podSpec": {**found["spec"]["podSpec"], "containers": []}}} == {
        "name": "worker",
        "labels": {
            "nvidia.com/dynamo-component": "Worker",
            "nvidia.com/dynamo-component-type": "worker",
            "nvidia.com/dynamo-graph-deployment-name": "demo",
            "nvidia.com/dynamo-namespace": "team-a-demo",
            "nvidia.com/metrics-enabled": "true",
            "nvidia.com/selector": "demo-worker",
        },
        "annotations": {"example.com/owner": "me", "nvidia.com/dynamo-discovery-backend": "kubernetes"},
        "spec": {
            "roleName": "worker",
            "replicas": 1,
            "minAvailable": 1,
            "podSpec": {
                "containers": [],
                "imagePullSecrets": [{"name": "ngc-a"}, {"name": "ngc-b"}],
                "restartPolicy": "Always",
                "securityContext": {"fsGroup": 1000},
                "serviceAccountName": "demo-k8s-service-discovery",
                "terminationGracePeriodSeconds": different["grace"],
                "volumes": [{"name": "shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}}],
            },
        },
    }
    assert container == {
        "name": "main",
        "image": "nvcr.io/acme/vllm:1",
        "command": ["/bin/sh", "-c"],
        "args": ["python3 -m dynamo.vllm --model m"],
        "env": [],
        "ports": [{"containerPort": 9090, "name": "system", "protocol": "TCP"}],
        "resources": {
            "limits": {"cpu": "2", "memory": "1Gi", "nvidia.com/gpu": "1"},
            "requests": different["requests"],
        },
        "livenessProbe": different["liveness"],
        "readinessProbe": {
            "httpGet": {"path": "/health", "port": "system"},
            "periodSeconds": 10,
            "timeoutSeconds": timeout,
            "failureThreshold": failures,
        },
        "startupProbe": {"httpGet": {"path": "/up", "port": 8081}},
        "volumeMounts": [{"name": "shared-memory", "mountPath": "/dev/shm"}],  # noqa: S108 - inside the container
    }


@BOTH
def test_26_1_the_sidecar_comes_first(profile: str) -> None:
    containers = first_example(profile)["spec"]["podSpec"]["containers"]
    assert containers[0] == {"name": "sidecar", "image": "busybox:1.36", "resources": {}}


# 26.2

LEADER = "$(GROVE_PCSG_NAME)-$(GROVE_PCSG_INDEX)-wk-ldr-0.$(GROVE_HEADLESS_SERVICE)"
RANK = "$((GROVE_PCLQ_POD_INDEX + 1))"


def data_parallel(local: int, start: str) -> str:
    return (
        f"--data-parallel-hybrid-lb --data-parallel-size-local {local} --data-parallel-start-rank {start}"
        f" --data-parallel-address {LEADER} --data-parallel-rpc-port 13445"
    )


def two_nodes(**container: list[str]) -> Json:
    return graph(
        Wk=service("worker", main=container, multinode={"nodeCount": 2}, resources={"limits": {"gpu": "8"}}, replicas=1)
    )


@BOTH
def test_26_2_vllm_data_parallel_through_a_shell(profile: str) -> None:
    flags = "--model m --data-parallel-size 16 --tensor-parallel-size 2"
    result = rendered(two_nodes(args=[f"python3 -m dynamo.vllm {flags}"]), profile)
    leader, worker = main(result, "wk-ldr"), main(result, "wk-wkr")
    assert leader["args"] == [f"python3 -m dynamo.vllm {data_parallel(4, '0')} {flags}"]
    assert worker["args"] == [f"python3 -m dynamo.vllm {data_parallel(4, f'$(( 4 * {RANK} ))')} {flags}"]
    assert not {"livenessProbe", "readinessProbe", "startupProbe"} & set(worker)


@BOTH
def test_26_2_vllm_data_parallel_directly(profile: str) -> None:
    command, args = ["python3", "-m", "dynamo.vllm"], ["--model", "m", "--data-parallel-size", "16"]
    result = rendered(two_nodes(command=command, args=args), profile)
    leader, worker = main(result, "wk-ldr"), main(result, "wk-wkr")
    assert (leader["command"], leader["args"]) == (command, [*args, *data_parallel(8, "0").split()])
    line = f"exec {' '.join([*command, *args])} {data_parallel(8, f'$(( 8 * {RANK} ))')}"
    assert (worker["command"], worker["args"]) == (["sh", "-c"], [line])


# 26.3

DECODE: Json = {
    "componentType": "worker",
    "subComponentType": "decode",
    "replicas": 2,
    "labels": {"tier": "gold"},
    "multinode": {"nodeCount": 2},
    "resources": {"limits": {"gpu": "8"}},
    "extraPodMetadata": {"annotations": {"note": "x"}},
    "extraPodSpec": {
        "mainContainer": {
            "image": "sgl:1",
            "command": ["/bin/sh", "-c"],
            "args": ["exec python3 -m dynamo.sglang --model m --tp 16 | tee log"],
        }
    },
}
IDENTITY = {
    "nvidia.com/dynamo-component": "Decode",
    "nvidia.com/dynamo-graph-deployment-name": "demo",
    "nvidia.com/dynamo-namespace": "team-a-demo",
}
TIER = {SHIPPED: {}, DOCUMENTED: {"tier": "gold"}}
ADDRESS = {SHIPPED: "$LWS_LEADER_ADDRESS", DOCUMENTED: "$(LWS_LEADER_ADDRESS)"}


def third_example(profile: str) -> list[Json]:
    resource = graph(
        annotations={"nvidia.com/enable-grove": "false"}, spec={"backendFramework": "sglang"}, Decode=DECODE
    )
    groups = ["grove.io", *LEADER_WORKER_SET["api_groups"]]
    return list(rendered(resource, profile, facts={"api_groups": groups}).objects)


@BOTH
def test_26_3_objects(profile: str) -> None:
    assert [(made["kind"], made["metadata"]["name"]) for made in third_example(profile)] == [
        ("DynamoComponentDeployment", "demo-decode"),
        ("PodGroup", "demo-decode-0"),
        ("LeaderWorkerSet", "demo-decode-0"),
        ("PodGroup", "demo-decode-1"),
        ("LeaderWorkerSet", "demo-decode-1"),
        ("Service", "demo-decode"),
    ]


@BOTH
def test_26_3_labels_of_the_component_deployment(profile: str) -> None:
    assert third_example(profile)[0]["metadata"]["labels"] == {**IDENTITY, **TIER[profile]}


@BOTH
def test_26_3_second_leader_worker_set(profile: str) -> None:
    found = third_example(profile)[4]
    assert found["metadata"]["labels"] == {**IDENTITY, **TIER[profile], "instance-id": "1"}
    template = found["spec"]["leaderWorkerTemplate"]
    assert (found["spec"]["replicas"], found["spec"]["startupPolicy"], template["size"]) == (1, "LeaderCreated", 2)


@BOTH
@pytest.mark.parametrize(("role", "rank"), [("leader", "0"), ("worker", "$(LWS_WORKER_INDEX)")])
def test_26_3_roles(profile: str, role: str, rank: str) -> None:
    template = third_example(profile)[4]["spec"]["leaderWorkerTemplate"][f"{role}Template"]
    assert template["metadata"] == {
        "annotations": {"note": "x", "scheduling.k8s.io/group-name": "demo-decode-1"},
        "labels": {
            **IDENTITY,
            **TIER[profile],
            "instance-id": "1",
            "role": role,
            "nvidia.com/dynamo-component-type": "worker",
            "nvidia.com/dynamo-sub-component-type": "decode",
            "nvidia.com/metrics-enabled": "true",
        },
    }
    (container,) = template["spec"]["containers"]
    assert (template["spec"]["schedulerName"], template["spec"]["serviceAccountName"]) == ("volcano", "default")
    flags = f"--dist-init-addr {ADDRESS[profile]}:29500 --nnodes 2 --node-rank {rank}"
    assert container["args"] == [f"exec python3 -m dynamo.sglang {flags} --model m --tp 16 | tee log"]
    assert "DYN_DISCOVERY_BACKEND" not in env(container)
    probes = [name for name in container if name.endswith("Probe")]
    assert len(probes) == (3 if role == "leader" else 0)


@BOTH
def test_26_3_service(profile: str) -> None:
    made = third_example(profile)[5]
    assert made["metadata"]["labels"] == {**IDENTITY, **TIER[profile]}
    assert made["metadata"].get("annotations") == ({"note": "x"} if profile == SHIPPED else None)
    assert made["spec"]["selector"] == {
        "nvidia.com/dynamo-component-type": "worker",
        "nvidia.com/dynamo-namespace": "team-a-demo",
        "role": "leader",
    }
    assert [port["port"] for port in made["spec"]["ports"]] == [9090]


# 26.4

GIVEN = '{"Frontend":{"port":1,"ServiceArgs":{"Workers":3,"resources":{"GPU":"2","cpu":"1"}}},"Z":{"a":"<b>","f":1.0}}'
WRITTEN = (
    '{"Frontend":{"ServiceArgs":{"Workers":3,"resources":{"GPU":"2","cpu":"1"}},"port":8000},'
    '"Z":{"a":"\\u003cb\\u003e","f":1}}'
)


@BOTH
def test_26_4_deployment_config(profile: str) -> None:
    resource = graph(
        spec={"envs": [{"name": "DYN_DEPLOYMENT_CONFIG", "value": GIVEN}]},
        Frontend=service("frontend", resources={"limits": {"memory": "1Gi"}}),
        Other=service(),
    )
    result = rendered(resource, profile, settings=ETCD, facts=NOTHING)
    spec = the(result, "DynamoComponentDeployment", "demo-frontend")["spec"]
    assert spec["replicas"] == 3
    assert spec["resources"] == {
        "limits": {"cpu": "1", "gpu": "2", "memory": "1Gi"},
        "requests": {"cpu": "1", "gpu": "2"},
    }
    assert spec["envs"] == [{"name": "DYN_DEPLOYMENT_CONFIG", "value": WRITTEN}]
    other = the(result, "DynamoComponentDeployment", "demo-other")["spec"]
    assert other["envs"] == [{"name": "DYN_DEPLOYMENT_CONFIG", "value": GIVEN}]
    assert the(result, "Deployment", "demo-frontend")["spec"]["replicas"] == 3
    gpu_request = {} if profile == SHIPPED else {"nvidia.com/gpu": "2"}
    assert pod(result, "frontend")["containers"][0]["resources"] == {
        "limits": {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "2"},
        "requests": {"cpu": "1", **gpu_request},
    }

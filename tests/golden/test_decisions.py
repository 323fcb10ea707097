"""Every decision about profile 0.9 where documents and released operator disagree, in both profiles.

A name holds the id of the row in decisions.md section 2; what disagrees stands in rendering.md section 25.
"""

from __future__ import annotations

import re
import subprocess
from typing import Any

import pytest

from tests.golden.cases import golden_cases
from tests.small import (
    DOCUMENTED,
    ETCD,
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
    pod,
    problems,
    rendered,
    service,
    the,
    warnings,
    worker,
)

BOTH = pytest.mark.parametrize("profile", [DOCUMENTED, SHIPPED])
FRONTEND = graph(Frontend=service("frontend"))
NGINX = {"enabled": True, "host": "chat", "ingressControllerClassName": "nginx"}


def container(service_: Json, profile: str, name: str = "it", **surroundings: Any) -> Json:
    return main(rendered(graph(It=service_), profile, **surroundings), name)


def timing(probe: Json) -> tuple[object, ...]:
    keys = ("initialDelaySeconds", "periodSeconds", "timeoutSeconds", "failureThreshold")
    return tuple(probe.get(key) for key in keys)


# D-01 to D-04: defaults of probes


def test_d_01_frontend_liveness() -> None:
    documented = container(service("frontend"), DOCUMENTED)["livenessProbe"]
    assert (documented["httpGet"], timing(documented)) == ({"path": "/health", "port": "http"}, (60, 60, 30, 10))
    shipped = container(service("frontend"), SHIPPED)["livenessProbe"]
    assert (shipped["httpGet"], timing(shipped)) == ({"path": "/live", "port": "http"}, (15, 10, 1, 3))


def test_d_02_frontend_readiness() -> None:
    documented = container(service("frontend"), DOCUMENTED)["readinessProbe"]
    text = 'curl -s http://localhost:${DYNAMO_PORT}/health | jq -e ".status == \\"healthy\\""'
    assert documented["exec"] == {"command": ["/bin/sh", "-c", text]}
    assert timing(documented) == (60, 60, 30, 10)
    shipped = container(service("frontend"), SHIPPED)["readinessProbe"]
    assert (shipped["httpGet"], timing(shipped)) == ({"path": "/health", "port": "http"}, (10, 10, 3, 3))


def test_d_03_worker_probes() -> None:
    documented, shipped = container(worker(), DOCUMENTED), container(worker(), SHIPPED)
    assert timing(documented["livenessProbe"]) == (None, 5, 30, 1)
    assert timing(documented["readinessProbe"]) == (None, 10, 30, 60)
    assert timing(shipped["livenessProbe"]) == (None, 5, 4, 1)
    assert timing(shipped["readinessProbe"]) == (None, 10, 4, 3)


@BOTH
def test_d_04_a_planner_has_no_probes(profile: str) -> None:
    assert not {"livenessProbe", "readinessProbe", "startupProbe"} & set(container(service("planner"), profile))


# D-05 to D-12: what users override


def test_d_05_a_probe_in_main_container_replaces_the_default_whole() -> None:
    own = {"tcpSocket": {"port": 8081}}
    written = worker(main={"args": ["python3 -m dynamo.vllm"], "livenessProbe": own})
    assert container(written, DOCUMENTED)["livenessProbe"] == own
    assert set(container(written, SHIPPED)["livenessProbe"]) >= {"tcpSocket", "httpGet", "periodSeconds"}


def test_d_05_a_numeric_port_is_kept() -> None:
    """The released operator loses it against the name of the default port."""
    written = service("frontend", main={"livenessProbe": {"httpGet": {"path": "/up", "port": 8081}}})
    assert container(written, DOCUMENTED)["livenessProbe"]["httpGet"] == {"path": "/up", "port": 8081}
    assert container(written, SHIPPED)["livenessProbe"]["httpGet"] == {"path": "/up", "port": "http"}


@BOTH
def test_d_05_a_probe_of_the_component_replaces_the_default_whole(profile: str) -> None:
    own = {"tcpSocket": {"port": 8081}}
    assert container(worker(readinessProbe=own), profile)["readinessProbe"] == own


@BOTH
def test_d_06_a_startup_probe_is_accepted_in_main_container_only(profile: str) -> None:
    own = {"tcpSocket": {"port": 8081}}
    inside = worker(main={"args": ["python3 -m dynamo.vllm"], "startupProbe": own})
    assert container(inside, profile)["startupProbe"] == own
    beside = rendered(graph(It=worker(startupProbe=own)), profile)
    assert main(beside, "it")["startupProbe"]["failureThreshold"] == 720
    assert warnings(beside) == [("schema/unknown-field", "spec.services.It.startupProbe")]


def test_d_07_an_explicit_zero_wins() -> None:
    written = service("frontend", pod={"terminationGracePeriodSeconds": 0}, main={"command": [], "args": ["x"]})
    documented, shipped = (rendered(graph(It=written), profile) for profile in (DOCUMENTED, SHIPPED))
    assert pod(documented, "it")["terminationGracePeriodSeconds"] == 0
    assert "command" not in main(documented, "it")
    assert pod(shipped, "it")["terminationGracePeriodSeconds"] == 60
    assert main(shipped, "it")["command"] == ["python3"]


@BOTH
def test_d_07_an_explicit_null_is_not_given(profile: str) -> None:
    written = service("frontend", pod={"terminationGracePeriodSeconds": None}, main={"command": None})
    result = rendered(graph(It=written), profile)
    assert pod(result, "it")["terminationGracePeriodSeconds"] == 60
    assert main(result, "it")["command"] == ["python3"]


@BOTH
def test_d_08_probes_of_multinode_workers_are_dropped_with_a_warning(profile: str) -> None:
    limits = {"limits": {"gpu": "8"}}
    spread = worker("sglang", multinode={"nodeCount": 2}, resources=limits, livenessProbe={"tcpSocket": {"port": 1}})
    result = rendered(graph(It=spread), profile)
    assert "livenessProbe" in main(result, "it-ldr")
    assert not {"livenessProbe", "readinessProbe", "startupProbe"} & set(main(result, "it-wkr"))
    assert warnings(result) == [("probe/dropped", "spec.services.It.livenessProbe")]


def test_d_09_an_env_entry_of_the_user_stays_the_only_one() -> None:
    written = worker(
        main={"args": ["python3 -m dynamo.vllm"], "env": [{"name": "VLLM_CACHE_ROOT", "value": "/mine"}]},
        volumeMounts=[{"name": "cache", "mountPoint": "/cache", "useAsCompilationCache": True}],
    )
    documented, shipped = container(written, DOCUMENTED), container(written, SHIPPED)
    assert env(documented)["VLLM_CACHE_ROOT"] == "/mine"
    twice = [entry["value"] for entry in shipped["env"] if entry["name"] == "VLLM_CACHE_ROOT"]
    assert twice == ["/mine", "/cache"]


def test_d_10_the_cache_root_is_the_effective_mount_point_of_the_first_cache() -> None:
    written = worker(volumeMounts=[{"name": "cache", "useAsCompilationCache": True}])
    assert env(container(written, DOCUMENTED))["VLLM_CACHE_ROOT"] == "/root/.cache/vllm"
    assert "VLLM_CACHE_ROOT" not in env(container(written, SHIPPED))


def test_d_11_requested_gpus_are_rendered_with_their_type() -> None:
    amounts = {"requests": {"gpu": "2"}, "limits": {"gpu": "2"}}
    documented = container(service(resources=amounts), DOCUMENTED)["resources"]
    assert documented == {"requests": {"nvidia.com/gpu": "2"}, "limits": {"nvidia.com/gpu": "2"}}
    assert container(service(resources=amounts), SHIPPED)["resources"] == {"limits": {"nvidia.com/gpu": "2"}}
    slices = service(resources={"requests": {"gpu": "1", "gpuType": "nvidia.com/mig-1g.5gb"}})
    assert container(slices, DOCUMENTED)["resources"] == {"requests": {"nvidia.com/mig-1g.5gb": "1"}}
    assert container(slices, SHIPPED)["resources"] == {}


@BOTH
def test_d_12_a_null_security_context_is_not_given_and_warns(profile: str) -> None:
    result = rendered(graph(It=service(pod={"securityContext": None})), profile)
    assert pod(result, "it")["securityContext"] == {"fsGroup": 1000}
    (warning,) = result.warnings
    assert "{}" in (warning.hint or "")


@BOTH
def test_d_12_an_empty_security_context_is_kept(profile: str) -> None:
    assert pod(rendered(graph(It=service(pod={"securityContext": {}})), profile), "it")["securityContext"] == {}


@BOTH
@pytest.mark.parametrize(
    ("component_type", "seconds"), [("epp", 130), ("frontend", 60), ("worker", 60), ("planner", 60), (None, 60)]
)
def test_d_13_the_grace_period_is_60_seconds_and_130_for_the_picker(
    profile: str, component_type: str | None, seconds: int
) -> None:
    fields = {"eppConfig": {"configMapRef": {"name": "a", "key": "b"}}} if component_type == "epp" else {}
    written = service(component_type, **fields)
    assert pod(rendered(graph(It=written), profile), "it")["terminationGracePeriodSeconds"] == seconds


# D-14, D-15, D-29, D-30: launches


def ray_leader(line: str, profile: str) -> str:
    spread = service("worker", main={"args": [line]}, multinode={"nodeCount": 2}, resources={"limits": {"gpu": "8"}})
    leader = container(spread, profile, "it-ldr")
    assert leader["command"] == ["/bin/sh", "-c"]
    return leader["args"][0]


def calls(script: str) -> list[str]:
    """Return what a shell starts for *script*, a line for each program, its words in angle brackets."""
    programs = "".join(
        f'{name}() {{ printf "%s" {name}; printf " <%s>" "$@"; echo; }}\n' for name in ("ray", "python3")
    )
    done = subprocess.run(["/bin/sh", "-c", programs + script], capture_output=True, text=True, check=True, timeout=20)
    return done.stdout.splitlines()


def test_d_14_a_shell_command_gets_the_flag_inside_its_python_command() -> None:
    line = "python3 -m dynamo.vllm --model 'a b' --tensor-parallel-size 16"
    flag = "<--distributed-executor-backend> <ray>"
    assert calls(ray_leader(line, DOCUMENTED)) == [
        "ray <start> <--head> <--port=6379>",
        f"python3 <-m> <dynamo.vllm> {flag} <--model> <a b> <--tensor-parallel-size> <16>",
    ]
    assert ray_leader(line, SHIPPED) == (
        f"ray start --head --port=6379 && /bin/sh -c {line} --distributed-executor-backend ray"
    )


def test_d_15_leader_addresses_are_expanded_by_the_kubelet() -> None:
    direct = service(
        "worker",
        main={"command": ["python3", "-m", "dynamo.sglang"], "args": ["--tp", "16"]},
        multinode={"nodeCount": 2},
        resources={"limits": {"gpu": "8"}},
    )

    def address(profile: str) -> str:
        result = rendered(graph(It=direct), profile, facts=LEADER_WORKER_SET)
        template = the(result, "LeaderWorkerSet")["spec"]["leaderWorkerTemplate"]["leaderTemplate"]
        args = template["spec"]["containers"][0]["args"]
        return args[args.index("--dist-init-addr") + 1]

    assert address(DOCUMENTED) == "$(LWS_LEADER_ADDRESS):29500"
    assert address(SHIPPED) == "$LWS_LEADER_ADDRESS:29500"


def test_d_29_vllm_workers_that_need_no_second_node_keep_their_probes() -> None:
    idle = worker(multinode={"nodeCount": 2}, resources={"limits": {"gpu": "8"}})
    assert "readinessProbe" in container(idle, DOCUMENTED, "it-wkr")
    assert "readinessProbe" not in container(idle, SHIPPED, "it-wkr")


@pytest.mark.parametrize(("flags", "launch"), [("--tensor-parallel-size 16", "Ray"), ("--data-parallel-size 16", "DP")])
@BOTH
def test_d_29_vllm_workers_lose_their_probes_in_ray_and_data_parallel_launches(
    profile: str, flags: str, launch: str
) -> None:
    spread = worker(flags=flags, multinode={"nodeCount": 2}, resources={"limits": {"gpu": "8"}})
    assert "readinessProbe" not in container(spread, profile, "it-wkr"), launch


def test_d_30_mpi_processes_are_nodes_times_the_gpu_limit() -> None:
    amounts = {"requests": {"gpu": "2"}, "limits": {"gpu": "4"}}
    spread = worker("trtllm", multinode={"nodeCount": 3}, resources=amounts)
    assert " -n 12 " in container(spread, DOCUMENTED, "it-ldr")["args"][0]
    assert " -n 6 " in container(spread, SHIPPED, "it-ldr")["args"][0]


@BOTH
def test_d_30_the_gpu_request_counts_where_there_is_no_limit(profile: str) -> None:
    spread = worker("trtllm", multinode={"nodeCount": 3}, resources={"requests": {"gpu": "2"}})
    assert " -n 6 " in container(spread, profile, "it-ldr")["args"][0]


# D-16 to D-23: metadata and what lies beside

MARKED: Json = {"labels": {"team": "search"}, "annotations": {"owner": "me"}}


def marks(found: Json) -> tuple[bool, bool]:
    metadata = found["metadata"]
    return metadata.get("labels", {}).get("team") == "search", metadata.get("annotations", {}).get("owner") == "me"


@pytest.mark.parametrize("kind", ["Service", "Ingress"])
def test_d_16_d_17_metadata_of_a_service_goes_on_its_objects_on_grove(kind: str) -> None:
    resource = graph(It=service("frontend", ingress=NGINX, **MARKED))
    assert marks(the(rendered(resource, DOCUMENTED), kind)) == (True, True)
    assert marks(the(rendered(resource, SHIPPED), kind)) == (kind == "Service", False)


@BOTH
def test_d_16_d_17_metadata_of_a_service_goes_on_its_cliques(profile: str) -> None:
    found = clique(rendered(graph(It=service(**MARKED)), profile), "it")
    assert (found["labels"]["team"], found["annotations"]["owner"]) == ("search", "me")


@pytest.mark.parametrize(
    ("kind", "shipped_annotation"),
    [("DynamoComponentDeployment", False), ("Deployment", True), ("Service", True), ("Ingress", False)],
)
def test_d_16_d_17_metadata_of_a_service_goes_on_its_objects_without_grove(
    kind: str, *, shipped_annotation: bool
) -> None:
    resource = graph(It=service(ingress=NGINX, **MARKED))
    documented = [marks(found) for found in of_kind(rendered(resource, DOCUMENTED, facts=NOTHING), kind)]
    assert documented == [(True, True)]
    shipped = {marks(found) for found in of_kind(rendered(resource, SHIPPED, facts=NOTHING), kind)}
    assert shipped == {(False, shipped_annotation)}


@pytest.mark.parametrize("kind", ["LeaderWorkerSet", "PodGroup"])
def test_d_16_d_17_metadata_of_a_service_goes_on_its_leader_worker_sets(kind: str) -> None:
    resource = graph(It=worker(multinode={"nodeCount": 2}, resources={"limits": {"gpu": "1"}}, **MARKED))
    assert marks(the(rendered(resource, DOCUMENTED, facts=LEADER_WORKER_SET), kind)) == (True, True)
    assert marks(the(rendered(resource, SHIPPED, facts=LEADER_WORKER_SET), kind)) == (False, False)


def test_d_16_d_17_metadata_of_a_service_goes_on_its_pods_without_grove() -> None:
    resource = graph(It=service(**MARKED))
    documented = the(rendered(resource, DOCUMENTED, facts=NOTHING), "Deployment")["spec"]["template"]
    shipped = the(rendered(resource, SHIPPED, facts=NOTHING), "Deployment")["spec"]["template"]
    assert (marks(documented), marks(shipped)) == ((True, True), (False, False))


def test_d_16_labels_that_the_operator_owns_are_kept_with_a_warning() -> None:
    resource = graph(It=service(labels={"nvidia.com/selector": "mine"}))
    documented = rendered(resource, DOCUMENTED)
    assert clique(documented, "it")["labels"]["nvidia.com/selector"] == "demo-it"
    assert warnings(documented) == [("metadata/owned", 'spec.services.It.labels["nvidia.com/selector"]')]
    assert clique(rendered(resource, SHIPPED), "it")["labels"]["nvidia.com/selector"] == "mine"


@BOTH
def test_d_18_autoscaling_renders_nothing_and_names_the_scaling_adapter(profile: str) -> None:
    result = rendered(graph(It=service(autoscaling={"enabled": True, "maxReplicas": 4})), profile, facts=NOTHING)
    assert of_kind(result, "HorizontalPodAutoscaler") == []
    (warning,) = result.warnings
    assert "scalingAdapter" in (warning.hint or "")


@pytest.mark.parametrize(
    ("fields", "kind"), [({}, "Ingress"), ({"useVirtualService": True, "virtualServiceGateway": "g"}, "VirtualService")]
)
def test_d_19_metadata_of_an_ingress_is_applied(fields: Json, kind: str) -> None:
    ingress = {**NGINX, **fields, "labels": {"team": "search"}, "annotations": {"owner": "me"}}
    settings = {**ETCD, "virtual_service_gateway": "operators"}
    resource = graph(It=service("frontend", ingress=ingress))
    assert marks(the(rendered(resource, DOCUMENTED, settings=settings), kind)) == (True, True)
    assert marks(the(rendered(resource, SHIPPED, settings=settings), kind)) == (False, False)


@BOTH
@pytest.mark.parametrize(
    ("fields", "host"),
    [
        ({}, "chat.local"),
        ({"hostSuffix": "example.com"}, "chat.example.com"),
        ({"hostPrefix": "p-"}, "p-chat.local"),
        ({"hostSuffix": ""}, "chat."),
    ],
)
def test_d_20_the_host_suffix_follows_a_dot_and_defaults_to_local(profile: str, fields: Json, host: str) -> None:
    result = rendered(graph(It=service("frontend", ingress={**NGINX, **fields})), profile)
    assert the(result, "Ingress")["spec"]["rules"][0]["host"] == host


def test_d_21_a_virtual_service_replaces_the_ingress() -> None:
    mesh = {**NGINX, "useVirtualService": True, "virtualServiceGateway": "own"}
    resource, settings = graph(It=service("frontend", ingress=mesh)), {**ETCD, "virtual_service_gateway": "operators"}
    documented, shipped = (rendered(resource, profile, settings=settings) for profile in (DOCUMENTED, SHIPPED))
    assert (names(documented, "Ingress"), names(documented, "VirtualService")) == ([], ["demo-it"])
    assert (names(shipped, "Ingress"), names(shipped, "VirtualService")) == (["demo-it"], ["demo-it"])


def test_d_21_a_gateway_of_the_component_is_enough() -> None:
    mesh = {"enabled": True, "host": "chat", "useVirtualService": True, "virtualServiceGateway": "own"}
    resource = graph(It=service("frontend", ingress=mesh))
    assert the(rendered(resource, DOCUMENTED), "VirtualService")["spec"]["gateways"] == ["own"]
    assert of_kind(rendered(resource, SHIPPED), "VirtualService") == []


@BOTH
@pytest.mark.parametrize("written", [worker("sglang"), worker("trtllm"), service()], ids=["sglang", "trtllm", "none"])
def test_d_22_a_cache_without_mount_point_is_refused_where_there_is_no_default(profile: str, written: Json) -> None:
    cached = {**written, "volumeMounts": [{"name": "cache", "useAsCompilationCache": True}]}
    assert problems(graph(It=cached), profile) == [("CTL-08", "spec.services.It.volumeMounts[0].mountPoint")]


@pytest.mark.parametrize("kind", ["Deployment", "Service"])
def test_d_23_pod_metadata_goes_on_pods_only(kind: str) -> None:
    resource = graph(It=service(extraPodMetadata={"annotations": {"owner": "me"}}))
    documented, shipped = (rendered(resource, profile, facts=NOTHING) for profile in (DOCUMENTED, SHIPPED))
    assert marks(the(documented, kind, "demo-it")) == (False, False)
    assert marks(the(shipped, kind, "demo-it")) == (False, True)
    assert marks(the(documented, "Deployment")["spec"]["template"]) == (False, True)


def test_d_23_pod_metadata_sets_no_rollout_limits() -> None:
    surge = {"nvidia.com/deployment-rolling-update-max-surge": "1"}
    resource = graph(It=service(extraPodMetadata={"annotations": surge}))

    def max_surge(profile: str) -> object:
        found = the(rendered(resource, profile, facts=NOTHING), "Deployment")
        return found["spec"]["strategy"]["rollingUpdate"]["maxSurge"]

    assert (max_surge(DOCUMENTED), max_surge(SHIPPED)) == ("25%", 1)


# D-24 to D-28: accounts, secrets, names


def pull_secrets(written: Json, profile: str, **index: list[str]) -> list[str]:
    facts = {"api_groups": ["grove.io"], "namespaces": {"team-a": {"pull_secrets": index}}}
    found = pod(rendered(graph(It=written), profile, facts=facts), "it").get("imagePullSecrets", [])
    return [entry["name"] for entry in found]


def test_d_24_every_image_of_the_pod_is_looked_up() -> None:
    written = service(
        main={"image": "ghcr.io/a/b:1"},
        pod={
            "initContainers": [{"name": "init", "image": "quay.io/a/b:1"}],
            "containers": [{"name": "sidecar", "image": "gcr.io/a/b:1"}],
        },
    )
    index = {"ghcr.io": ["z"], "quay.io": ["y"], "gcr.io": ["x"]}
    assert pull_secrets(written, DOCUMENTED, **index) == ["x", "y", "z"]
    assert pull_secrets(written, SHIPPED, **index) == ["z"]


@pytest.mark.parametrize("image", ["ubuntu:22.04", "me/app:1", "docker.io/me/app", "index.docker.io/me/app"])
@pytest.mark.parametrize("server", ["docker.io", "index.docker.io", "https://index.docker.io/v1/"])
def test_d_24_an_image_without_host_is_of_docker_io(image: str, server: str) -> None:
    assert pull_secrets(service(main={"image": image}), DOCUMENTED, **{server: ["hub"]}) == ["hub"]


def test_d_24_the_released_operator_takes_the_first_word_for_the_host() -> None:
    assert pull_secrets(service(main={"image": "ubuntu:22.04"}), SHIPPED, **{"docker.io": ["hub"]}) == []
    assert pull_secrets(service(main={"image": "library/ubuntu"}), SHIPPED, library=["odd"]) == ["odd"]
    assert pull_secrets(service(main={"image": "library/ubuntu"}), DOCUMENTED, library=["odd"]) == []


def test_d_25_an_account_that_the_user_sets_is_never_replaced() -> None:
    resource = graph(It=service("planner", pod={"serviceAccountName": "mine"}))
    assert pod(rendered(resource, DOCUMENTED, facts=NOTHING), "it")["serviceAccountName"] == "mine"
    assert pod(rendered(resource, SHIPPED, facts=NOTHING), "it")["serviceAccountName"] == "planner-serviceaccount"


@BOTH
@pytest.mark.parametrize(
    ("component_type", "settings", "facts", "account"),
    [
        ("planner", ETCD, NOTHING, "planner-serviceaccount"),
        ("epp", ETCD, NOTHING, "epp-serviceaccount"),
        ("frontend", KUBERNETES, NOTHING, "demo-k8s-service-discovery"),
        ("frontend", ETCD, {"namespaces": {"team-a": {"component_service_account": "labelled"}}}, "labelled"),
        ("frontend", ETCD, NOTHING, "default"),
    ],
)
def test_d_25_accounts_are_as_shipped_where_the_user_sets_none(
    profile: str, component_type: str, settings: Json, facts: Json, account: str
) -> None:
    fields = {"eppConfig": {"configMapRef": {"name": "a", "key": "b"}}} if component_type == "epp" else {}
    result = rendered(graph(It=service(component_type, **fields)), profile, settings=settings, facts=facts)
    assert pod(result, "it")["serviceAccountName"] == account


@BOTH
def test_d_26_the_variables_are_those_of_the_released_operator(profile: str) -> None:
    found = env(container(worker(), profile, settings={**KUBERNETES, "nats_address": "nats://n"}))
    assert set(found) == {
        *("DYN_COMPONENT", "DYN_DISCOVERY_BACKEND", "DYN_HEALTH_CHECK_ENABLED", "DYN_NAMESPACE", "NATS_SERVER"),
        *("DYN_PARENT_DGD_K8S_NAME", "DYN_PARENT_DGD_K8S_NAMESPACE", "DYN_SYSTEM_ENABLED", "DYN_SYSTEM_PORT"),
        *("DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS", "POD_NAME", "POD_NAMESPACE", "POD_UID"),
    }


@BOTH
def test_d_27_names_of_a_graphs_service_are_computed(profile: str) -> None:
    result = rendered(graph(It=service(serviceName="Other", dynamoNamespace="other")), profile, facts=NOTHING)
    spec = the(result, "DynamoComponentDeployment")["spec"]
    assert (spec["serviceName"], spec["dynamoNamespace"]) == ("It", "team-a-demo")
    assert warnings(result) == [("SVC-W01", "spec.services.It.dynamoNamespace")]


def test_d_27_a_standalone_component_honours_its_dynamo_namespace() -> None:
    resource = component({**service(), "dynamoNamespace": "shared"})

    def found(profile: str) -> Json:
        return env(the(rendered(resource, profile), "Deployment")["spec"]["template"]["spec"]["containers"][0])

    assert (found(DOCUMENTED)["DYN_NAMESPACE"], found(DOCUMENTED)["DYN_PARENT_DGD_K8S_NAME"]) == ("shared", "solo")
    assert (found(SHIPPED)["DYN_NAMESPACE"], found(SHIPPED)["DYN_PARENT_DGD_K8S_NAME"]) == ("team-a-", None)


def test_d_27_a_standalone_component_without_one_has_a_namespace_of_its_own() -> None:
    resource = component(service())
    documented = the(rendered(resource, DOCUMENTED), "Service")
    assert documented["spec"]["selector"]["nvidia.com/dynamo-namespace"] == "team-a-solo"
    assert problems(resource, SHIPPED) == [("CTL-17", "spec.dynamoNamespace")]


@BOTH
def test_d_28_the_picker_is_a_full_type(profile: str) -> None:
    found = container(service("epp", eppConfig={"configMapRef": {"name": "a", "key": "b"}}), profile)
    assert found["livenessProbe"]["grpc"] == {"port": 9003, "service": "inference-extension"}
    assert (len(found["args"]), found["volumeMounts"][0]["name"]) == (16, "epp-config")


# Further decisions


def test_further_debug_services_exist_in_debug_mode_only() -> None:
    plain, stealing = FRONTEND, {"nvidia.com/enable-stealing-traffic-debug-mode": "true"}
    assert names(rendered(plain, DOCUMENTED, facts=NOTHING), "Service") == ["demo-frontend"]
    three = ["demo-frontend", "demo-frontend-p", "demo-frontend-d"]
    assert names(rendered(plain, SHIPPED, facts=NOTHING), "Service") == three
    debugged = graph(Frontend=service("frontend", annotations=stealing))
    assert names(rendered(debugged, DOCUMENTED, facts=NOTHING), "Service") == three


def test_further_access_exists_only_for_graphs_with_such_a_component() -> None:
    wide = {"discovery_backend": "etcd", "planner_cluster_role": "p", "epp_cluster_role": "e"}
    assert names(rendered(FRONTEND, DOCUMENTED, settings=wide), "ServiceAccount") == []
    assert names(rendered(FRONTEND, SHIPPED, settings=wide), "ServiceAccount") == ["planner-serviceaccount"]
    planned = graph(Planner=service("planner"))
    assert names(rendered(planned, DOCUMENTED, settings=wide), "ServiceAccount") == ["planner-serviceaccount"]


def test_further_shared_memory_without_size_has_the_default() -> None:
    resource = graph(It=service(sharedMemory={}))
    (volume,) = pod(rendered(resource, DOCUMENTED), "it")["volumes"]
    assert volume["emptyDir"] == {"medium": "Memory", "sizeLimit": "8Gi"}
    assert problems(resource, SHIPPED) == [("SVC-V04", "spec.services.It.sharedMemory.size")]


def test_further_services_that_collide_are_a_problem() -> None:
    resource = graph(Worker=service(), worker=service())
    assert problems(resource, DOCUMENTED) == [("names/collision", "spec.services.worker")]
    assert len(the(rendered(resource, SHIPPED), "PodCliqueSet")["spec"]["template"]["cliques"]) == 2


def test_further_computed_names_over_their_limit_are_a_problem() -> None:
    long = "x" * 60
    resource = graph(**{long: service()})
    assert problems(resource, DOCUMENTED, facts=NOTHING) == [("names/service", f"spec.services.{long}")]
    assert names(rendered(resource, SHIPPED, facts=NOTHING), "Service")[0] == f"demo-{long}"


def test_further_parameters_of_picker_plugins_may_be_objects() -> None:
    config = {"plugins": [{"type": "kv", "parameters": {"weight": 2}}], "schedulingProfiles": []}
    resource = graph(It=service("epp", eppConfig={"config": config}))
    text = the(rendered(resource, DOCUMENTED), "ConfigMap")["data"]["epp-config-dynamo.yaml"]
    assert "  parameters:\n    weight: 2\n" in text
    at = "spec.services.It.eppConfig.config.plugins[0].parameters"
    assert problems(resource, SHIPPED) == [("schema/type", at)]


@BOTH
@pytest.mark.parametrize("discovery", ["kubernetes", "etcd"])
def test_further_the_etcd_address_is_injected_whenever_it_is_set(profile: str, discovery: str) -> None:
    settings = {"restricted_namespace": "team-a", "discovery_backend": discovery, "etcd_address": "etcd:2379"}
    assert env(container(service(), profile, settings=settings))["ETCD_ENDPOINTS"] == "etcd:2379"


@pytest.mark.parametrize("row", range(1, 31), ids="D-{:02}".format)
def test_every_row_has_a_test_and_a_golden_case(row: int) -> None:
    assert [name for name in globals() if re.search(rf"(_|^)d_{row:02}(_|$)", name.removeprefix("test"))]
    assert [case.folder.name for case in golden_cases() if re.search(rf"(-|^)d-{row:02}-", case.folder.name)]

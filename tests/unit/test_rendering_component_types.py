"""The rows of rendering.md section 6 (component types) and section 7 (probes)."""

from __future__ import annotations

import pytest

from tests.small import (
    BOTH,
    DOCUMENTED,
    NOTHING,
    SHIPPED,
    Json,
    component,
    graph,
    main,
    pod,
    rendered,
    service,
    the,
    worker,
)

PICKER = {"configMapRef": {"name": "a", "key": "b"}}
SHELL = ["/bin/sh", "-c"]
WORKERS = ("worker", "prefill", "decode")
OTHERS = ("default", "main", "Frontend", "", None)
TYPES = ("frontend", *WORKERS, "planner", "epp", *OTHERS)


def of_type(component_type: str | None, profile: str) -> tuple[Json, Json]:
    """Return main container and pod of a service of *component_type* that says nothing else."""
    fields = {"eppConfig": PICKER} if component_type == "epp" else {}
    written = service(component_type, sharedMemory={"disabled": True}, **fields)
    result = rendered(graph(It=written), profile)
    return main(result, "it"), pod(result, "it")


def port(number: int, name: str) -> Json:
    return {"containerPort": number, "name": name, "protocol": "TCP"}


EPP_LINE = (
    "-pool-name demo-pool -pool-namespace team-a -pool-group inference.networking.k8s.io -v 4 --zap-encoder json"
    " -grpc-port 9002 -grpc-health-port 9003 -config-file /etc/epp/epp-config-dynamo.yaml"
)
EPP_ARGS = EPP_LINE.split()
EPP_PORTS = [port(9002, "grpc"), port(9003, "grpc-health"), port(9090, "metrics")]
EPP_MOUNTS = [
    {"name": "epp-config", "mountPath": "/etc/epp", "readOnly": True},
    {"name": "hf-cache", "mountPath": "/home/nonroot/.cache"},
]


def rows(row: str, *cells: tuple[tuple[str | None, ...], object]) -> list[object]:
    """Return one parameter set for each type of a table row, with section, row and type in its id."""
    return [pytest.param(kind, value, id=f"6-{row}-{kind}") for kinds, value in cells for kind in kinds]


@BOTH
@pytest.mark.parametrize("component_type", TYPES, ids=lambda kind: f"6-name-{kind}")
def test_the_container_is_called_main(profile: str, component_type: str | None) -> None:
    assert of_type(component_type, profile)[0]["name"] == "main"


@BOTH
@pytest.mark.parametrize(
    ("component_type", "command"),
    rows("command", (("frontend",), ["python3"]), ((*WORKERS, "planner", *OTHERS), SHELL), (("epp",), None)),
)
def test_command(profile: str, component_type: str | None, command: object) -> None:
    assert of_type(component_type, profile)[0].get("command") == command


@BOTH
@pytest.mark.parametrize(
    ("component_type", "args"),
    rows(
        "args", (("frontend",), ["-m", "dynamo.frontend"]), (("epp",), EPP_ARGS), ((*WORKERS, "planner", *OTHERS), None)
    ),
)
def test_args(profile: str, component_type: str | None, args: object) -> None:
    assert of_type(component_type, profile)[0].get("args") == args


@BOTH
@pytest.mark.parametrize(
    ("component_type", "ports"),
    rows(
        "ports",
        (("frontend",), [port(8000, "http")]),
        (WORKERS, [port(9090, "system")]),
        (("planner",), [port(9085, "metrics")]),
        (("epp",), EPP_PORTS),
        (OTHERS, None),
    ),
)
def test_ports(profile: str, component_type: str | None, ports: object) -> None:
    assert of_type(component_type, profile)[0].get("ports") == ports


@BOTH
@pytest.mark.parametrize(
    ("component_type", "mounts"),
    rows("volumeMounts", (("epp",), EPP_MOUNTS), (("frontend", *WORKERS, "planner", *OTHERS), None)),
)
def test_volume_mounts(profile: str, component_type: str | None, mounts: object) -> None:
    assert of_type(component_type, profile)[0].get("volumeMounts") == mounts


@pytest.mark.parametrize("component_type", TYPES, ids=lambda kind: f"6-image-{kind}")
def test_no_type_has_an_image_of_its_own(component_type: str | None) -> None:
    fields: Json = {"eppConfig": PICKER} if component_type == "epp" else {}
    typed = {} if component_type is None else {"componentType": component_type}
    result = rendered(graph(It={**typed, **fields}), SHIPPED)
    assert "image" not in main(result, "it")


@BOTH
@pytest.mark.parametrize(
    ("component_type", "seconds"),
    rows("terminationGracePeriodSeconds", (("epp",), 130), (("frontend", *WORKERS, "planner", *OTHERS), 60)),
)
def test_grace_period(profile: str, component_type: str | None, seconds: int) -> None:
    assert of_type(component_type, profile)[1]["terminationGracePeriodSeconds"] == seconds


@BOTH
@pytest.mark.parametrize("component_type", TYPES, ids=lambda kind: f"6-restartPolicy-{kind}")
def test_restart_policy(profile: str, component_type: str | None) -> None:
    assert of_type(component_type, profile)[1]["restartPolicy"] == "Always"


@BOTH
@pytest.mark.parametrize(
    ("component_type", "account"),
    rows(
        "serviceAccountName",
        (("planner",), "planner-serviceaccount"),
        (("epp",), "epp-serviceaccount"),
        (("frontend", *WORKERS, *OTHERS), None),
    ),
)
def test_service_account(profile: str, component_type: str | None, account: object) -> None:
    assert of_type(component_type, profile)[1].get("serviceAccountName") == account


@BOTH
@pytest.mark.parametrize(
    ("config", "source"),
    [
        pytest.param(
            {"config": {"plugins": [], "schedulingProfiles": []}},
            ("demo-epp-config", "epp-config-dynamo.yaml"),
            id="6-volumes-epp",
        ),
        pytest.param({"configMapRef": {"name": "a", "key": "b"}}, ("a", "b"), id="6-volumes-epp-of-the-user"),
        pytest.param(
            {"configMapRef": {"name": "a", "key": ""}}, ("a", "epp-config-dynamo.yaml"), id="6-volumes-epp-without-key"
        ),
    ],
)
def test_volumes_of_a_picker(profile: str, config: Json, source: tuple[str, str]) -> None:
    result = rendered(graph(It=service("epp", eppConfig=config, sharedMemory={"disabled": True})), profile)
    name, key = source
    items = [{"key": key, "path": "epp-config-dynamo.yaml"}]
    assert pod(result, "it")["volumes"] == [
        {"name": "epp-config", "configMap": {"name": name, "items": items}},
        {"name": "hf-cache", "emptyDir": {}},
    ]


@BOTH
@pytest.mark.parametrize("component_type", ["frontend", "planner", "default"], ids=lambda kind: f"6-engine-{kind}")
def test_only_workers_run_an_engine(profile: str, component_type: str) -> None:
    line = "python3 -m dynamo.sglang"
    spread = service(component_type, main={"command": SHELL, "args": [line]}, multinode={"nodeCount": 2})
    assert main(rendered(graph(It=spread), profile), "it-wkr")["args"] == [line]


# Section 7

DOCUMENTED_READY = 'curl -s http://localhost:${DYNAMO_PORT}/health | jq -e ".status == \\"healthy\\""'


def probe(handler: Json, *times: int | None) -> Json:
    keys = ("initialDelaySeconds", "periodSeconds", "timeoutSeconds", "failureThreshold")
    return {**handler, **{key: seconds for key, seconds in zip(keys, times, strict=True) if seconds is not None}}


def http(path: str, port_name: str) -> Json:
    return {"httpGet": {"path": path, "port": port_name}}


PROBES = [
    (
        "frontend",
        "livenessProbe",
        probe(http("/health", "http"), 60, 60, 30, 10),
        probe(http("/live", "http"), 15, 10, 1, 3),
    ),
    (
        "frontend",
        "readinessProbe",
        probe({"exec": {"command": [*SHELL, DOCUMENTED_READY]}}, 60, 60, 30, 10),
        probe(http("/health", "http"), 10, 10, 3, 3),
    ),
    ("frontend", "startupProbe", None, None),
    *[
        row
        for kind in WORKERS
        for row in (
            (
                kind,
                "livenessProbe",
                probe(http("/live", "system"), None, 5, 30, 1),
                probe(http("/live", "system"), None, 5, 4, 1),
            ),
            (
                kind,
                "readinessProbe",
                probe(http("/health", "system"), None, 10, 30, 60),
                probe(http("/health", "system"), None, 10, 4, 3),
            ),
            (kind, "startupProbe", *[probe(http("/live", "system"), None, 10, 5, 720)] * 2),
        )
    ],
    *[
        ("epp", name, *[probe({"grpc": {"port": 9003, "service": "inference-extension"}}, 5, 10, None, None)] * 2)
        for name in ("livenessProbe", "readinessProbe")
    ],
    *[
        (kind, name, None, None)
        for kind in ("planner", None)
        for name in ("livenessProbe", "readinessProbe", "startupProbe")
    ],
]


@pytest.mark.parametrize(
    ("component_type", "name", "documented", "shipped"),
    [pytest.param(*row, id=f"7-{row[0] or 'other'}-{row[1]}") for row in PROBES],
)
def test_probes(component_type: str | None, name: str, documented: Json | None, shipped: Json | None) -> None:
    assert of_type(component_type, DOCUMENTED)[0].get(name) == documented
    assert of_type(component_type, SHIPPED)[0].get(name) == shipped


OWN = {"tcpSocket": {"port": 1}}


@BOTH
@pytest.mark.parametrize("name", ["livenessProbe", "readinessProbe"], ids="7-precedence-of-the-component-{}".format)
def test_a_probe_of_the_component_wins_over_all_others(profile: str, name: str) -> None:
    main_container = {"args": ["python3 -m dynamo.vllm"], name: {"exec": {"command": ["no"]}}}
    own: Json = {name: OWN}
    written = worker(main=main_container, **own)
    assert main(rendered(graph(It=written), profile), "it")[name] == OWN


@BOTH
def test_7_precedence_a_startup_probe_of_main_container_replaces_the_default(profile: str) -> None:
    written = worker(main={"args": ["python3 -m dynamo.vllm"], "startupProbe": OWN})
    assert main(rendered(graph(It=written), profile), "it")["startupProbe"] == OWN


ALL = ("livenessProbe", "readinessProbe", "startupProbe")
SSH = probe({"tcpSocket": {"port": 2222}}, 20, 20, 5, 10)


@BOTH
@pytest.mark.parametrize(
    ("engine", "flags", "role", "kept"),
    [
        pytest.param("vllm", "--tensor-parallel-size 16", "wkr", (), id="7-multinode-vllm-worker"),
        pytest.param("vllm", "--tensor-parallel-size 16", "ldr", ALL, id="7-multinode-vllm-leader"),
        pytest.param("sglang", "", "wkr", (), id="7-multinode-sglang-worker"),
        pytest.param("sglang", "", "ldr", ALL, id="7-multinode-sglang-leader"),
        pytest.param("trtllm", "", "wkr", ("readinessProbe",), id="7-multinode-trtllm-worker"),
        pytest.param("trtllm", "", "ldr", ALL, id="7-multinode-trtllm-leader"),
        pytest.param("other", "", "wkr", ALL, id="7-multinode-noop-worker"),
        pytest.param("other", "", "ldr", ALL, id="7-multinode-noop-leader"),
    ],
)
def test_probes_of_multinode_roles(profile: str, engine: str, flags: str, role: str, kept: tuple[str, ...]) -> None:
    written = worker(engine, flags, multinode={"nodeCount": 2}, resources={"limits": {"gpu": "8"}})
    found = main(rendered(graph(It=written), profile), f"it-{role}")
    assert tuple(name for name in ALL if name in found) == kept


@BOTH
def test_7_multinode_trtllm_workers_are_ready_when_ssh_is(profile: str) -> None:
    written = worker("trtllm", multinode={"nodeCount": 2}, readinessProbe=OWN)
    assert main(rendered(graph(It=written), profile), "it-wkr")["readinessProbe"] == SSH


@BOTH
@pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm"], ids="7-multinode-{}-main".format)
def test_a_lone_pod_of_several_nodes_keeps_its_probes(profile: str, engine: str) -> None:
    """Only a component deployment of its own comes to that: nothing here could start several nodes."""
    spec = {**worker(engine, multinode={"nodeCount": 2}), "dynamoNamespace": "x"}
    (found,) = the(rendered(component(spec), profile, facts=NOTHING), "Deployment")["spec"]["template"]["spec"][
        "containers"
    ]
    assert set(ALL) <= set(found)

"""A real API server for tests, alone or with the controllers and simulated GPU nodes that make it a cluster.

Runs as the user's own processes on loopback ports. Installs the definitions it is given; knows nothing of our kinds.
"""

from __future__ import annotations

import base64
import contextlib
import json
import secrets
import ssl
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import attrs

from tests.cluster import processes
from tests.cluster.binaries import program
from tests.cluster.client import YAML, Access, Client, Json, RefusedError
from tests.cluster.processes import BenchError, Programs

API_SERVER_PROGRAMS = ("etcd", "kube-apiserver")
CLUSTER_PROGRAMS = (*API_SERVER_PROGRAMS, "kube-controller-manager", "kube-scheduler", "kwok")

NODES, GPUS_PER_NODE = 4, 8

START_LIMIT = 60.0
DEFINITIONS_LIMIT = 60.0
NODES_LIMIT = 60.0
"""Seconds for an API server to become ready, for definitions to be served, and for nodes to become ready."""

ATTEMPTS = 3
"""Starts until a port that someone else took in the last moment is a failure."""

ALREADY_EXISTS = 409
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@attrs.frozen(eq=False)
class Bench:
    """A running API server: a *client* for it, a *kubeconfig* for other programs, its *access*, and what runs.

    *storage* is where its etcd answers.
    """

    programs: Programs
    client: Client
    kubeconfig: Path
    access: Access
    storage: str

    def ensure_namespaces(self, names: Iterable[str]) -> None:
        """Create the namespaces that are not there yet; without its namespace no object passes even a dry run."""
        for name in names:
            try:
                self.client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
            except RefusedError as refusal:
                if refusal.answer.status != ALREADY_EXISTS:
                    raise


@contextlib.contextmanager
def api_server(logs: Path, definitions: Iterable[Json | str] = (), options: Sequence[str] = ()) -> Iterator[Bench]:
    """Run etcd and an API server that serves the kinds of *definitions*, given as mappings or as YAML.

    *options* are added to the server's command line.
    """
    bench = _started(logs, options)
    try:
        _install(bench.client, definitions)
        yield bench
    finally:
        bench.client.close()
        bench.programs.end()


@contextlib.contextmanager
def cluster(logs: Path, definitions: Iterable[Json | str] = (), options: Sequence[str] = ()) -> Iterator[Bench]:
    """Run an API server, as above, with controller manager, scheduler and ready nodes whose pods are simulated."""
    with api_server(logs, definitions, options) as bench:
        _start_controllers(bench)
        nodes = [gpu_node(f"gpu-node-{index}") for index in range(NODES)]
        for node in nodes:
            bench.client.create(node)
        processes.wait_until(lambda: _are_ready(bench.client), seconds=NODES_LIMIT, what="ready nodes")
        yield bench


def gpu_node(name: str, gpus: int = GPUS_PER_NODE) -> Json:
    """Return a node with room for 110 pods and *gpus* GPUs."""
    room = {"cpu": "128", "memory": "1Ti", "ephemeral-storage": "1Ti", "pods": "110", "nvidia.com/gpu": str(gpus)}
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"capacity": room, "allocatable": room},
    }


def _started(logs: Path, options: Sequence[str]) -> Bench:
    for attempt in range(1, ATTEMPTS + 1):
        programs = Programs(logs)
        try:
            return _start_api_server(programs, options)
        except BaseException as error:
            programs.end()
            if attempt == ATTEMPTS or "address already in use" not in str(error):
                raise
    raise AssertionError("the last attempt returns or raises")


def _start_api_server(programs: Programs, options: Sequence[str]) -> Bench:
    client_port, peer_port, port = processes.free_ports(3)
    storage, peers = f"http://127.0.0.1:{client_port}", f"http://127.0.0.1:{peer_port}"
    programs.start("etcd", _etcd_command(programs.data / "etcd", storage, peers))
    token = secrets.token_hex(16)
    programs.start("kube-apiserver", [*_api_server_command(programs.data, storage, port, token), *options])
    access = Access(port, programs.data / "apiserver.crt", token)
    # A server that waits for etcd says little; etcd's own log has the reason.
    programs.wait_until("etcd", lambda: processes.is_open(client_port), seconds=START_LIMIT, what="open port")
    programs.wait_until("kube-apiserver", lambda: is_ready(access), seconds=START_LIMIT, what="ready API server")
    return Bench(programs, Client(access), _kubeconfig(programs.data, access), access, storage)


def _etcd_command(data: Path, storage: str, peers: str) -> list[str]:
    return [
        str(program("etcd")),
        f"--data-dir={data}",
        f"--listen-client-urls={storage}",
        f"--advertise-client-urls={storage}",
        f"--listen-peer-urls={peers}",
        f"--initial-advertise-peer-urls={peers}",
        f"--initial-cluster=default={peers}",
        "--unsafe-no-fsync",  # the data never outlive the processes
        "--log-level=warn",
    ]


def _api_server_command(data: Path, storage: str, port: int, token: str) -> list[str]:
    key, tokens = data / "service-accounts.key", data / "tokens.csv"
    key.write_text(_new_private_key())
    tokens.write_text(f'{token},tests,tests,"system:masters"\n')
    return [
        str(program("kube-apiserver")),
        f"--etcd-servers={storage}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",  # otherwise a machine without a default route has none to advertise
        "--endpoint-reconciler-type=none",  # nobody reaches this server through a Service
        f"--secure-port={port}",
        f"--cert-dir={data}",
        f"--token-auth-file={tokens}",
        "--authorization-mode=RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}",
        "--service-cluster-ip-range=10.0.0.0/16",
        "--allow-privileged=true",
        "--disable-admission-plugins=ServiceAccount",
        "--max-requests-inflight=2000",
        "--max-mutating-requests-inflight=1000",
    ]


def _new_private_key() -> str:
    """Return a new key on the curve P-256 as PEM; RFC 5915 lets it go without the public half."""
    # 31 random bytes are always below the order of the curve.
    number = b"\x00" + secrets.token_bytes(31)
    encoded = b"\x30\x31\x02\x01\x01\x04\x20" + number + bytes.fromhex("a00a06082a8648ce3d030107")
    text = base64.b64encode(encoded).decode()
    return f"-----BEGIN EC PRIVATE KEY-----\n{text[:64]}\n{text[64:]}\n-----END EC PRIVATE KEY-----\n"


def _start_controllers(bench: Bench) -> None:
    programs, login = bench.programs, f"--kubeconfig={bench.kubeconfig}"
    no_port = "--secure-port=0"  # nobody asks these for metrics, and two benches must not want the same port
    programs.start(
        "kube-controller-manager",
        [
            str(program("kube-controller-manager")),
            login,
            no_port,
            f"--service-account-private-key-file={programs.data / 'service-accounts.key'}",
            "--leader-elect=false",
            # A busy machine may keep kwok from renewing leases in time; that must not make pods unready.
            "--node-monitor-grace-period=1h",
            # With its usual 20 requests per second it is minutes behind after a test with many objects.
            "--kube-api-qps=200",
            "--kube-api-burst=400",
        ],
    )
    programs.start("kube-scheduler", [str(program("kube-scheduler")), login, no_port, "--leader-elect=false"])
    (port,) = processes.free_ports(1)
    programs.start(
        "kwok",
        [
            str(program("kwok")),
            login,
            "--manage-all-nodes=true",
            "--node-ip=127.0.0.1",
            "--cidr=10.8.0.0/16",
            "--node-lease-duration-seconds=40",
            f"--server-address=127.0.0.1:{port}",
        ],
    )


def _kubeconfig(data: Path, access: Access) -> Path:
    server = {"server": f"https://127.0.0.1:{access.port}", "certificate-authority": str(access.authority)}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "bench",
        "clusters": [{"name": "bench", "cluster": server}],
        "users": [{"name": "tests", "user": {"token": access.token}}],
        "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": "tests"}}],
    }
    path = data / "kubeconfig"
    path.write_text(json.dumps(content))
    return path


def _install(client: Client, definitions: Iterable[Json | str]) -> None:
    for definition in definitions:
        answer = client.send("POST", DEFINITIONS, definition, YAML)
        if answer.is_refusal:
            raise BenchError(f"a definition is refused: {answer.message}")
    processes.wait_until(lambda: _are_served(client), seconds=DEFINITIONS_LIMIT, what="served definitions")


def _are_served(client: Client) -> bool:
    listed = client.send("GET", DEFINITIONS).body["items"]
    if not all(_has(definition, "Established") for definition in listed):
        return False
    # An established kind is still refused while its storage starts, and that starts with the first question.
    answers = [client.send("GET", path) for definition in listed for path in _collections(definition)]
    return not any(answer.is_refusal for answer in answers)


def _collections(definition: Json) -> Iterator[str]:
    spec = definition["spec"]
    for version in spec["versions"]:
        if version["served"]:
            yield f"/apis/{spec['group']}/{version['name']}/{spec['names']['plural']}?limit=1"


def _are_ready(client: Client) -> bool:
    # A node without this taint is one that the scheduler may use.
    listed = client.get("v1", "Node")["items"]
    return all(_has(node, "Ready") and not node["spec"].get("taints") for node in listed)


def _has(content: Json, condition: str) -> bool:
    listed = content.get("status", {}).get("conditions") or ()
    return any(each["type"] == condition and each["status"] == "True" for each in listed)


def is_ready(access: Access) -> bool:
    """Whether the server that *access* leads to is there and ready."""
    if not access.authority.is_file():
        return False
    client = None
    try:
        client = Client(access)
        return not client.send("GET", "/readyz").is_refusal
    except (OSError, ssl.SSLError):
        return False
    finally:
        if client is not None:
            client.close()

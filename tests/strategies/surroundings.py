"""What surrounds a resource while it is rendered: settings, facts and observed state, as plain mappings that fit it."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from tests.strategies import volumes

Json = dict[str, Any]

GROVE = "grove.io"
LEADER_WORKER_SET = ("leaderworkerset.x-k8s.io", "scheduling.volcano.sh")
KAI = "scheduling.run.ai"
QUEUES = ["dynamo", "gold"]


@cache
@st.composite
def settings(draw: st.DrawFn, *, profile: str = "0.9") -> Json:
    """Return operator settings for *profile*; in cluster-wide mode the roles that graphs may need are set."""
    content: Json = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "discovery_backend": st.sampled_from(("kubernetes", "etcd")),
                "nats_address": st.just("nats://nats:4222"),
                "etcd_address": st.just("etcd:2379"),
                "model_express_url": st.just("http://express"),
                "prometheus_endpoint": st.just("http://prometheus"),
                "ingress_class_name": st.just("nginx"),
                "ingress_tls_secret": st.just("tls-cert"),
                "ingress_host_suffix": st.just("example.test"),
                "virtual_service_gateway": st.just("istio-system/gateway"),
                "grove_termination_delay": st.sampled_from((0, 1, 10**9, 9 * 10**11, "1h30m")),
                "mpi_ssh_secret_name": st.just("mpi-keys"),
                "debugger_image": st.sampled_from(("debug:1", "")),
            },
        )
    )
    if draw(st.integers(0, 3)) == 0:
        content["restricted_namespace"] = "team-a"
    else:
        content |= {"planner_cluster_role": "planner", "epp_cluster_role": "epp"}
    return {**content, "profile": profile}


@cache
def namespace_facts(services: tuple[str, ...], graph: str) -> st.SearchStrategy[Json]:
    """Return what one namespace holds, the claims and secrets that a graph may ask for included."""
    hosts = st.sampled_from(("nvcr.io", "registry.example.com:5000", "https://index.docker.io/v1/", "docker.io"))
    secrets = st.lists(st.sampled_from(("reg-a", "reg-b")), min_size=1, max_size=2, unique=True)
    stamps = st.dictionaries(st.sampled_from(services or ("x",)), st.just("r0"), max_size=2)
    ready = st.dictionaries(st.sampled_from(services or ("x",)), st.booleans(), max_size=2)
    return st.fixed_dictionaries(
        {},
        optional={
            "pull_secrets": st.dictionaries(hosts, secrets, max_size=3),
            "component_service_account": st.just("labelled-account"),
            "restart_stamps": st.fixed_dictionaries({graph: stamps}),
            "service_progress": st.fixed_dictionaries({graph: ready}),
            "pvcs": st.just(list(volumes.CLAIMS)),
            "mpi_secret": st.booleans(),
        },
    )


@st.composite
def facts(draw: st.DrawFn, resource: Json) -> Json:
    """Return facts of a cluster that can run *resource*: an orchestrator for several nodes, queues, claims, roles."""
    meta = resource["metadata"]
    services = tuple(resource["spec"].get("services", ()))
    groups = draw(st.sets(st.sampled_from((GROVE, KAI, "apps", "inference.networking.k8s.io"))))
    avoids_grove = (meta.get("annotations") or {}).get("nvidia.com/enable-grove", "").lower() == "false"
    spans_nodes = any("multinode" in service for service in resource["spec"].get("services", {}).values())
    if draw(st.booleans()) or (spans_nodes and (GROVE not in groups or avoids_grove)):
        groups |= set(LEADER_WORKER_SET)
    here = draw(namespace_facts(services, meta["name"]))
    content: Json = {
        "api_groups": sorted(groups),
        "namespaces": {
            meta.get("namespace", "default"): here,
            "elsewhere": draw(namespace_facts(services, meta["name"])),
        },
    }
    if KAI in groups:
        content["kai_queues"] = QUEUES
    if draw(st.booleans()):
        content["cluster_roles"] = ["epp", "planner", "other"]
    if draw(st.booleans()):
        content["mpi_source"] = {"type": "Opaque", "data": {"private.key": "YQ==", "private.key.pub": "Yg=="}}
    if draw(st.booleans()):
        content["nodes"] = [{"count": 2, "gpus": 8}]
    return content


@st.composite
def observed(draw: st.DrawFn, resource: Json) -> Json:
    """Return live state of *resource*: restarts under way, replicas that an adapter holds, live cliques in order."""
    services = sorted(resource["spec"].get("services", {}))
    some = st.lists(st.sampled_from(services or ["x"]), max_size=2, unique=True)
    holdable = [name for name in services if resource["spec"]["services"][name].get("componentType") != "epp"]
    status = st.fixed_dictionaries(
        {},
        optional={
            "observed_id": st.sampled_from(("", "r0", "r1")),
            "phase": st.sampled_from(("", "Pending", "Restarting", "Completed")),
            "in_progress": some,
        },
    )
    content: Json = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "restart": st.none() | status,
                "restarted": some,
                "restart_stamps": st.dictionaries(st.sampled_from(services or ["x"]), st.just("r0"), max_size=2),
                "clique_order": some.map(lambda found: [name.lower() for name in found]),
            },
        )
    )
    if len(holdable) > 0 and draw(st.booleans()):
        content["replicas"] = draw(st.dictionaries(st.sampled_from(holdable), st.integers(0, 3), max_size=2))
    return content

"""Answers to the questions of a render about the cluster, from stores where they know, else from the cluster.

Asks for nothing that the query does not name. A fact that cannot be had is an error of the cluster, never a guess.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any

from dynamo_controller.ports import Cluster, Json, Kind, Object, Selection
from dynamo_controller.projection import POD_LABEL
from dynamo_controller.shell import Shell
from dynamo_render import ClusterFacts, FactQuery, NamespaceFacts, NodeShape
from dynamo_render.kube import quantity, registries
from dynamo_render.profiles import PROFILES

SECRET, ACCOUNT, CLAIM = Kind("v1", "Secret"), Kind("v1", "ServiceAccount"), Kind("v1", "PersistentVolumeClaim")
CLUSTER_ROLE, NODE = Kind("rbac.authorization.k8s.io/v1", "ClusterRole"), Kind("v1", "Node")
QUEUE = Kind("scheduling.run.ai/v2", "Queue")
SLICE = Kind("discovery.k8s.io/v1", "EndpointSlice")

PAGE = 500
_GPU = "nvidia.com/gpu"


async def facts(query: FactQuery, shell: Shell) -> ClusterFacts:
    """Return the facts that *query* asks for. Raises ClusterError."""
    has_queues = query.kai_queues and QUEUE.group in shell.groups.names
    namespaces = {name: await _namespace(name, query, shell) for name in sorted(_namespaces(query))}
    return ClusterFacts(
        api_groups=shell.groups.names,
        kai_queues=frozenset(await _names(shell.cluster, QUEUE)) if has_queues else None,
        cluster_roles=await _roles(query, shell),
        nodes=_shapes(await _all(shell.cluster, NODE)) if query.nodes else (),
        mpi_source=await _mpi_source(query, namespaces, shell),
        namespaces=namespaces,
    )


def _namespaces(query: FactQuery) -> set[str]:
    claimed = {namespace for namespace, _name in query.claims}
    return claimed | query.pull_secret_namespaces | query.service_account_namespaces | query.mpi_secret_namespaces


async def _namespace(name: str, query: FactQuery, shell: Shell) -> NamespaceFacts:
    claims = {claim for namespace, claim in query.claims if namespace == name}
    return NamespaceFacts(
        pull_secrets=pull_secrets(shell, name) if name in query.pull_secret_namespaces else {},
        component_service_account=_account(shell, name) if name in query.service_account_namespaces else None,
        pvcs=frozenset([claim for claim in sorted(claims) if await _exists(shell, CLAIM, name, claim)])
        if claims
        else None,
        mpi_secret=await _exists(shell, SECRET, name, shell.settings.mpi_ssh_secret_name)
        if name in query.mpi_secret_namespaces
        else None,
    )


def pull_secrets(shell: Shell, namespace: str) -> Mapping[str, tuple[str, ...]]:
    """Return which pull secrets of *namespace* serve a registry host."""
    rule: registries.Rule = "exact"
    if PROFILES[shell.settings.profile].image_references_follow_grammar:
        rule = "reference"
    found: dict[str, tuple[str, ...]] = {}
    for secret in shell.stores.known(SECRET, namespace):
        for host, names in _hosts(secret, rule, shell).items():
            found[host] = (*found.get(host, ()), *names)
    return found


def _hosts(secret: Object, rule: registries.Rule, shell: Shell) -> Mapping[str, tuple[str, ...]]:
    """Return the hosts that one secret serves; a broken one serves none, and the others are not its business."""
    try:
        index, skipped = registries.pull_secret_index([secret], rule)
    except registries.InvalidPullSecret as error:
        shell.log.write("warning", str(error))
        return {}
    for broken in skipped:
        shell.log.write("warning", f"pull secret {broken.namespace}/{broken.name} is not used: {broken.reason}")
    return index.get(secret["metadata"]["namespace"], {})


def _account(shell: Shell, namespace: str) -> str | None:
    offered = shell.stores.known(ACCOUNT, namespace, belonging=POD_LABEL)
    return min((account["metadata"]["name"] for account in offered), default=None)


async def _roles(query: FactQuery, shell: Shell) -> frozenset[str] | None:
    if not query.cluster_roles:
        return None
    return frozenset([name for name in sorted(query.cluster_roles) if await _exists(shell, CLUSTER_ROLE, "", name)])


async def _mpi_source(
    query: FactQuery, namespaces: Mapping[str, NamespaceFacts], shell: Shell
) -> Mapping[str, Any] | None:
    """Return what a namespace's copy of the SSH key is made of; a new key where one is needed and there is none."""
    settings = shell.settings
    lacking = [name for name in sorted(query.mpi_secret_namespaces) if not namespaces[name].mpi_secret]
    if lacking and settings.mpi_ssh_secret_namespace:
        found = await shell.cluster.get(SECRET, settings.mpi_ssh_secret_namespace, settings.mpi_ssh_secret_name)
        if found is not None:
            return {key: found[key] for key in ("type", "data") if key in found}
    if shell.keys is None or not query.mpi_key_namespaces & set(lacking):
        return None
    files = await shell.keys.ssh_key()
    return {"type": "Opaque", "data": {name: base64.b64encode(text).decode() for name, text in files.items()}}


async def _exists(shell: Shell, kind: Kind, namespace: str, name: str) -> bool:
    if shell.stores.get(kind, namespace, name) is not None:
        return True
    return await shell.cluster.get(kind, namespace, name) is not None


async def _names(cluster: Cluster, kind: Kind) -> list[str]:
    return [found["metadata"]["name"] for found in await _all(cluster, kind)]


async def _all(cluster: Cluster, kind: Kind) -> list[Json]:
    found: list[Json] = []
    next_page = ""
    while True:
        page = await cluster.page(Selection(kind), limit=PAGE, next_page=next_page)
        found.extend(page.items)
        next_page = page.next_page
        if not next_page:
            return found


def _shapes(nodes: Iterable[Object]) -> tuple[NodeShape, ...]:
    """Return the shapes of *nodes* that have GPUs or not, alike ones counted together."""
    counts: dict[NodeShape, int] = {}
    for node in nodes:
        shape = _shape(node)
        counts[shape] = counts.get(shape, 0) + 1
    shapes = (
        NodeShape(count, shape.gpus, shape.gpu_product, shape.gpu_memory_mib, shape.cpu, shape.memory)
        for shape, count in counts.items()
    )
    return tuple(sorted(shapes, key=repr))


def _shape(node: Object) -> NodeShape:
    labels = node["metadata"].get("labels") or {}
    room = (node.get("status") or {}).get("allocatable") or {}
    memory = labels.get("nvidia.com/gpu.memory", "0")
    return NodeShape(
        gpus=int(quantity.as_number(str(room.get(_GPU, "0")))),
        gpu_product=labels.get("nvidia.com/gpu.product", ""),
        gpu_memory_mib=int(memory) if memory.isdigit() else 0,
        cpu=str(room.get("cpu", "")),
        memory=str(room.get("memory", "")),
    )

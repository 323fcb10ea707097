"""What rendering needs to know about a cluster, as frozen snapshots, and the question that asks for it.

Specification: operator-config.md section 17.2. Nothing here reads a cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from dynamo_render.errors import InvalidFacts, Problem
from dynamo_render.values import Value, frozen


@frozen
class NodeShape(Value):
    """Nodes of one kind: how many, and what each of them offers."""

    count: int = 1
    gpus: int = 0
    gpu_product: str = ""
    gpu_memory_mib: int = 0
    cpu: str = ""
    memory: str = ""


@frozen
class NamespaceFacts(Value):
    """What one namespace holds; None stands for unknown where absence would be a statement."""

    pull_secrets: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    component_service_account: str | None = None
    restart_stamps: Mapping[str, Mapping[str, str]] = attrs.field(factory=dict)
    service_progress: Mapping[str, Mapping[str, bool]] = attrs.field(factory=dict)
    profiling_output: Mapping[str, Mapping[str, str]] = attrs.field(factory=dict)
    config_map_keys: Mapping[str, frozenset[str]] | None = None
    pvcs: frozenset[str] | None = None
    mpi_secret: bool | None = None
    existing_adapters: Mapping[str, frozenset[str]] = attrs.field(factory=dict)
    lws_instances: Mapping[str, frozenset[int]] = attrs.field(factory=dict)
    endpoint_slices: tuple[Mapping[str, Any], ...] = ()


@frozen
class ClusterFacts(Value):
    """A snapshot of a cluster; the default is a bare cluster without add-ons."""

    api_groups: frozenset[str] = frozenset()
    kai_queues: frozenset[str] | None = None
    cluster_roles: frozenset[str] | None = None
    nodes: tuple[NodeShape, ...] = ()
    gpus_per_node: int | None = None
    mpi_source: Mapping[str, Any] | None = None
    namespaces: Mapping[str, NamespaceFacts] = attrs.field(factory=dict)

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> ClusterFacts:
        """Return the facts that *mapping* holds; raise InvalidFacts with every unknown key and wrong type."""
        from dynamo_render import records  # noqa: PLC0415 - cattrs is loaded only when a mapping is structured

        facts = records.structured(cls, mapping, InvalidFacts)
        problems = tuple(_contradictions(facts))
        if problems:
            raise InvalidFacts(problems)
        return facts

    @property
    def has_grove(self) -> bool:
        """Whether Grove is installed."""
        return "grove.io" in self.api_groups

    @property
    def has_leader_worker_set(self) -> bool:
        """Whether LeaderWorkerSet and the Volcano scheduler that its pods need are both installed."""
        return "leaderworkerset.x-k8s.io" in self.api_groups and "scheduling.volcano.sh" in self.api_groups

    @property
    def has_kai(self) -> bool:
        """Whether the kai-scheduler is installed."""
        return "scheduling.run.ai" in self.api_groups

    @property
    def has_inference_pool(self) -> bool:
        """Whether the Gateway API Inference Extension is installed."""
        return "inference.networking.k8s.io" in self.api_groups

    def view(self, namespace: str) -> NamespaceFacts:
        """Return what is known of *namespace*; an unknown namespace counts as empty."""
        return self.namespaces.get(namespace) or NamespaceFacts()


def _contradictions(facts: ClusterFacts) -> Iterable[Problem]:
    """Yield what the facts say that cannot be true together."""
    if facts.kai_queues and not facts.has_kai:
        yield Problem(
            "facts/contradiction",
            ("kai_queues",),
            "names queues, but api_groups does not hold scheduling.run.ai",
            "add scheduling.run.ai to api_groups or leave kai_queues out",
        )
    largest = max((shape.gpus for shape in facts.nodes), default=None)
    if facts.gpus_per_node is not None and largest is not None and facts.gpus_per_node != largest:
        message = f"is {facts.gpus_per_node}, but the largest node in nodes has {largest} GPUs"
        yield Problem("facts/contradiction", ("gpus_per_node",), message)
    for index, shape in enumerate(facts.nodes):
        for name in ("count", "gpus", "gpu_memory_mib"):
            amount = getattr(shape, name)
            if amount < 0:
                yield Problem("facts/range", ("nodes", index, name), f"must be zero or more, got {amount}")
    for name, record in facts.namespaces.items():
        if record.mpi_secret is False and facts.mpi_source is None:
            continue
        for host, secrets in record.pull_secrets.items():
            if not host or not secrets:
                yield Problem(
                    "facts/contradiction",
                    ("namespaces", name, "pull_secrets", host),
                    "must name a registry host and at least one secret",
                )


@frozen
class FactQuery(Value):
    """Which facts a render asks for; the answer is a ClusterFacts with at least these.

    In *mpi_key_namespaces* pods log in with the MPI Secret; in the others of *mpi_secret_namespaces* it is only copied.
    """

    api_groups: frozenset[str] = frozenset()
    kai_queues: bool = False
    cluster_roles: frozenset[str] = frozenset()
    pull_secret_namespaces: frozenset[str] = frozenset()
    service_account_namespaces: frozenset[str] = frozenset()
    claims: frozenset[tuple[str, str]] = frozenset()
    mpi_secret_namespaces: frozenset[str] = frozenset()
    mpi_key_namespaces: frozenset[str] = frozenset()
    restart_stamps: frozenset[tuple[str, str]] = frozenset()
    service_progress: frozenset[tuple[str, str]] = frozenset()
    nodes: bool = False

    def joined(self, other: FactQuery) -> FactQuery:
        """Return a query that asks for everything that either of both asks for."""
        mine, theirs = attrs.asdict(self, recurse=False), attrs.asdict(other, recurse=False)
        return FactQuery(**{name: mine[name] | theirs[name] for name in mine})

    def __str__(self) -> str:
        """Return the non-empty parts, sorted, as messages show them."""
        parts = []
        for name, asked in attrs.asdict(self, recurse=False).items():
            if asked is True:
                parts.append(name)
            elif asked:
                parts.append(f"{name} ({', '.join(sorted(str(item) for item in asked))})")
        return "; ".join(parts)

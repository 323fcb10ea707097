"""Whole graphs with every field, and component deployments of a user's own."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from tests.strategies import components, env, names, volumes

Json = dict[str, Any]

API_VERSION = "nvidia.com/v1alpha1"
GRAPH_STEERING: dict[str, tuple[str, ...]] = {
    "nvidia.com/enable-grove": ("false", "False", "true"),
    "nvidia.com/enable-metrics": ("false", "true"),
    "nvidia.com/dynamo-discovery-backend": ("kubernetes", "etcd"),
    "nvidia.com/kai-scheduler-queue": ("gold", " gold ", ""),
}
"""Annotations of a graph that change what is rendered for it, with values to choose from."""


@cache
@st.composite
def metadata(draw: st.DrawFn) -> Json:
    """Return the metadata of a graph, some of its annotations steering the operator."""
    steering = st.fixed_dictionaries(
        {}, optional={key: st.sampled_from(values) for key, values in GRAPH_STEERING.items()}
    )
    content: Json = {"name": draw(names.graph_names())}
    if draw(st.booleans()):
        content["namespace"] = draw(names.namespaces())
    if draw(st.booleans()):
        content["annotations"] = draw(names.user_annotations()) | draw(steering)
    if draw(st.booleans()):
        content["labels"] = draw(names.user_labels())
    return content


@cache
@st.composite
def restarts(draw: st.DrawFn, services: tuple[str, ...]) -> Json:
    """Return a wish to restart, in any order of the services."""
    content: Json = {"id": draw(st.sampled_from(("r1", "2026-01-01")))}
    order = list(draw(st.permutations(services)))
    strategies: tuple[Json, ...] = ({}, {"type": "Parallel"}, {"order": order}, {"type": "Sequential", "order": order})
    if draw(st.booleans()):
        content["strategy"] = draw(st.sampled_from(strategies))
    return content


@cache
def statuses(services: tuple[str, ...]) -> st.SearchStrategy[Json]:
    """Return the status that a live graph carries: how far its restart is."""
    restart = st.fixed_dictionaries(
        {},
        optional={
            "observedID": st.sampled_from(("r1", "2026-01-01")),
            "phase": st.sampled_from(("Pending", "Restarting", "Completed", "Failed")),
            "inProgress": st.lists(st.sampled_from(services), max_size=2),
        },
    )
    return st.fixed_dictionaries({}, optional={"restart": restart})


@cache
def service_sets(*, related: bool = False) -> st.SearchStrategy[list[str]]:
    """Return names of the services of a graph; no two are the same in lower case.

    With *related* their computed names may meet all the same.
    """
    name = names.related_service_names() if related else names.service_names()
    return st.lists(name, min_size=1, max_size=4, unique_by=str.lower)


@cache
@st.composite
def graphs(draw: st.DrawFn, *, multinode: bool = True, wide: bool = False, related: bool = False) -> Json:
    """Return a DynamoGraphDeployment that profile ``0.9`` accepts where its add-ons are installed.

    Without *multinode* every service stays on one node. With *wide* it may be what only the shipped profile accepts,
    with *related* the computed names of its services may meet.
    """
    services = tuple(draw(service_sets(related=related)))
    engine = draw(components.engines())
    spec: Json = {"services": {name: draw(_services(engine, multinode=multinode, wide=wide)) for name in services}}
    if draw(st.booleans()):
        spec["envs"] = draw(env.env_lists(distinct=not wide))
    if draw(st.booleans()):
        spec["pvcs"] = draw(volumes.claims())
    if draw(st.booleans()):
        spec["restart"] = draw(restarts(services))
    if engine is not None and draw(st.booleans()):
        spec["backendFramework"] = engine
    if draw(st.integers(0, 4)) == 0:
        pickers = frozenset(name for name in services if spec["services"][name].get("componentType") == "epp")
        spec["envs"] = [*spec.get("envs", ()), draw(env.deployment_configs(services, pickers))]
    graph = {"apiVersion": API_VERSION, "kind": "DynamoGraphDeployment", "metadata": draw(metadata()), "spec": spec}
    return {**graph, "status": draw(statuses(services))} if draw(st.booleans()) else graph


@cache
def _services(engine: str | None, *, multinode: bool, wide: bool) -> st.SearchStrategy[Json]:
    every = components.components(engine=engine, multinode=multinode, wide=wide)
    workers = st.sampled_from(components.WORKERS).flatmap(
        lambda kind: components.components(kind=kind, engine=engine, multinode=multinode, wide=wide)
    )
    return every | workers


@cache
@st.composite
def component_deployments(draw: st.DrawFn, *, wide: bool = False) -> Json:
    """Return a DynamoComponentDeployment of a user's own, for itself or as part of a graph."""
    engine = draw(components.engines())
    spec = draw(components.components(engine=engine, wide=wide))
    if engine is not None and draw(st.booleans()):
        spec["backendFramework"] = engine
    meta: Json = {"name": draw(names.dns_labels(12)), "namespace": draw(names.namespaces())}
    is_part = draw(st.booleans())
    if is_part:
        graph = draw(names.graph_names())
        owner = {"apiVersion": API_VERSION, "kind": "DynamoGraphDeployment", "name": graph, "uid": "1"}
        meta["ownerReferences"] = [owner]
        spec["dynamoNamespace"] = "dynamo" if spec.get("globalDynamoNamespace") else f"{meta['namespace']}-{graph}"
    elif wide or draw(st.booleans()):
        spec["dynamoNamespace"] = draw(names.dns_labels())
    return {"apiVersion": API_VERSION, "kind": "DynamoComponentDeployment", "metadata": meta, "spec": spec}

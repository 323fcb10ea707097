"""Environment variables: names with where their values come from, lowest precedence first. rendering.md section 8."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dynamo_render.kube import structural
from dynamo_render.plans.pod import PodPlan
from dynamo_render.scope import ComponentScope

Json = dict[str, Any]

FIELD_ENV: Mapping[str, str] = {
    "POD_NAME": "metadata.name",
    "POD_NAMESPACE": "metadata.namespace",
    "POD_UID": "metadata.uid",
}


def planned(scope: ComponentScope, of_type: Mapping[str, str]) -> dict[str, str]:
    """Return the plain values that the operator sets: addresses, the component's identity, those of its type."""
    settings, graph = scope.graph.settings, scope.graph
    addresses = {
        "NATS_SERVER": settings.nats_address,
        "ETCD_ENDPOINTS": settings.etcd_address,
        "MODEL_EXPRESS_URL": settings.model_express_url,
        "PROMETHEUS_ENDPOINT": settings.prometheus_endpoint,
    }
    values = {name: address for name, address in addresses.items() if address}
    values["DYN_NAMESPACE"] = scope.dynamo_namespace
    values["DYN_COMPONENT"] = scope.component_type
    values["DYN_PARENT_DGD_K8S_NAME"] = graph.name
    values["DYN_PARENT_DGD_K8S_NAMESPACE"] = graph.namespace
    if scope.discovery != "etcd":
        values["DYN_DISCOVERY_BACKEND"] = "kubernetes"
    values.update(of_type)
    return values


def merged(plan: PodPlan) -> list[Json]:
    """Return one entry per name, sorted by name: operator values, then mainContainer's, then the component's own.

    An empty operator value is left out of its entry, as the API server reads it the same.
    """
    entries: dict[str, Json] = {
        name: {"name": name, "value": value} if value else {"name": name} for name, value in plan.env.items()
    }
    for name, path in plan.field_env.items():
        entries[name] = {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
    for entry in plan.main_container.content.get("env", ()):
        entries[entry["name"]] = entry
    _lay_over(entries, plan.component_env)  # copies: services share the variables of their graph
    return [entries[name] for name in sorted(entries)]


def _lay_over(entries: dict[str, Json], more: Iterable[Json]) -> None:
    for entry in more:
        entries[entry["name"]] = structural.copied(entry)


def merged_lists(lower: Iterable[Json], upper: Iterable[Json]) -> list[Json]:
    """Return the entries of both lists, one per name, *upper* winning, sorted by name."""
    entries: dict[str, Json] = {}
    _lay_over(entries, lower)
    _lay_over(entries, upper)
    return [entries[name] for name in sorted(entries)]

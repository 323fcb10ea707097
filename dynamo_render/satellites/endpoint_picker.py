"""Configuration and InferencePool of a graph's endpoint picker. Specification: rendering.md sections 23.1 and 23.2."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dynamo_render.components.epp import CONFIG_KEY
from dynamo_render.kube import text
from dynamo_render.kube.manifest import Manifest, framed
from dynamo_render.satellites.contract import Graph, GraphSatellite
from dynamo_render.scope import ComponentScope
from dynamo_render.values import Value, frozen

CONFIG_API_VERSION = "inference.networking.x-k8s.io/v1alpha1"
CONFIG_KIND = "EndpointPickerConfig"


@frozen(kw_only=True)
class ConfigPlan(Value):
    """The configuration text of the picker."""

    name: str
    namespace: str
    labels: Mapping[str, str]
    text: str


@frozen(kw_only=True)
class PoolPlan(Value):
    """The pool of frontends that the picker chooses from."""

    name: str
    namespace: str
    labels: Mapping[str, str]
    dynamo_namespace: str
    service: str


def _picker(graph: Graph) -> ComponentScope | None:
    """Return the graph's endpoint picker: the first by name if there are several."""
    return next((component for component in graph.components if component.component_type == "epp"), None)


def _labels(graph: Graph, picker: ComponentScope) -> dict[str, str]:
    return {
        "nvidia.com/dynamo-graph-deployment-name": graph.scope.name,
        "nvidia.com/dynamo-component": picker.service,
        "nvidia.com/dynamo-component-type": "epp",
    }


def _planned_config(graph: Graph) -> Iterable[ConfigPlan]:
    picker = _picker(graph)
    config = picker.spec.epp_config if picker else None
    if picker is None or config is None or config.config_map_ref is not None or config.config is None:
        return
    yield ConfigPlan(
        name=f"{graph.scope.name}-epp-config",
        namespace=graph.scope.namespace,
        labels=_labels(graph, picker),
        text=text.write_document(sorted_keys(completed(config.config))),
    )


def completed(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return *config* with what the picker's own type always writes: its kind, and nulls for what is not given."""
    result = {"plugins": None, "schedulingProfiles": None, **config}
    result |= {"apiVersion": CONFIG_API_VERSION, "kind": CONFIG_KIND}
    if result["plugins"] is not None:
        result["plugins"] = [{"name": "", "parameters": None, **plugin} for plugin in result["plugins"]]
    if result["schedulingProfiles"] is not None:
        result["schedulingProfiles"] = [
            {**profile, "plugins": [{"weight": None, **plugin} for plugin in profile["plugins"]]}
            for profile in result["schedulingProfiles"]
        ]
    if "saturationDetector" in result:
        result["saturationDetector"] = {"metricsStalenessThreshold": "0s", **result["saturationDetector"]}
    return result


def sorted_keys(value: Any) -> Any:
    """Return a copy of a JSON value with the keys of every mapping in byte order."""
    if isinstance(value, dict):
        return {key: sorted_keys(value[key]) for key in sorted(value)}
    return [sorted_keys(entry) for entry in value] if isinstance(value, list) else value


def _planned_pool(graph: Graph) -> Iterable[PoolPlan]:
    picker = _picker(graph)
    if picker is not None:
        yield PoolPlan(
            name=f"{graph.scope.name}-pool",
            namespace=graph.scope.namespace,
            labels=_labels(graph, picker),
            dynamo_namespace=picker.dynamo_namespace,
            service=picker.name,
        )


def _build_config(plan: ConfigPlan) -> tuple[Manifest, ...]:
    return (framed("v1", "ConfigMap", plan.name, plan.namespace, labels=plan.labels, data={CONFIG_KEY: plan.text}),)


def _build_pool(plan: PoolPlan) -> tuple[Manifest, ...]:
    selector = {
        "nvidia.com/dynamo-component-type": "frontend",
        "nvidia.com/dynamo-namespace": plan.dynamo_namespace,
    }
    spec = {
        "targetPorts": [{"number": 8000}],
        "selector": {"matchLabels": selector},
        "endpointPickerRef": {"kind": "Service", "name": plan.service, "port": {"number": 9002}},
    }
    group = "inference.networking.k8s.io/v1"
    return (framed(group, "InferencePool", plan.name, plan.namespace, labels=plan.labels, spec=spec),)


PICKER_CONFIG = GraphSatellite(planned=_planned_config, build=_build_config)
INFERENCE_POOL = GraphSatellite(planned=_planned_pool, build=_build_pool)

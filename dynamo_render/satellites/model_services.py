"""Headless Services that find every pod serving a base model. Specification: rendering.md section 21.4."""

from __future__ import annotations

from collections.abc import Iterable

from dynamo_render.kube import names
from dynamo_render.kube.manifest import Manifest, framed
from dynamo_render.satellites.contract import ComponentSatellite
from dynamo_render.scope import ComponentScope
from dynamo_render.values import Value, frozen

MODEL_HASH_LABEL = "nvidia.com/dynamo-base-model-hash"
MODEL_ANNOTATION = "nvidia.com/dynamo-base-model"


@frozen(kw_only=True)
class ModelServicePlan(Value):
    """The Service of one base model; shared by all graphs of a namespace that serve it."""

    namespace: str
    model: str
    model_hash: str


def _planned(scope: ComponentScope) -> Iterable[ModelServicePlan]:
    model = scope.spec.model_ref
    if model is not None and model.name:
        yield ModelServicePlan(
            namespace=scope.graph.namespace, model=model.name, model_hash=names.model_hash(model.name)
        )


def _build(plan: ModelServicePlan) -> tuple[Manifest, ...]:
    manifest = framed(
        "v1",
        "Service",
        f"dynamo-model-{plan.model_hash}",
        plan.namespace,
        labels={MODEL_HASH_LABEL: plan.model_hash, "nvidia.com/managed-by": "dynamo-operator"},
        annotations={MODEL_ANNOTATION: plan.model},
        spec={
            "clusterIP": "None",
            "selector": {MODEL_HASH_LABEL: plan.model_hash},
            "ports": [{"name": "system", "port": 9090, "targetPort": 9090, "protocol": "TCP"}],
        },
    )
    return (manifest,)


MODEL_SERVICES = ComponentSatellite(planned=_planned, build=_build)

"""What stories of models are made of: models, the slices of their pods, and what a model's status says of them."""

from __future__ import annotations

from typing import Any

from dynamo_render import Outcome
from tests.fakes.stage import Stage

Json = dict[str, Any]
MODEL = "DynamoModel"
BASE = "Qwen/Qwen3-0.6B"
READY = "EndpointsReady"
SLOW = Outcome("refused", "no whole answer within 15 s")


def model(name: str = "law", kind: str = "lora", **spec: Any) -> Json:
    own = {"modelName": "acme/law", "baseModelName": BASE, "modelType": kind, "source": {"uri": "s3://b/law"}, **spec}
    metadata = {"name": name, "namespace": "team"}
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": MODEL, "metadata": metadata, "spec": own}


def endpoints(*addresses: str, ready: bool = True) -> list[Json]:
    return [
        {
            "addresses": [address],
            "conditions": {"ready": ready},
            "targetRef": {"kind": "Pod", "name": f"worker-{address.rpartition('.')[2]}"},
        }
        for address in addresses
    ]


def a_slice(*addresses: str, name: str = "dynamo-model-fb68f5a6-x", model_hash: str = "fb68f5a6") -> Json:
    labels = {"nvidia.com/dynamo-base-model-hash": model_hash, "kubernetes.io/service-name": "dynamo-model-fb68f5a6"}
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": name, "namespace": "team", "labels": labels},
        "addressType": "IPv4",
        "endpoints": endpoints(*addresses),
    }


def told(stage: Stage, name: str = "law") -> tuple[str, str]:
    return stage.condition(name, MODEL, READY)


def reach(stage: Stage, name: str = "law") -> tuple[int, int]:
    status = stage.status(name, MODEL)
    return status["readyEndpoints"], status["totalEndpoints"]

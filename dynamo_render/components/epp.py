"""The endpoint picker of the Gateway API Inference Extension. rendering.md sections 6, 7, 8.1 and 23.1."""

from __future__ import annotations

from dynamo_render.components.contract import Base, ComponentType, ServicePort, base_pod, container_port
from dynamo_render.scope import ComponentScope

ACCOUNT = "epp-serviceaccount"
CONFIG_KEY = "epp-config-dynamo.yaml"


def _base(scope: ComponentScope) -> Base:
    config_map, key = config_source(scope)
    pod = base_pod(ACCOUNT)
    pod["terminationGracePeriodSeconds"] = 130
    pod["volumes"] = [
        {"name": "epp-config", "configMap": {"name": config_map, "items": [{"key": key, "path": CONFIG_KEY}]}},
        {"name": "hf-cache", "emptyDir": {}},
    ]
    return Base(
        container={
            "name": "main",
            "args": _args(scope),
            "ports": [
                container_port(9002, "grpc"),
                container_port(9003, "grpc-health"),
                container_port(9090, "metrics"),
            ],
            "volumeMounts": [
                {"name": "epp-config", "mountPath": "/etc/epp", "readOnly": True},
                {"name": "hf-cache", "mountPath": "/home/nonroot/.cache"},
            ],
        },
        env={
            "DYN_KV_BLOCK_SIZE": "16",
            "DYN_DISCOVERY_TIMEOUT_SEC": "300",
            "USE_STREAMING": "true",
            "RUST_LOG": "debug,dynamo_llm::kv_router=trace",
        },
        pod=pod,
        probes=scope.profile.epp_probes,
    )


def config_source(scope: ComponentScope) -> tuple[str, str]:
    """Return the ConfigMap and its key that hold the picker's configuration: the user's own, or the rendered one."""
    config = scope.spec.epp_config
    if config and config.config_map_ref is not None:
        return config.config_map_ref.get("name", ""), config.config_map_ref.get("key") or CONFIG_KEY
    return f"{scope.graph.name}-epp-config", CONFIG_KEY


def _args(scope: ComponentScope) -> list[str]:
    options = {
        "-pool-name": f"{scope.graph.name}-pool",
        "-pool-namespace": scope.graph.namespace,
        "-pool-group": "inference.networking.k8s.io",
        "-v": "4",
        "--zap-encoder": "json",
        "-grpc-port": "9002",
        "-grpc-health-port": "9003",
        "-config-file": f"/etc/epp/{CONFIG_KEY}",
    }
    return [word for option in options.items() for word in option]


EPP = ComponentType(base=_base, port=ServicePort("grpc", 9002, 9002, app_protocol="http2"), account=ACCOUNT)

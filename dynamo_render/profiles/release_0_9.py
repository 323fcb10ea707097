"""Profile ``0.9``: what the documents of the 0.9 release promise, known defects mended (decisions.md section 2)."""

from __future__ import annotations

from dynamo_render.profiles.profile import Profile

_FRONTEND_TIMES = {"initialDelaySeconds": 60, "periodSeconds": 60, "timeoutSeconds": 30, "failureThreshold": 10}
_FRONTEND_IS_HEALTHY = 'curl -s http://localhost:${DYNAMO_PORT}/health | jq -e ".status == \\"healthy\\""'

PROFILE = Profile(
    name="0.9",
    frontend_probes={
        "livenessProbe": {"httpGet": {"path": "/health", "port": "http"}, **_FRONTEND_TIMES},
        "readinessProbe": {"exec": {"command": ["/bin/sh", "-c", _FRONTEND_IS_HEALTHY]}, **_FRONTEND_TIMES},
    },
    worker_probes={
        "livenessProbe": {
            "httpGet": {"path": "/live", "port": "system"},
            "periodSeconds": 5,
            "timeoutSeconds": 30,
            "failureThreshold": 1,
        },
        "readinessProbe": {
            "httpGet": {"path": "/health", "port": "system"},
            "periodSeconds": 10,
            "timeoutSeconds": 30,
            "failureThreshold": 60,
        },
        "startupProbe": {
            "httpGet": {"path": "/live", "port": "system"},
            "periodSeconds": 10,
            "timeoutSeconds": 5,
            "failureThreshold": 720,
        },
    },
    epp_probes={
        name: {
            "grpc": {"port": 9003, "service": "inference-extension"},
            "initialDelaySeconds": 5,
            "periodSeconds": 10,
        }
        for name in ("livenessProbe", "readinessProbe")
    },
    user_probe_replaces_default=True,
    explicit_zero_overrides=True,
    user_env_beats_appended=True,
    operator_metadata_is_protected=True,
    idle_workers_keep_probes=True,
    launch_is_shell_safe=True,
    leader_address_for_kubelet=True,
    processes_from_gpu_limit=True,
    cache_root_from_effective_mount=True,
    renders_requested_gpus=True,
    empty_shared_memory_has_default_size=True,
    image_references_follow_grammar=True,
    user_account_is_kept=True,
    metadata_reaches_every_object=True,
    ingress_metadata_is_applied=True,
    virtual_service_replaces_ingress=True,
    pod_metadata_stays_on_pods=True,
    debug_services_only_in_debug_mode=True,
    access_only_where_used=True,
    mpi_secret_only_where_used=True,
    standalone_components_have_a_namespace=True,
    names_are_checked=True,
    multinode_needs_an_orchestrator=True,
    image_is_required=True,
    epp_parameters_may_be_objects=True,
    failed_calls_are_told=True,
    graph_is_named_after_request=True,
    generated_graph_is_kept_whole=True,
    generated_graph_is_checked=True,
    overrides_need_auto_apply=True,
    workers_image_wins=True,
    discovery_beats_hardware=True,
    ready_request_stays_ready=True,
    tracking_labels_are_kept=True,
    output_claim_must_exist=True,
    validation_success_is_told=True,
    earlier_job_is_replaced=True,
    creation_trouble_is_told=True,
)

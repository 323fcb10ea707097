"""Profile ``0.9-shipped``: what the released 0.9.0 operator creates, warts included (the "shipped" columns)."""

from __future__ import annotations

from dynamo_render.profiles.profile import Profile

PROFILE = Profile(
    name="0.9-shipped",
    frontend_probes={
        "livenessProbe": {
            "httpGet": {"path": "/live", "port": "http"},
            "initialDelaySeconds": 15,
            "periodSeconds": 10,
            "timeoutSeconds": 1,
            "failureThreshold": 3,
        },
        "readinessProbe": {
            "httpGet": {"path": "/health", "port": "http"},
            "initialDelaySeconds": 10,
            "periodSeconds": 10,
            "timeoutSeconds": 3,
            "failureThreshold": 3,
        },
    },
    worker_probes={
        "livenessProbe": {
            "httpGet": {"path": "/live", "port": "system"},
            "periodSeconds": 5,
            "timeoutSeconds": 4,
            "failureThreshold": 1,
        },
        "readinessProbe": {
            "httpGet": {"path": "/health", "port": "system"},
            "periodSeconds": 10,
            "timeoutSeconds": 4,
            "failureThreshold": 3,
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
    user_probe_replaces_default=False,
    explicit_zero_overrides=False,
    user_env_beats_appended=False,
    operator_metadata_is_protected=False,
    idle_workers_keep_probes=False,
    launch_is_shell_safe=False,
    leader_address_for_kubelet=False,
    processes_from_gpu_limit=False,
    cache_root_from_effective_mount=False,
    renders_requested_gpus=False,
    empty_shared_memory_has_default_size=False,
    image_references_follow_grammar=False,
    user_account_is_kept=False,
    metadata_reaches_every_object=False,
    ingress_metadata_is_applied=False,
    virtual_service_replaces_ingress=False,
    pod_metadata_stays_on_pods=False,
    debug_services_only_in_debug_mode=False,
    access_only_where_used=False,
    mpi_secret_only_where_used=False,
    standalone_components_have_a_namespace=False,
    names_are_checked=False,
    multinode_needs_an_orchestrator=False,
    image_is_required=False,
    epp_parameters_may_be_objects=False,
    failed_calls_are_told=False,
    graph_is_named_after_request=False,
    generated_graph_is_kept_whole=False,
    generated_graph_is_checked=False,
    overrides_need_auto_apply=False,
    workers_image_wins=False,
    discovery_beats_hardware=False,
    ready_request_stays_ready=False,
    tracking_labels_are_kept=False,
    output_claim_must_exist=False,
    validation_success_is_told=False,
    earlier_job_is_replaced=False,
    creation_trouble_is_told=False,
)

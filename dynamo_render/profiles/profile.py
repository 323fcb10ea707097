"""What differs between releases, as data: numbers, texts and switches.

A switch is named after a behaviour, never a release. A profile is read at plan time only. Sources: rendering.md
sections 7, 8 and 25, decisions.md section 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from dynamo_render.values import Value, frozen

Probes = Mapping[str, Mapping[str, Any]]


@frozen(kw_only=True)
class Profile(Value):
    """The behaviour of one release of the operator, or the documented behaviour of that time."""

    name: str

    # Default probes: container key to probe.
    frontend_probes: Probes
    worker_probes: Probes
    epp_probes: Probes
    planner_probes: Probes = attrs.field(factory=dict)

    # Merging user content into defaults.
    user_probe_replaces_default: bool
    """A probe in mainContainer replaces the default whole; otherwise both are merged field by field (D-05)."""
    explicit_zero_overrides: bool
    """An explicit 0, false, "" or [] replaces a default; otherwise only non-zero values do (D-07)."""
    user_env_beats_appended: bool
    """An env entry of the user stays alone; otherwise the launch appends a second entry of that name (D-09)."""
    operator_metadata_is_protected: bool
    """Labels and annotations that the operator owns cannot be overridden by the user's (D-16, D-17)."""

    # Launching.
    idle_workers_keep_probes: bool
    """vLLM workers keep their probes where neither Ray nor data parallelism applies (D-08, D-29)."""
    launch_is_shell_safe: bool
    """Launch lines stay one valid shell command whatever the user wrote (D-14)."""
    leader_address_for_kubelet: bool
    """LeaderWorkerSet addresses are written so that the kubelet expands them (D-15)."""
    processes_from_gpu_limit: bool
    """MPI processes count the GPU limit first; otherwise the GPU request first (D-30)."""
    cache_root_from_effective_mount: bool
    """VLLM_CACHE_ROOT is set to a default mount point too (D-10)."""

    # Resources and pod settings.
    renders_requested_gpus: bool
    """``resources.requests.gpu`` is rendered like the limit (D-11)."""
    empty_shared_memory_has_default_size: bool
    """``sharedMemory: {}`` is accepted and means the default size."""
    image_references_follow_grammar: bool
    """Pull secrets are looked up for every image of the pod by the standard reference grammar (D-24)."""
    user_account_is_kept: bool
    """A service account that the user sets is never replaced (D-25)."""

    # Metadata and satellites.
    metadata_reaches_every_object: bool
    """A component's labels and annotations go on all of its objects and its pods (D-16, D-17)."""
    ingress_metadata_is_applied: bool
    """``ingress.labels`` and ``ingress.annotations`` go on the Ingress and VirtualService (D-19)."""
    virtual_service_replaces_ingress: bool
    """``useVirtualService`` replaces the Ingress and needs no gateway of the operator (D-21)."""
    pod_metadata_stays_on_pods: bool
    """``extraPodMetadata`` reaches pods only (D-23)."""
    debug_services_only_in_debug_mode: bool
    """The ``-p`` and ``-d`` Services exist in debug mode only."""
    access_only_where_used: bool
    """Planner and EPP accounts exist only for graphs with such a component."""
    mpi_secret_only_where_used: bool
    """The MPI key Secret is copied only for TensorRT-LLM multinode."""
    standalone_components_have_a_namespace: bool
    """A component deployment without a graph honours its own dynamoNamespace and counts as its own graph (D-27)."""

    # Checks.
    names_are_checked: bool
    """Colliding and over-long computed names are problems; otherwise they render as they are."""
    multinode_needs_an_orchestrator: bool
    """A graph with a multinode service and nothing to run it is refused; otherwise it renders one pod per replica."""
    image_is_required: bool
    """A main container without an image is a problem; otherwise it renders without one."""
    epp_parameters_may_be_objects: bool
    """``eppConfig.config.plugins[].parameters`` accepts objects."""

    # Models.
    failed_calls_are_told: bool
    """The status of a model says why pods have not loaded its adapter; otherwise only how many have not."""

    # Requests.
    graph_is_named_after_request: bool
    """A graph is made under the name of its request; otherwise under the one that profiling wrote."""
    generated_graph_is_kept_whole: bool
    """The status holds the generated graph as it was written; otherwise as a typed client writes it again."""
    generated_graph_is_checked: bool
    """Two graphs, unreadable documents and what admission refuses fail the request before anything is made of them."""
    overrides_need_auto_apply: bool
    """deploymentOverrides say nothing without autoApply."""
    workers_image_wins: bool
    """``workersImage`` replaces an image that the configuration names in camel case too."""
    discovery_beats_hardware: bool
    """``enableGpuDiscovery`` takes given GPU counts out of the configuration, with which nothing is discovered."""
    ready_request_stays_ready: bool
    """A graph that degrades is told by a condition; otherwise its request goes back to Deploying."""
    tracking_labels_are_kept: bool
    """Labels of deploymentOverrides cannot replace those by which a graph finds its request."""
    output_claim_must_exist: bool
    """A missing ``outputPVC`` fails validation; otherwise the profiling pod waits for it."""
    validation_success_is_told: bool
    """The condition Validation is written when it is true as well."""
    earlier_job_is_replaced: bool
    """A Job that an earlier request of the same name has left is deleted; otherwise it fails the new one."""
    creation_trouble_is_told: bool
    """A graph that is there already, or cannot be made, is told by the condition DeploymentReady."""

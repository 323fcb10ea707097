"""The Job that profiles a model for a request, with a second container that publishes what came out.

Specification: controllers-other.md section 1.9. What is profiled, and with which configuration, is decided in the plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dynamo_render.kube import structural
from dynamo_render.kube.manifest import Manifest, framed
from dynamo_render.plans.profiling import ProfilingJobPlan
from dynamo_render.workloads.contract import EffectivePod, PodTemplate, Workload

if TYPE_CHECKING:
    from dynamo_render.kube.shapes import Shape

ACCOUNT = "dgdr-profiling-job"
OUTPUT_DIR = "/data"
BASE_FILE = "/config/disagg.yaml"
OUTPUT_KEY, MOCKER_KEY = "config_with_planner.yaml", "mocker_config_with_planner.yaml"
NAME_LABEL, MANAGER_LABEL = "dgdr.nvidia.com/name", "nvidia.com/managed-by"
MANAGER = "dynamo-operator"

_OUTPUT, _BASE, _CACHE = "profiling-output", "profiling-config", "model-cache"


def job_name(request: str) -> str:
    """Return the name of the Job of a request."""
    return f"profile-{request}"


def output_name(request: str) -> str:
    """Return the name of the ConfigMap in which the Job of a request leaves what came out."""
    return f"dgdr-output-{request}"


def copier_script(request: str, namespace: str, folder: str = OUTPUT_DIR) -> str:
    """Return the script of the second container: it waits for the profiler and publishes its files in a ConfigMap.

    It needs sh, sleep and kubectl. It fails with one line when the profiler has ended without its file, so that the Job
    fails too; objects go from one kubectl to the next as JSON, in which every name stays text.
    """
    return f"""\
set -eu
namespace={namespace} request={request} folder={folder}
state='jsonpath={{.status.containerStatuses[?(@.name=="profiler")].state.terminated.exitCode}}'
until ended=$(kubectl get pod "$HOSTNAME" --namespace="$namespace" --output="$state") && [ -n "$ended" ]; do
  sleep 5
done
if [ ! -f "$folder/{OUTPUT_KEY}" ]; then
  echo "the profiler has ended with exit code $ended and without a file $folder/{OUTPUT_KEY}" >&2
  exit 1
fi
set -- --from-file="$folder/{OUTPUT_KEY}"
if [ -f "$folder/{MOCKER_KEY}" ]; then
  set -- "$@" --from-file="$folder/{MOCKER_KEY}"
fi
made=$(kubectl create configmap "dgdr-output-$request" --namespace="$namespace" "$@" --dry-run=client --output=json)
labelled=$(printf '%s' "$made" | kubectl label --local --filename=- --output=json \\
  "{NAME_LABEL}=$request" {MANAGER_LABEL}={MANAGER})
printf '%s' "$labelled" | kubectl apply --namespace="$namespace" --server-side --force-conflicts --filename=-
"""


def _build(plan: ProfilingJobPlan) -> tuple[Manifest, ...]:
    labels = {
        "app": "dynamo-profiler" if plan.online else "aic-profiler",
        "dgdr": plan.request,
        MANAGER_LABEL: MANAGER,
    }
    spec = {"backoffLimit": 3, "template": {"spec": _pod(plan)}}
    return (framed("batch/v1", "Job", job_name(plan.request), plan.namespace, labels=labels, spec=spec),)


def _pod(plan: ProfilingJobPlan) -> dict[str, Any]:
    pod: dict[str, Any] = {
        "serviceAccountName": ACCOUNT,
        "restartPolicy": "Never",
        "securityContext": {"runAsNonRoot": True, "runAsUser": 1000, "runAsGroup": 1000, "fsGroup": 1000},
        "imagePullSecrets": [{"name": "nvcr-imagepullsecret"}],
        "containers": [_profiler(plan), _copier(plan)],
        "volumes": list(_volumes(plan)),
    }
    if plan.tolerations:
        pod["tolerations"] = structural.copied(list(plan.tolerations))
    return pod


def _profiler(plan: ProfilingJobPlan) -> dict[str, Any]:
    mounts: list[dict[str, Any]] = [{"name": _OUTPUT, "mountPath": OUTPUT_DIR}]
    if plan.base is not None:
        mounts.append({"name": _BASE, "mountPath": "/config", "readOnly": True})
    if plan.model_cache is not None:
        mounts.append({"name": _CACHE, "mountPath": plan.model_cache.mount_path, "readOnly": True})
    container: dict[str, Any] = {
        "name": "profiler",
        "image": plan.image,
        "command": ["python", "-m", "benchmarks.profiler.profile_sla"],
        "args": [
            "--profile-config",
            plan.configuration,
            *(["--enable-gpu-discovery"] if plan.discovers_gpus else []),
        ],
        "env": _env(plan),
        "volumeMounts": mounts,
    }
    if plan.resources:
        container["resources"] = structural.copied(dict(plan.resources))
    return container


def _env(plan: ProfilingJobPlan) -> list[dict[str, Any]]:
    token = {"secretKeyRef": {"name": "hf-token-secret", "key": "HF_TOKEN"}}
    values = {
        "NATS_SERVER": f"nats://{plan.namespace}-nats:4222",
        "ETCD_ENDPOINTS": f"{plan.namespace}-etcd:2379",
        "DGDR_NAME": plan.request,
        "DGDR_NAMESPACE": plan.namespace,
        "DGDR_UID": plan.uid,
    }
    entries = [{"name": name, "value": value} for name, value in values.items()]
    return [{"name": "HUGGING_FACE_HUB_TOKEN", "valueFrom": token}, *entries]


def _copier(plan: ProfilingJobPlan) -> dict[str, Any]:
    return {
        "name": "output-copier",
        "image": "bitnami/kubectl:latest",
        "command": ["/bin/sh", "-c"],
        "args": [copier_script(plan.request, plan.namespace)],
        "volumeMounts": [{"name": _OUTPUT, "mountPath": OUTPUT_DIR, "readOnly": True}],
    }


def _volumes(plan: ProfilingJobPlan) -> Iterator[Mapping[str, Any]]:
    claim = {"persistentVolumeClaim": {"claimName": plan.output_claim}}
    yield {"name": _OUTPUT, **(claim if plan.output_claim else {"emptyDir": {}})}
    if plan.base is not None:
        name, key = plan.base
        yield {"name": _BASE, "configMap": {"name": name, "items": [{"key": key, "path": "disagg.yaml"}]}}
    if plan.model_cache is not None:
        cached = {"claimName": plan.model_cache.claim, "readOnly": True}
        yield {"name": _CACHE, "persistentVolumeClaim": cached}


def _pods(manifest: Manifest) -> Iterator[EffectivePod]:
    name = manifest["metadata"]["name"]
    yield EffectivePod("profiler", "main", 0, f"{name}-<id>", manifest["spec"]["template"]["spec"], {})


def _templates(manifest: Manifest) -> Iterator[PodTemplate]:
    # A Job's pods are never replaced: its template cannot be changed.
    yield PodTemplate("main", 1, manifest["spec"]["template"]["spec"], ())


def _shape() -> Shape:
    from dynamo_render.kube import shapes  # noqa: PLC0415 - a render does without shapes

    return shapes.within(spec=shapes.within(template=shapes.POD_TEMPLATE))


PROFILING_JOB = Workload(
    build=_build,
    group="batch",
    kind="Job",
    shape=_shape,
    templates=_templates,
    pods=_pods,
)

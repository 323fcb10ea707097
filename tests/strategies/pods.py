"""Pod overrides: everything beside the main container, and the metadata of pods."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from tests.strategies import containers, env, names, volumes

Json = dict[str, Any]

ACCOUNTS = ("my-account", "default")


@cache
def pod_settings() -> st.SearchStrategy[Json]:
    """Return fields of a pod apart from containers and volumes, explicit zeros included."""
    toleration = st.fixed_dictionaries({"operator": st.just("Exists")}, optional={"key": st.just("nvidia.com/gpu")})
    term = {"matchExpressions": [{"key": "gpu", "operator": "In", "values": ["h100"]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    spread = {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway"}
    secret = st.fixed_dictionaries({"name": st.sampled_from(env.SECRETS)})
    context = st.fixed_dictionaries({}, optional={"fsGroup": st.integers(0, 2000), "runAsNonRoot": st.booleans()})
    return st.fixed_dictionaries(
        {},
        optional={
            "affinity": st.just(affinity),
            "automountServiceAccountToken": st.booleans(),
            "dnsPolicy": st.sampled_from(("ClusterFirst", "Default")),
            "hostAliases": st.just([{"ip": "10.0.0.1", "hostnames": ["store"]}]),
            "hostIPC": st.booleans(),
            "hostNetwork": st.booleans(),
            "imagePullSecrets": st.lists(secret, max_size=2, unique_by=lambda entry: entry["name"]),
            "nodeSelector": st.dictionaries(names.label_keys(), names.label_values(), max_size=2),
            "priorityClassName": names.dns_labels(),
            "restartPolicy": st.just("Always"),
            "runtimeClassName": st.sampled_from(("nvidia",)),
            "schedulerName": st.sampled_from(("", "kai-scheduler", "my-scheduler")),
            "securityContext": context,
            "serviceAccountName": st.sampled_from(ACCOUNTS),
            "terminationGracePeriodSeconds": st.integers(0, 300),
            "tolerations": st.lists(toleration, max_size=2),
            "topologySpreadConstraints": st.just([spread]),
        },
    )


@cache
@st.composite
def extra_pod_specs(
    draw: st.DrawFn, *, engine: str | None = None, is_picker: bool = False, must_start: bool = False, wide: bool = False
) -> Json:
    """Return pod overrides with a main container.

    An endpoint picker has volumes and mounts of its own, which a user's replace: it gets neither here, because a
    mount would be left without its volume.
    """
    pod_volumes = [] if is_picker else draw(volumes.pod_volumes())
    volume_names = tuple(volume["name"] for volume in pod_volumes)
    content: Json = draw(pod_settings())
    if pod_volumes:
        content["volumes"] = pod_volumes
    for key, prefix in (("containers", "side"), ("initContainers", "init")):
        count = draw(st.integers(0, 2)) if draw(st.booleans()) else 0
        if count:
            content[key] = [draw(containers.sidecars(f"{prefix}-{index}", volume_names)) for index in range(count)]
    content["mainContainer"] = draw(
        containers.main_containers(engine=engine, volume_names=volume_names, must_start=must_start, wide=wide)
    )
    return content


@cache
def extra_pod_metadata() -> st.SearchStrategy[Json]:
    """Return labels and annotations for pods."""
    return st.fixed_dictionaries({}, optional={"labels": names.user_labels(), "annotations": names.user_annotations()})

"""Volumes of pods, mounts of containers, claims and shared memory of components."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from tests.strategies import env, names, quantities

Json = dict[str, Any]

CLAIMS = ("claim-a", "claim-b", "claim-c")
MOUNT_PATHS = ("/data", "/models", "/opt/cache", "/a", "/a/b", "/tmp")  # noqa: S108 - paths inside containers
COMPONENT_MOUNT_PATHS = ("/claims/a", "/claims/b", "/root/.cache/vllm", "/cache")


@cache
def volume_sources() -> st.SearchStrategy[Json]:
    """Return what a volume holds, one kind of source each."""
    item = st.fixed_dictionaries({"key": names.dns_labels(6), "path": names.dns_labels(6)})
    items = {"items": st.lists(item, min_size=1, max_size=2), "defaultMode": st.sampled_from((0o400, 0o644))}
    config_map = st.fixed_dictionaries({"name": st.sampled_from(env.CONFIG_MAPS)}, optional=items)
    secret = st.fixed_dictionaries({"secretName": st.sampled_from(env.SECRETS)}, optional=items)
    empty = st.fixed_dictionaries({}, optional={"medium": st.just("Memory"), "sizeLimit": quantities.quantity_texts()})
    claim = st.fixed_dictionaries({"claimName": st.sampled_from(CLAIMS)}, optional={"readOnly": st.booleans()})
    host = st.fixed_dictionaries({"path": st.just("/dev/infiniband")}, optional={"type": st.just("Directory")})
    return st.one_of(
        st.fixed_dictionaries({"emptyDir": empty}),
        st.fixed_dictionaries({"configMap": config_map}),
        st.fixed_dictionaries({"secret": secret}),
        st.fixed_dictionaries({"persistentVolumeClaim": claim}),
        st.fixed_dictionaries({"hostPath": host}),
    )


@cache
def pod_volumes() -> st.SearchStrategy[list[Json]]:
    """Return volumes of a pod with names of their own; none has the name of a claim or of an operator's volume."""
    volume = st.builds(lambda name, source: {"name": f"vol-{name}", **source}, names.dns_labels(5), volume_sources())
    return st.lists(volume, max_size=3, unique_by=lambda volume: volume["name"])


@cache
@st.composite
def container_mounts(draw: st.DrawFn, volume_names: tuple[str, ...]) -> list[Json]:
    """Return mounts of some of the named volumes, each path once."""
    if not volume_names:
        return []
    paths = draw(st.lists(st.sampled_from(MOUNT_PATHS), max_size=3, unique=True))
    extras = st.fixed_dictionaries({}, optional={"readOnly": st.booleans(), "subPath": names.dns_labels(5)})
    return [{"name": draw(st.sampled_from(volume_names)), "mountPath": path, **draw(extras)} for path in paths]


@cache
@st.composite
def component_mounts(draw: st.DrawFn, *, has_default_cache: bool) -> list[Json]:
    """Return volume mounts of a component: each claim and each path once, perhaps one as compilation cache."""
    claims = draw(st.lists(st.sampled_from(CLAIMS), max_size=2, unique=True))
    paths = draw(st.permutations(COMPONENT_MOUNT_PATHS))
    mounts: list[Json] = [{"name": claim, "mountPoint": path} for claim, path in zip(claims, paths, strict=False)]
    if len(mounts) > 0 and draw(st.booleans()):
        mounts[0]["useAsCompilationCache"] = True
        if has_default_cache and "/root/.cache/vllm" not in paths[1 : len(mounts)] and draw(st.booleans()):
            del mounts[0]["mountPoint"]
    return mounts


@cache
def shared_memory() -> st.SearchStrategy[Json]:
    """Return the size of shared memory, the wish for the default, or that there is none."""
    sized = st.fixed_dictionaries({"size": quantities.quantities()}, optional={"disabled": st.just(False)})
    off = st.fixed_dictionaries({"disabled": st.just(True)}, optional={"size": quantities.quantities()})
    return sized | off


@cache
@st.composite
def claims(draw: st.DrawFn) -> list[Json]:
    """Return claims of a graph, to be created or expected, each name once."""
    chosen = draw(st.lists(st.sampled_from(CLAIMS), max_size=3, unique=True))
    created = st.fixed_dictionaries(
        {
            "create": st.just(True),
            "size": quantities.quantity_texts(quantities.BINARY),
            "storageClass": st.sampled_from(("fast", "standard")),
            "volumeAccessMode": st.sampled_from(("ReadWriteMany", "ReadWriteOnce")),
        }
    )
    expected = st.fixed_dictionaries({}, optional={"create": st.just(False)})
    return [{"name": name, **draw(created | expected)} for name in chosen]

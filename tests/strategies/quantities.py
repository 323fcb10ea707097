"""Amounts of resources, as texts and as the numbers that users write for them."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from dynamo_render.kube import quantity

BINARY = ("Ki", "Mi", "Gi", "Ti")
DECIMAL = ("", "m", "k", "M", "G")


@cache
def quantity_texts(units: tuple[str, ...] = BINARY + DECIMAL) -> st.SearchStrategy[str]:
    """Return quantities that are not zero, normal form or not: ``1.5``, ``1000m``, ``2048Mi``, ``1e3``."""
    whole = st.integers(1, 5000).map(str)
    fraction = st.builds("{}.{}".format, st.integers(1, 99), st.sampled_from(("5", "50", "25", "125")))
    texts = st.builds("{}{}".format, whole | fraction, st.sampled_from(units)) | st.sampled_from(("1e3", "+5", "05"))
    return texts.filter(_is_stable)


def _is_stable(text: str) -> bool:
    """Whether the stored form stays: not so for ``62.5Ki``, which is 64000 and then 64k (decision 0009)."""
    stored = quantity.normalise(text)
    return quantity.normalise(stored) == stored


@cache
def quantities() -> st.SearchStrategy[str | int]:
    """Return quantities as the typed fields of Kubernetes take them: text or whole number, never zero."""
    return quantity_texts() | st.integers(1, 64)


@cache
def gpu_counts() -> st.SearchStrategy[str]:
    """Return how many GPUs one node offers to a component."""
    return st.sampled_from(("1", "2", "4", "8"))


@cache
def resource_items() -> st.SearchStrategy[dict[str, Any]]:
    """Return one side of a component's resources: CPU, memory, GPUs of a type, custom names."""
    custom = st.dictionaries(st.sampled_from(("rdma/ib", "example.com/fpga", "ephemeral-storage")), quantity_texts())
    return st.fixed_dictionaries(
        {},
        optional={
            "cpu": quantity_texts(("", "m")),
            "memory": quantity_texts(BINARY),
            "gpu": gpu_counts(),
            "gpuType": st.sampled_from(("nvidia.com/gpu", "nvidia.com/mig-1g.5gb", "gpu.intel.com/xe")),
            "custom": custom,
        },
    )


@cache
def component_resources() -> st.SearchStrategy[dict[str, Any]]:
    """Return the resources of a component: requests, limits, claims."""
    claims = st.lists(st.fixed_dictionaries({"name": st.sampled_from(("gpu-claim", "nic-claim"))}), max_size=1)
    return st.fixed_dictionaries(
        {}, optional={"requests": resource_items(), "limits": resource_items(), "claims": claims}
    )


@cache
def container_resources() -> st.SearchStrategy[dict[str, Any]]:
    """Return the resources of a container as Kubernetes writes them."""
    names = st.sampled_from(("cpu", "memory", "nvidia.com/gpu", "hugepages-2Mi"))
    amounts = st.dictionaries(names, quantities(), max_size=3)
    return st.fixed_dictionaries({}, optional={"requests": amounts, "limits": amounts})

"""Environment variables: entries, lists of them, and sources of whole sets."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from hypothesis import strategies as st

from tests.strategies import names, quantities

Json = dict[str, Any]

OPERATOR_NAMES = (
    "DYN_NAMESPACE",
    "DYN_SYSTEM_PORT",
    "DYNAMO_PORT",
    "NATS_SERVER",
    "OMPI_MCA_orte_keep_fqdn_hostnames",
    "POD_NAME",
    "VLLM_CACHE_ROOT",
)
CONFIG_MAPS = ("settings", "tuning")
SECRETS = ("hf-token", "ngc")


@cache
def env_names() -> st.SearchStrategy[str]:
    """Return names of variables, often one that the operator sets too."""
    own = st.text("ABC_xyz019", min_size=1, max_size=6).map("V{}".format)
    return st.sampled_from(OPERATOR_NAMES) | own


@cache
def _key_of(kind: tuple[str, ...]) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries(
        {"name": st.sampled_from(kind), "key": names.dns_labels(6)}, optional={"optional": st.booleans()}
    )


@cache
def env_sources() -> st.SearchStrategy[Json]:
    """Return where the value of a variable comes from, one kind of source each."""
    return st.one_of(
        st.fixed_dictionaries({"secretKeyRef": _key_of(SECRETS)}),
        st.fixed_dictionaries({"configMapKeyRef": _key_of(CONFIG_MAPS)}),
        st.fixed_dictionaries(
            {"fieldRef": st.fixed_dictionaries({"fieldPath": st.sampled_from(("status.podIP", "spec.nodeName"))})}
        ),
        st.fixed_dictionaries(
            {
                "resourceFieldRef": st.fixed_dictionaries(
                    {"resource": st.sampled_from(("limits.cpu", "requests.memory"))},
                    optional={"divisor": quantities.quantities()},
                )
            }
        ),
    )


@cache
def env_entries() -> st.SearchStrategy[Json]:
    """Return one variable: with a value, with a source, or with its name alone."""
    return st.one_of(
        st.fixed_dictionaries({"name": env_names()}, optional={"value": names.texts()}),
        st.fixed_dictionaries({"name": env_names(), "valueFrom": env_sources()}),
    )


@cache
def env_lists(*, distinct: bool = True) -> st.SearchStrategy[list[Json]]:
    """Return variables in the user's order; fields of our own kinds, unlike containers, may name one twice."""
    return st.lists(env_entries(), max_size=4, unique_by=(lambda entry: entry["name"]) if distinct else None)


@cache
def env_from() -> st.SearchStrategy[list[Json]]:
    """Return whole ConfigMaps and Secrets as variables."""
    named_map = st.fixed_dictionaries({"name": st.sampled_from(CONFIG_MAPS)})
    named_secret = st.fixed_dictionaries({"name": st.sampled_from(SECRETS)})
    source = st.fixed_dictionaries({"configMapRef": named_map}, optional={"prefix": st.just("P_")}) | (
        st.fixed_dictionaries({"secretRef": named_secret})
    )
    return st.lists(source, max_size=2)


@cache
def _configured_service(*, is_picker: bool) -> st.SearchStrategy[Json]:
    amounts = st.fixed_dictionaries(
        {}, optional={"cpu": quantities.quantity_texts(("", "m")), "GPU": quantities.gpu_counts()}
    )
    workers = st.just(1) if is_picker else st.integers(0, 3)
    arguments = st.fixed_dictionaries({}, optional={"Workers": workers, "resources": amounts})
    return st.fixed_dictionaries({}, optional={"ServiceArgs": arguments, "port": st.integers(1, 9999), "x": st.none()})


@cache
def deployment_configs(services: tuple[str, ...], pickers: frozenset[str]) -> st.SearchStrategy[Json]:
    """Return the variable that configures services of a graph by JSON; endpoint *pickers* have one replica."""
    entries = {name: _configured_service(is_picker=name in pickers) for name in (*services, "Absent")}
    document = st.fixed_dictionaries({}, optional=entries)
    return document.map(lambda config: {"name": "DYN_DEPLOYMENT_CONFIG", "value": json.dumps(config)})

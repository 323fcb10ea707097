"""Probes of containers, with every handler."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from tests.strategies import names

Json = dict[str, Any]


@cache
def handlers() -> st.SearchStrategy[Json]:
    """Return what a probe does: exactly one of its four ways."""
    ports = st.integers(1, 65535) | st.sampled_from(("http", "system", "web"))
    header = st.fixed_dictionaries({"name": st.just("X-Probe"), "value": names.texts()})
    http = st.fixed_dictionaries(
        {"port": ports},
        optional={
            "path": st.sampled_from(("/", "/live", "/up?x=1")),
            "scheme": st.sampled_from(("HTTP", "HTTPS")),
            "httpHeaders": st.lists(header, min_size=1, max_size=2),
        },
    )
    grpc = st.fixed_dictionaries({"port": st.integers(1, 65535)}, optional={"service": names.dns_labels()})
    return st.one_of(
        st.fixed_dictionaries({"httpGet": http}),
        st.fixed_dictionaries({"exec": st.fixed_dictionaries({"command": st.just(["true"])})}),
        st.fixed_dictionaries({"tcpSocket": st.fixed_dictionaries({"port": ports})}),
        st.fixed_dictionaries({"grpc": grpc}),
    )


@cache
def probes() -> st.SearchStrategy[Json]:
    """Return a probe with its times, zeros included."""
    times = st.fixed_dictionaries(
        {},
        optional={
            "initialDelaySeconds": st.integers(0, 60),
            "periodSeconds": st.integers(0, 60),
            "timeoutSeconds": st.integers(0, 30),
            "failureThreshold": st.integers(0, 720),
            "terminationGracePeriodSeconds": st.integers(1, 60),
        },
    )
    return st.builds(lambda handler, rest: handler | rest, handlers(), times)

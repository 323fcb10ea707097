"""Decisions without a row, in both profiles, and that every row of the others has a test and a golden case.

The rows are those of decisions.md section 2; what disagrees stands in rendering.md section 25. Their tests are in
`test_decisions_of_*.py`, by subject.
"""

from __future__ import annotations

import re

import pytest

from tests.golden import (
    test_decisions_of_containers,
    test_decisions_of_launches,
    test_decisions_of_metadata,
    test_decisions_of_names,
)
from tests.golden.cases import golden_cases
from tests.small import (
    BOTH,
    DOCUMENTED,
    NOTHING,
    SHIPPED,
    container,
    env,
    graph,
    names,
    pod,
    problems,
    rendered,
    service,
    the,
)

FRONTEND = graph(Frontend=service("frontend"))
BY_SUBJECT = (
    test_decisions_of_containers,
    test_decisions_of_launches,
    test_decisions_of_metadata,
    test_decisions_of_names,
)


def test_further_debug_services_exist_in_debug_mode_only() -> None:
    plain, stealing = FRONTEND, {"nvidia.com/enable-stealing-traffic-debug-mode": "true"}
    assert names(rendered(plain, DOCUMENTED, facts=NOTHING), "Service") == ["demo-frontend"]
    three = ["demo-frontend", "demo-frontend-p", "demo-frontend-d"]
    assert names(rendered(plain, SHIPPED, facts=NOTHING), "Service") == three
    debugged = graph(Frontend=service("frontend", annotations=stealing))
    assert names(rendered(debugged, DOCUMENTED, facts=NOTHING), "Service") == three


def test_further_access_exists_only_for_graphs_with_such_a_component() -> None:
    wide = {"discovery_backend": "etcd", "planner_cluster_role": "p", "epp_cluster_role": "e"}
    assert names(rendered(FRONTEND, DOCUMENTED, settings=wide), "ServiceAccount") == []
    assert names(rendered(FRONTEND, SHIPPED, settings=wide), "ServiceAccount") == ["planner-serviceaccount"]
    planned = graph(Planner=service("planner"))
    assert names(rendered(planned, DOCUMENTED, settings=wide), "ServiceAccount") == ["planner-serviceaccount"]


def test_further_shared_memory_without_size_has_the_default() -> None:
    resource = graph(It=service(sharedMemory={}))
    (volume,) = pod(rendered(resource, DOCUMENTED), "it")["volumes"]
    assert volume["emptyDir"] == {"medium": "Memory", "sizeLimit": "8Gi"}
    assert problems(resource, SHIPPED) == [("SVC-V04", "spec.services.It.sharedMemory.size")]


def test_further_services_that_collide_are_a_problem() -> None:
    resource = graph(Worker=service(), worker=service())
    assert problems(resource, DOCUMENTED) == [("names/collision", "spec.services.worker")]
    assert len(the(rendered(resource, SHIPPED), "PodCliqueSet")["spec"]["template"]["cliques"]) == 2


def test_further_computed_names_over_their_limit_are_a_problem() -> None:
    long = "x" * 60
    resource = graph(**{long: service()})
    assert problems(resource, DOCUMENTED, facts=NOTHING) == [("names/service", f"spec.services.{long}")]
    assert names(rendered(resource, SHIPPED, facts=NOTHING), "Service")[0] == f"demo-{long}"


def test_further_parameters_of_picker_plugins_may_be_objects() -> None:
    config = {"plugins": [{"type": "kv", "parameters": {"weight": 2}}], "schedulingProfiles": []}
    resource = graph(It=service("epp", eppConfig={"config": config}))
    text = the(rendered(resource, DOCUMENTED), "ConfigMap")["data"]["epp-config-dynamo.yaml"]
    assert "  parameters:\n    weight: 2\n" in text
    at = "spec.services.It.eppConfig.config.plugins[0].parameters"
    assert problems(resource, SHIPPED) == [("schema/type", at)]


@BOTH
@pytest.mark.parametrize("discovery", ["kubernetes", "etcd"])
def test_further_the_etcd_address_is_injected_whenever_it_is_set(profile: str, discovery: str) -> None:
    settings = {"restricted_namespace": "team-a", "discovery_backend": discovery, "etcd_address": "etcd:2379"}
    assert env(container(service(), profile, settings=settings))["ETCD_ENDPOINTS"] == "etcd:2379"


@pytest.mark.parametrize("row", range(1, 31), ids="D-{:02}".format)
def test_every_row_has_a_test_and_a_golden_case(row: int) -> None:
    tests = [name for module in BY_SUBJECT for name in vars(module)]
    assert [name for name in tests if re.search(rf"(_|^)d_{row:02}(_|$)", name.removeprefix("test"))]
    assert [case.folder.name for case in golden_cases() if re.search(rf"(-|^)d-{row:02}-", case.folder.name)]

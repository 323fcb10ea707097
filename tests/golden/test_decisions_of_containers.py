"""Decisions about containers and pods, in both profiles: default probes, and what users override.

A name holds the id of the row in decisions.md section 2; what disagrees stands in rendering.md section 25.
"""

from __future__ import annotations

import pytest

from tests.small import (
    BOTH,
    DOCUMENTED,
    SHIPPED,
    Json,
    container,
    env,
    graph,
    main,
    pod,
    rendered,
    service,
    warnings,
    worker,
)


def timing(probe: Json) -> tuple[object, ...]:
    keys = ("initialDelaySeconds", "periodSeconds", "timeoutSeconds", "failureThreshold")
    return tuple(probe.get(key) for key in keys)


# D-01 to D-04: defaults of probes


def test_d_01_frontend_liveness() -> None:
    documented = container(service("frontend"), DOCUMENTED)["livenessProbe"]
    assert (documented["httpGet"], timing(documented)) == ({"path": "/health", "port": "http"}, (60, 60, 30, 10))
    shipped = container(service("frontend"), SHIPPED)["livenessProbe"]
    assert (shipped["httpGet"], timing(shipped)) == ({"path": "/live", "port": "http"}, (15, 10, 1, 3))


def test_d_02_frontend_readiness() -> None:
    documented = container(service("frontend"), DOCUMENTED)["readinessProbe"]
    text = 'curl -s http://localhost:${DYNAMO_PORT}/health | jq -e ".status == \\"healthy\\""'
    assert documented["exec"] == {"command": ["/bin/sh", "-c", text]}
    assert timing(documented) == (60, 60, 30, 10)
    shipped = container(service("frontend"), SHIPPED)["readinessProbe"]
    assert (shipped["httpGet"], timing(shipped)) == ({"path": "/health", "port": "http"}, (10, 10, 3, 3))


def test_d_03_worker_probes() -> None:
    documented, shipped = container(worker(), DOCUMENTED), container(worker(), SHIPPED)
    assert timing(documented["livenessProbe"]) == (None, 5, 30, 1)
    assert timing(documented["readinessProbe"]) == (None, 10, 30, 60)
    assert timing(shipped["livenessProbe"]) == (None, 5, 4, 1)
    assert timing(shipped["readinessProbe"]) == (None, 10, 4, 3)


@BOTH
def test_d_04_a_planner_has_no_probes(profile: str) -> None:
    assert not {"livenessProbe", "readinessProbe", "startupProbe"} & set(container(service("planner"), profile))


# D-05 to D-12: what users override


def test_d_05_a_probe_in_main_container_replaces_the_default_whole() -> None:
    own = {"tcpSocket": {"port": 8081}}
    written = worker(main={"args": ["python3 -m dynamo.vllm"], "livenessProbe": own})
    assert container(written, DOCUMENTED)["livenessProbe"] == own
    assert set(container(written, SHIPPED)["livenessProbe"]) >= {"tcpSocket", "httpGet", "periodSeconds"}


def test_d_05_a_numeric_port_is_kept() -> None:
    """The released operator loses it against the name of the default port."""
    written = service("frontend", main={"livenessProbe": {"httpGet": {"path": "/up", "port": 8081}}})
    assert container(written, DOCUMENTED)["livenessProbe"]["httpGet"] == {"path": "/up", "port": 8081}
    assert container(written, SHIPPED)["livenessProbe"]["httpGet"] == {"path": "/up", "port": "http"}


@BOTH
def test_d_05_a_probe_of_the_component_replaces_the_default_whole(profile: str) -> None:
    own = {"tcpSocket": {"port": 8081}}
    assert container(worker(readinessProbe=own), profile)["readinessProbe"] == own


@BOTH
def test_d_06_a_startup_probe_is_accepted_in_main_container_only(profile: str) -> None:
    own = {"tcpSocket": {"port": 8081}}
    inside = worker(main={"args": ["python3 -m dynamo.vllm"], "startupProbe": own})
    assert container(inside, profile)["startupProbe"] == own
    beside = rendered(graph(It=worker(startupProbe=own)), profile)
    assert main(beside, "it")["startupProbe"]["failureThreshold"] == 720
    assert warnings(beside) == [("schema/unknown-field", "spec.services.It.startupProbe")]


def test_d_07_an_explicit_zero_wins() -> None:
    written = service("frontend", pod={"terminationGracePeriodSeconds": 0}, main={"command": [], "args": ["x"]})
    documented, shipped = (rendered(graph(It=written), profile) for profile in (DOCUMENTED, SHIPPED))
    assert pod(documented, "it")["terminationGracePeriodSeconds"] == 0
    assert "command" not in main(documented, "it")
    assert pod(shipped, "it")["terminationGracePeriodSeconds"] == 60
    assert main(shipped, "it")["command"] == ["python3"]


@BOTH
def test_d_07_an_explicit_null_is_not_given(profile: str) -> None:
    written = service("frontend", pod={"terminationGracePeriodSeconds": None}, main={"command": None})
    result = rendered(graph(It=written), profile)
    assert pod(result, "it")["terminationGracePeriodSeconds"] == 60
    assert main(result, "it")["command"] == ["python3"]


@BOTH
def test_d_08_probes_of_multinode_workers_are_dropped_with_a_warning(profile: str) -> None:
    limits = {"limits": {"gpu": "8"}}
    spread = worker("sglang", multinode={"nodeCount": 2}, resources=limits, livenessProbe={"tcpSocket": {"port": 1}})
    result = rendered(graph(It=spread), profile)
    assert "livenessProbe" in main(result, "it-ldr")
    assert not {"livenessProbe", "readinessProbe", "startupProbe"} & set(main(result, "it-wkr"))
    assert warnings(result) == [("probe/dropped", "spec.services.It.livenessProbe")]


def test_d_09_an_env_entry_of_the_user_stays_the_only_one() -> None:
    written = worker(
        main={"args": ["python3 -m dynamo.vllm"], "env": [{"name": "VLLM_CACHE_ROOT", "value": "/mine"}]},
        volumeMounts=[{"name": "cache", "mountPoint": "/cache", "useAsCompilationCache": True}],
    )
    documented, shipped = container(written, DOCUMENTED), container(written, SHIPPED)
    assert env(documented)["VLLM_CACHE_ROOT"] == "/mine"
    twice = [entry["value"] for entry in shipped["env"] if entry["name"] == "VLLM_CACHE_ROOT"]
    assert twice == ["/mine", "/cache"]


def test_d_10_the_cache_root_is_the_effective_mount_point_of_the_first_cache() -> None:
    written = worker(volumeMounts=[{"name": "cache", "useAsCompilationCache": True}])
    assert env(container(written, DOCUMENTED))["VLLM_CACHE_ROOT"] == "/root/.cache/vllm"
    assert "VLLM_CACHE_ROOT" not in env(container(written, SHIPPED))


def test_d_11_requested_gpus_are_rendered_with_their_type() -> None:
    amounts = {"requests": {"gpu": "2"}, "limits": {"gpu": "2"}}
    documented = container(service(resources=amounts), DOCUMENTED)["resources"]
    assert documented == {"requests": {"nvidia.com/gpu": "2"}, "limits": {"nvidia.com/gpu": "2"}}
    assert container(service(resources=amounts), SHIPPED)["resources"] == {"limits": {"nvidia.com/gpu": "2"}}
    slices = service(resources={"requests": {"gpu": "1", "gpuType": "nvidia.com/mig-1g.5gb"}})
    assert container(slices, DOCUMENTED)["resources"] == {"requests": {"nvidia.com/mig-1g.5gb": "1"}}
    assert container(slices, SHIPPED)["resources"] == {}


@BOTH
def test_d_12_a_null_security_context_is_not_given_and_warns(profile: str) -> None:
    result = rendered(graph(It=service(pod={"securityContext": None})), profile)
    assert pod(result, "it")["securityContext"] == {"fsGroup": 1000}
    (warning,) = result.warnings
    assert "{}" in (warning.hint or "")


@BOTH
def test_d_12_an_empty_security_context_is_kept(profile: str) -> None:
    assert pod(rendered(graph(It=service(pod={"securityContext": {}})), profile), "it")["securityContext"] == {}


@BOTH
@pytest.mark.parametrize(
    ("component_type", "seconds"), [("epp", 130), ("frontend", 60), ("worker", 60), ("planner", 60), (None, 60)]
)
def test_d_13_the_grace_period_is_60_seconds_and_130_for_the_picker(
    profile: str, component_type: str | None, seconds: int
) -> None:
    fields = {"eppConfig": {"configMapRef": {"name": "a", "key": "b"}}} if component_type == "epp" else {}
    written = service(component_type, **fields)
    assert pod(rendered(graph(It=written), profile), "it")["terminationGracePeriodSeconds"] == seconds

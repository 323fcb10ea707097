"""The rows of rendering.md section 24: what is refused, and what is ignored silently."""

from __future__ import annotations

from typing import Any

import pytest

from tests.small import (
    BOTH,
    DOCUMENTED,
    GROVE,
    LEADER_WORKER_SET,
    NOTHING,
    SHIPPED,
    Json,
    component,
    env,
    graph,
    main,
    problems,
    rendered,
    service,
    worker,
)

NO_CLAIMS = {**GROVE, "namespaces": {"team-a": {"pvcs": []}}}
AT = "spec.services.It"
KAI = {"api_groups": ["grove.io", "scheduling.run.ai"], "kai_queues": []}
TWO_ENGINES = service("worker", main={"args": ["python3 -m dynamo.vllm; python3 -m dynamo.sglang"]})


@BOTH
@pytest.mark.parametrize(
    ("resource", "facts", "expected"),
    [
        pytest.param(graph(It=service()), KAI, [("CTL-12", "")], id="24-queue-missing"),
        pytest.param(
            graph(spec={"backendFramework": "sglang"}, It=worker()),
            GROVE,
            [("CTL-03", f"{AT}.extraPodSpec.mainContainer.args")],
            id="24-backend-mismatch",
        ),
        pytest.param(
            graph(It=TWO_ENGINES),
            NOTHING,
            [("CTL-03", f"{AT}.extraPodSpec.mainContainer.args")],
            id="24-backend-ambiguous",
        ),
        pytest.param(
            graph(spec={"backendFramework": "other"}, It=worker()),
            GROVE,
            [("schema/enum", "spec.backendFramework")],
            id="24-backend-unsupported",
        ),
        pytest.param(
            graph(It=service(resources={"limits": {"cpu": "x"}})),
            GROVE,
            [("CTL-04", f"{AT}.resources.limits.cpu")],
            id="24-quantity",
        ),
        pytest.param(
            graph(It=service(volumeMounts=[{"name": "", "mountPoint": "/m"}])),
            GROVE,
            [("CTL-07", f"{AT}.volumeMounts[0].name")],
            id="24-mount-without-name",
        ),
        pytest.param(
            graph(It=service(volumeMounts=[{"name": "a"}])),
            GROVE,
            [("SVC-V03", f"{AT}.volumeMounts[0].mountPoint")],
            id="24-mount-without-mount-point",
        ),
        pytest.param(
            graph(It=worker("sglang", volumeMounts=[{"name": "a", "useAsCompilationCache": True}])),
            GROVE,
            [("CTL-08", f"{AT}.volumeMounts[0].mountPoint")],
            id="24-cache-without-default",
        ),
        pytest.param(
            graph(It=service(envs=[{"name": "DYN_DEPLOYMENT_CONFIG", "value": "x"}])),
            NOTHING,
            [("CTL-05", f"{AT}.envs")],
            id="24-deployment-config",
        ),
        pytest.param(
            graph(It=service("epp", eppConfig={})), GROVE, [("SVC-V09", f"{AT}.eppConfig")], id="24-epp-without-config"
        ),
        pytest.param(
            graph(spec={"pvcs": [{"name": "x"}]}, It=service()),
            NO_CLAIMS,
            [("CTL-09", "spec.pvcs[0].name")],
            id="24-claim-missing",
        ),
        pytest.param(
            graph(It=worker(multinode={}, resources={"requests": {"gpu": "1"}})),
            LEADER_WORKER_SET,
            [("CTL-16", f"{AT}.resources.limits.gpu")],
            id="24-leader-worker-set-gpu-limit",
        ),
        pytest.param(
            graph(It=service("worker", multinode={}, resources={"limits": {"gpu": "1"}})),
            LEADER_WORKER_SET,
            [("CTL-15", f"{AT}.extraPodSpec.mainContainer.args")],
            id="24-leader-worker-set-args",
        ),
    ],
)
def test_errors(profile: str, resource: Json, facts: Json, expected: list[tuple[str, str]]) -> None:
    assert problems(resource, profile, facts=facts) == expected


@pytest.mark.parametrize(
    ("resource", "profile", "expected"),
    [
        pytest.param(
            graph(It=worker(multinode={})),
            DOCUMENTED,
            [("CTL-02", f"{AT}.multinode")],
            id="24-no-orchestrator-documented",
        ),
        pytest.param(
            component(service()), SHIPPED, [("CTL-17", "spec.dynamoNamespace")], id="24-no-dynamo-namespace-shipped"
        ),
        pytest.param(
            component(service(), ownerReferences=[{"kind": "DynamoGraphDeployment", "name": "demo"}]),
            DOCUMENTED,
            [("CTL-17", "spec.dynamoNamespace")],
            id="24-no-dynamo-namespace-documented",
        ),
    ],
)
def test_errors_of_one_profile(resource: Json, profile: str, expected: list[tuple[str, str]]) -> None:
    assert problems(resource, profile, facts=NOTHING) == expected


def ignored(resource: Json, profile: str, **surroundings: Any) -> Json:
    result = rendered(resource, profile, **surroundings)
    assert result.warnings == ()
    return main(result, "it" if "multinode" not in resource["spec"]["services"]["It"] else "it-ldr")


SECRETS = {**GROVE, "namespaces": {"team-a": {"pull_secrets": {"nvcr.io": ["s"]}}}}


@BOTH
@pytest.mark.parametrize(
    ("resource", "facts"),
    [
        pytest.param(graph(It=service(main={"image": "A:::b"})), SECRETS, id="24-ignored-image-host"),
        pytest.param(graph(It=service(main={"image": "ghcr.io/a"})), SECRETS, id="24-ignored-no-secret"),
    ],
)
def test_what_is_ignored_of_images(profile: str, resource: Json, facts: Json) -> None:
    assert ignored(resource, profile, facts=facts)["image"]


@BOTH
@pytest.mark.parametrize(
    ("flags", "gpus"),
    [
        pytest.param("--tensor-parallel-size 16", "8.0", id="24-ignored-gpu-count-that-is-no-integer"),
        pytest.param("--tensor-parallel-size many", "8", id="24-ignored-flag-value"),
    ],
)
def test_what_is_ignored_of_launches(profile: str, flags: str, gpus: str) -> None:
    written = worker(flags=flags, multinode={}, resources={"limits": {"gpu": gpus}})
    assert ignored(graph(It=written), profile)["args"] == [f"python3 -m dynamo.vllm {flags}"]


@BOTH
def test_24_ignored_flags_that_find_no_python(profile: str) -> None:
    written = service("worker", main={"args": ["./serve"]}, multinode={})
    assert ignored(graph(spec={"backendFramework": "sglang"}, It=written), profile)["args"] == ["./serve"]


@BOTH
def test_24_ignored_ambiguity_with_an_explicit_framework(profile: str) -> None:
    assert "DYN_COMPONENT" in env(ignored(graph(spec={"backendFramework": "sglang"}, It=TWO_ENGINES), profile))

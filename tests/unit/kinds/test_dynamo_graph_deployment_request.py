"""What a request renders to at first, and the configuration that its profiler gets."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_render import ClusterFacts, InvalidResource, OperatorSettings, needs, render
from dynamo_render.kube.text import read_documents
from tests.request_passes import SETTINGS, SHIPPED, Json, request

PLAIN = OperatorSettings(restricted_namespace="team")


def configuration(resource: Json, settings: OperatorSettings = PLAIN) -> Any:
    *_, job = render(resource, settings=settings).objects
    (profiler, _copier) = job["spec"]["template"]["spec"]["containers"]
    (config,) = read_documents(profiler["args"][1])
    return config


def kinds(settings: OperatorSettings, **facts: Any) -> list[str]:
    return [made["kind"] for made in render(request(), settings=settings, facts=ClusterFacts(**facts)).objects]


def test_a_request_leads_to_an_account_its_binding_and_a_job() -> None:
    assert kinds(SETTINGS) == ["ServiceAccount", "RoleBinding", "Job"]


def test_in_one_namespace_the_account_is_managed_elsewhere() -> None:
    assert kinds(PLAIN) == ["Job"]


def test_without_a_role_there_is_no_account_and_a_warning() -> None:
    rendered = render(request(), settings=OperatorSettings())
    assert [made["kind"] for made in rendered.objects] == ["Job"]
    assert [problem.rule for problem in rendered.warnings] == ["access/role-not-set"]


def test_a_role_that_is_known_to_be_missing_is_refused() -> None:
    with pytest.raises(InvalidResource, match="prof") as refusal:
        kinds(SETTINGS, cluster_roles=frozenset({"other"}))
    assert [problem.rule for problem in refusal.value.problems] == ["CTL-13"]


def test_a_request_asks_for_its_role() -> None:
    assert needs(request(), SETTINGS).cluster_roles == {"prof"}
    assert needs(request(), PLAIN).cluster_roles == frozenset()


def test_only_the_job_belongs_to_the_request() -> None:
    owners = render(request(), settings=SETTINGS).owners
    assert [owner and owner.kind for owner in owners] == [None, None, "DynamoGraphDeploymentRequest"]


def test_the_spec_stands_in_the_configuration() -> None:
    assert configuration(request(config={})) == {
        "deployment": {"namespace": "team", "model": "acme/chat"},
        "engine": {"backend": "vllm"},
        "output_dir": "/data",
    }


def test_model_and_backend_of_the_configuration_are_overwritten() -> None:
    config = configuration(request(config={"deployment": {"model": "other"}, "engine": {"backend": "sglang"}}))
    assert (config["deployment"]["model"], config["engine"]["backend"]) == ("acme/chat", "vllm")


@pytest.mark.parametrize("namespace", [None, "elsewhere", 3])
def test_a_namespace_that_is_given_stays_whatever_it_is(namespace: Any) -> None:
    assert (
        configuration(request(config={"deployment": {"namespace": namespace}}))["deployment"]["namespace"] == namespace
    )


@pytest.mark.parametrize("section", ["deployment", "engine"])
def test_a_section_that_is_null_counts_as_missing(section: str) -> None:
    assert isinstance(configuration(request(config={section: None}))[section], dict)


def test_a_base_graph_is_read_from_its_mount() -> None:
    resource = request(config={"engine": {"config": "mine"}}, configMapRef={"name": "base", "key": "k"})
    assert configuration(resource)["engine"]["config"] == "/config/disagg.yaml"


@pytest.mark.parametrize(("settings", "auto", "image"), [
    (PLAIN, True, "w:2"),
    (PLAIN, False, None),
    (OperatorSettings(restricted_namespace="team", profile="0.9-shipped"), False, "w:2"),
])  # fmt: skip
def test_the_image_of_workers_reaches_the_profiler(
    settings: OperatorSettings, image: str | None, *, auto: bool
) -> None:
    resource = request(autoApply=auto, deploymentOverrides={"workersImage": "w:2"})
    assert configuration(resource, settings)["deployment"].get("dgd_image") == image


def test_the_configuration_of_the_user_is_not_changed() -> None:
    resource = request(config={"deployment": {}, "engine": {}})
    render(resource, settings=PLAIN)
    assert resource["spec"]["profilingConfig"]["config"] == {"deployment": {}, "engine": {}}


@pytest.mark.parametrize(
    ("sweep", "app"),
    [
        ({"useAiConfigurator": True}, "aic-profiler"),
        ({"useAiConfigurator": "true"}, "dynamo-profiler"),
        ({"useAiConfigurator": False, "use_ai_configurator": True}, "dynamo-profiler"),
        ({"useAiConfigurator": "x", "use_ai_configurator": True}, "aic-profiler"),
        ([], "dynamo-profiler"),
        (None, "dynamo-profiler"),
    ],
)
def test_only_a_boolean_chooses_the_ai_configurator(sweep: Any, app: str) -> None:
    *_, job = render(request(config={"sweep": sweep}), settings=PLAIN).objects
    assert job["metadata"]["labels"]["app"] == app


@pytest.mark.parametrize(
    ("cache", "mounted"),
    [
        ({"pvcName": "models"}, ("models", "/opt/model-cache")),
        ({"pvcName": "models", "mountPath": "/m"}, ("models", "/m")),
        ({"pvcName": "models", "mountPath": 3}, ("models", "/opt/model-cache")),
        ({"pvcName": ""}, None),
        ({"pvcName": 3}, None),
        ({"pvc_name": "models"}, None),
        ("models", None),
    ],
)
def test_a_model_cache_needs_a_claim_by_name(cache: Any, mounted: tuple[str, str] | None) -> None:
    *_, job = render(request(config={"deployment": {"modelCache": cache}}), settings=PLAIN).objects
    pod = job["spec"]["template"]["spec"]
    claims = [each["persistentVolumeClaim"]["claimName"] for each in pod["volumes"] if each["name"] == "model-cache"]
    paths = [each["mountPath"] for each in pod["containers"][0]["volumeMounts"] if each["name"] == "model-cache"]
    assert (claims, paths) == (([mounted[0]], [mounted[1]]) if mounted else ([], []))


def test_discovery_is_a_flag_and_in_the_documents_beats_given_counts() -> None:
    resource = request(enableGpuDiscovery=True, config={"hardware": {"numGpusPerNode": 8, "system": "h200"}})
    *_, job = render(resource, settings=SETTINGS).objects
    assert job["spec"]["template"]["spec"]["containers"][0]["args"][2:] == ["--enable-gpu-discovery"]
    assert configuration(resource, SETTINGS)["hardware"] == {"system": "h200"}
    assert configuration(resource, SHIPPED)["hardware"] == {"numGpusPerNode": 8, "system": "h200"}


@pytest.mark.parametrize("section", ["deployment", "engine"])
def test_a_section_of_another_type_is_refused(section: str) -> None:
    with pytest.raises(InvalidResource, match="must be an object"):
        configuration(request(config={section: "x"}))

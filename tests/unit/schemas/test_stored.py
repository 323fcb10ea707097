"""A resource becomes what the API server would store: pruned, without nulls, with defaults, otherwise as written."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_render.errors import InvalidResource, Problem, field_path
from dynamo_render.kube.text import read_documents
from dynamo_render.schemas.stored import normalised

SUBMITTED = """
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: g}
spec:
  services:
    Decode:
      replicas: 0
      multinode: {}
      scalingAdapter: {}
      colour: blue
      volumeMounts: [{name: cache, useAsCompilationCache: true}]
      extraPodSpec: {mainContainer: {image: r/x:1, ports: [{containerPort: 8080}]}}
    Old: null
  restart: {id: "7", strategy: {}}
status: {state: successful}
"""
STORED = """
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: g}
spec:
  services:
    Decode:
      replicas: 0
      multinode: {nodeCount: 2}
      scalingAdapter: {enabled: false}
      volumeMounts: [{name: cache, useAsCompilationCache: true}]
      extraPodSpec: {mainContainer: {image: r/x:1, ports: [{containerPort: 8080, protocol: TCP}]}}
  restart: {id: "7", strategy: {type: Sequential}}
"""


def read(text: str) -> Any:
    (document,) = read_documents(text)
    return document


def of(spec: object, kind: str = "DynamoGraphDeployment", **more: object) -> tuple[Any, tuple[Problem, ...]]:
    """Return what is stored of *spec*, and the problems."""
    resource = {"apiVersion": "nvidia.com/v1alpha1", "kind": kind, "metadata": {"name": "x"}, "spec": spec, **more}
    stored, problems = normalised(resource)
    return stored.get("spec"), problems


def service(**fields: object) -> Any:
    """Return what is stored of a service with *fields*."""
    spec, problems = of({"services": {"A": fields}})
    assert problems == ()
    return spec["services"]["A"]


def errors(spec: object, kind: str = "DynamoGraphDeployment") -> list[tuple[str, str]]:
    return [(problem.rule, field_path(problem.path)) for problem in of(spec, kind)[1] if problem.severity == "error"]


def test_the_worked_example_of_the_specification() -> None:
    stored, problems = normalised(read(SUBMITTED))
    assert stored == read(STORED)
    assert [problem.path for problem in problems] == [("spec", "services", "Decode", "colour")]


def test_explicit_zero_values_stay() -> None:
    given = {"replicas": 0, "labels": {}, "envs": [], "envFromSecret": "", "globalDynamoNamespace": False}
    assert service(**given) == given


def test_explicit_zero_values_stay_in_embedded_types() -> None:
    pod = {"hostNetwork": False, "volumes": [{"name": "v", "emptyDir": {"medium": ""}}], "mainContainer": {"args": []}}
    assert service(extraPodSpec=pod)["extraPodSpec"] == pod


def test_nothing_is_added_that_only_a_typed_client_writes() -> None:
    assert service(sharedMemory={"disabled": True}) == {"sharedMemory": {"disabled": True}}
    assert service(extraPodSpec={"mainContainer": {}}) == {"extraPodSpec": {"mainContainer": {}}}


def test_quantities_and_durations_keep_their_spelling() -> None:
    assert service(sharedMemory={"size": "1024Mi"}) == {"sharedMemory": {"size": "1024Mi"}}
    assert service(sharedMemory={"size": 1024}) == {"sharedMemory": {"size": 1024}}


def test_a_fraction_without_quotes_is_no_quantity() -> None:
    """A definition takes an integer or a string, although a typed client would read the number."""
    assert errors({"services": {"A": {"sharedMemory": {"size": 0.5}}}}) == [
        ("schema/type", "spec.services.A.sharedMemory.size")
    ]


def test_a_null_with_a_default_becomes_the_default() -> None:
    assert service(multinode={"nodeCount": None}) == {"multinode": {"nodeCount": 2}}


def test_a_null_in_a_list_is_refused() -> None:
    assert errors({"services": {"A": {"volumeMounts": [None]}}}) == [("schema/type", "spec.services.A.volumeMounts[0]")]


def test_unknown_keys_of_the_picker_configuration_stay_with_their_nulls() -> None:
    config = {"plugins": [], "schedulingProfiles": [], "own": {"a": None}}
    assert service(eppConfig={"config": config})["eppConfig"]["config"] == config


def test_unknown_keys_below_the_picker_configuration_go() -> None:
    config = {"plugins": [], "schedulingProfiles": [], "saturationDetector": {"own": 1}}
    spec, _ = of({"services": {"A": {"eppConfig": {"config": config}}}})
    assert spec["services"]["A"]["eppConfig"]["config"]["saturationDetector"] == {}


def test_parameters_of_a_picker_plugin_are_whatever_json() -> None:
    config = {"plugins": [{"type": "x", "parameters": {"a": [1, None]}}], "schedulingProfiles": []}
    assert service(eppConfig={"config": config})["eppConfig"]["config"] == config


def test_objects_as_parameters_are_refused_by_the_released_definition() -> None:
    config = {"plugins": [{"type": "x", "parameters": {"a": 1}}], "schedulingProfiles": []}
    resource = {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoComponentDeployment",
        "metadata": {"name": "x"},
        "spec": {"eppConfig": {"config": config}},
    }
    _, problems = normalised(resource, text_parameters=True)
    assert [field_path(problem.path) for problem in problems] == ["spec.eppConfig.config.plugins[0].parameters"]


def test_labels_of_a_claim_template_are_lost() -> None:
    volume = {"name": "v", "ephemeral": {"volumeClaimTemplate": {"metadata": {"labels": {"a": "b"}}, "spec": {}}}}
    spec, _ = of({"services": {"A": {"extraPodSpec": {"volumes": [volume]}}}})
    template = spec["services"]["A"]["extraPodSpec"]["volumes"][0]["ephemeral"]["volumeClaimTemplate"]
    assert template == {"metadata": {}, "spec": {}}


@pytest.mark.parametrize("create", [None, False])
def test_a_claim_that_is_not_created_needs_only_its_name(create: object) -> None:
    assert errors({"pvcs": [{"name": "c", "create": create}]}) == []


def test_a_claim_to_be_created_needs_the_rest() -> None:
    assert errors({"pvcs": [{"name": "c", "create": True, "size": "1Gi"}]}) == [("schema/claim", "spec.pvcs[0]")]


def test_a_claim_needs_presence_only() -> None:
    """Whether the values make sense is for admission."""
    claim = {"name": "c", "create": True, "size": "0", "storageClass": "", "volumeAccessMode": ""}
    assert errors({"pvcs": [claim]}) == []


def test_a_request_gets_its_defaults() -> None:
    profiling = {"profilerImage": "p", "config": {"sweep": None}, "configMapRef": {"name": "c"}}
    stored, problems = of(
        {"model": "m", "backend": "vllm", "profilingConfig": profiling}, "DynamoGraphDeploymentRequest"
    )
    assert problems == ()
    assert stored == {
        "model": "m",
        "backend": "vllm",
        "profilingConfig": {**profiling, "configMapRef": {"name": "c", "key": "disagg.yaml"}},
        "autoApply": False,
        "useMocker": False,
        "enableGpuDiscovery": False,
    }


def test_a_model_is_a_base_model_unless_it_says_otherwise() -> None:
    stored, _ = of({"modelName": "a", "baseModelName": "b"}, "DynamoModel")
    assert stored["modelType"] == "base"


def test_an_empty_reference_of_a_scaling_adapter_is_refused() -> None:
    spec = {"replicas": 1, "dgdRef": {"name": "", "serviceName": "A"}}
    assert errors(spec, "DynamoGraphDeploymentScalingAdapter") == [("schema/length", "spec.dgdRef.name")]


def test_worker_metadata_keeps_whatever_it_holds() -> None:
    spec = {"data": {"a": {"b": [None, 1.5]}}}
    assert of(spec, "DynamoWorkerMetadata") == (spec, ())


def test_a_status_counts_as_unknown_where_there_is_none() -> None:
    _, problems = of({"data": {}}, "DynamoWorkerMetadata", status={})
    assert [problem.path for problem in problems] == [("status",)]


def test_a_resource_of_another_group_is_not_ours() -> None:
    with pytest.raises(InvalidResource, match=r"must be a kind of nvidia\.com/v1alpha1, got v1 Pod"):
        normalised({"apiVersion": "v1", "kind": "Pod"})

"""User-written classes to and from JSON."""

from __future__ import annotations

from dynamo_render.kube.schema_nodes import Findings
from dynamo_render.spec import structure
from dynamo_render.spec.component import ComponentDeploymentSpec
from dynamo_render.spec.graph import GraphSpec


def decoded(cls: type, value: object) -> object:
    findings = Findings()
    result = structure.decoder_of(cls)(value, None, findings)
    assert findings.problems == []
    return result


def test_defaults_of_the_api_server_are_filled_where_their_parent_is_present() -> None:
    spec = decoded(
        GraphSpec, {"services": {"A": {"multinode": {}, "scalingAdapter": {}}}, "restart": {"id": "7", "strategy": {}}}
    )
    assert isinstance(spec, GraphSpec)
    assert spec.services is not None
    assert spec.services["A"].nodes == 2
    assert spec.restart is not None
    assert spec.restart.strategy is not None
    assert spec.restart.strategy.type == "Sequential"


def test_encoding_leaves_out_what_a_typed_client_leaves_out() -> None:
    spec = decoded(
        ComponentDeploymentSpec,
        {
            "globalDynamoNamespace": False,
            "replicas": 0,
            "dynamoNamespace": "",
            "labels": {},
            "extraPodSpec": {"hostNetwork": False, "mainContainer": {"tty": False, "image": "i", "args": []}},
            "volumeMounts": [{"name": "c", "useAsCompilationCache": False}],
        },
    )
    assert structure.encoded(spec) == {
        "replicas": 0,
        "dynamoNamespace": "",
        "extraPodSpec": {"mainContainer": {"image": "i"}},
        "volumeMounts": [{"name": "c"}],
    }


def test_top_level_zeros_of_pod_overrides_stay_for_the_merge() -> None:
    spec = decoded(ComponentDeploymentSpec, {"extraPodSpec": {"volumes": [], "mainContainer": {"args": []}}})
    assert isinstance(spec, ComponentDeploymentSpec)
    assert spec.pod == {"volumes": []}
    assert spec.main_container == {"args": []}


def test_camel_case_is_the_spelling_of_the_api() -> None:
    assert structure.camel_case("use_as_compilation_cache") == "useAsCompilationCache"


def test_encoding_and_decoding_again_gives_the_same() -> None:
    value = {
        "resources": {"limits": {"gpu": "8", "custom": {"a/b": "1"}}},
        "multinode": {"nodeCount": 4},
        "envs": [{"name": "A"}],
    }
    spec = decoded(ComponentDeploymentSpec, value)
    assert decoded(ComponentDeploymentSpec, structure.encoded(spec)) == spec
    assert structure.encoded(spec) == value

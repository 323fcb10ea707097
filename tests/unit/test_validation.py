"""`validate` finds everything in one run, and says where a user can mend it; nothing else is taken for a mistake."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dynamo_render import ClusterFacts, InvalidSettings, OperatorSettings, Problem, validate
from dynamo_render.errors import field_path
from dynamo_render.rules.contract import Example, Json, worker, worker_container, worker_pod
from dynamo_render.validation import admission

GROVE = ClusterFacts(api_groups=frozenset({"grove.io"}))
BOTH_NODES = {"multinode": {"nodeCount": 2}}
PLANNER = "system:serviceaccount:x:planner-serviceaccount"


def edited(edit: Json) -> dict[str, Any]:
    """Return the sound graph of the rules' examples with *edit* laid over it."""
    return Example(edit=edit).resource()


def told(problems: tuple[Problem, ...]) -> list[str]:
    """Return rule and path of *problems*, without repeats of neighbours."""
    return [f"{problem.rule} {field_path(problem.path)}" for problem in problems]


def errors(edit: Json, **options: Any) -> list[str]:
    """Return rule and path of the errors in an edited graph."""
    return told(tuple(problem for problem in validate(edited(edit), **options) if problem.severity == "error"))


def test_a_sound_graph_has_no_problems() -> None:
    assert validate(edited({})) == ()


def test_what_is_no_mapping_is_a_problem_and_no_exception() -> None:
    assert told(validate([])) == ["schema/type "]  # type: ignore[arg-type]


def test_an_unknown_profile_is_an_exception_as_it_is_not_about_the_resource() -> None:
    with pytest.raises(InvalidSettings):
        validate(edited({}), settings=OperatorSettings(profile="0.0"))


def test_the_resource_is_not_changed() -> None:
    resource = edited({"spec": {"pvcs": [5, {"name": "a"}], "services": {"Worker": {"replicas": "x"}}}})
    before = copy.deepcopy(resource)
    validate(resource)
    assert resource == before


def test_a_schema_error_in_one_service_does_not_hide_a_rule_of_another() -> None:
    edit = {"spec": {"services": {"Worker": {"replicas": "2"}, "Frontend": {"ingress": {"enabled": True}}}}}
    assert errors(edit) == ["schema/type spec.services.Worker.replicas", "SVC-V02 spec.services.Frontend.ingress.host"]


def test_a_schema_error_does_not_hide_a_rule_of_the_same_service() -> None:
    edit = worker(replicas="2", volumeMounts=[{"name": "models"}])
    wanted = ["schema/type spec.services.Worker.replicas", "SVC-V03 spec.services.Worker.volumeMounts[0].mountPoint"]
    assert errors(edit) == wanted


def test_a_wrong_value_is_reported_once_and_not_as_missing_too() -> None:
    assert errors(worker_container(image=5)) == ["schema/type spec.services.Worker.extraPodSpec.mainContainer.image"]


def test_nothing_is_said_about_what_is_below_a_wrong_value() -> None:
    assert errors(worker(extraPodSpec={"mainContainer": "runtime"})) == [
        "schema/type spec.services.Worker.extraPodSpec.mainContainer"
    ]


def test_list_entries_behind_a_wrong_one_keep_their_numbers() -> None:
    edit = {"spec": {"pvcs": [5, {"name": ""}, "x", {"name": ""}]}}
    wanted = ["schema/type spec.pvcs[0]", "schema/type spec.pvcs[2]", "DGD-V02 spec.pvcs[1].name"]
    assert errors(edit) == [*wanted, "DGD-V02 spec.pvcs[3].name"]


def test_a_missing_name_does_not_hide_the_other_fields_of_its_entry() -> None:
    edit = {"spec": {"pvcs": [{"create": True, "storageClass": "", "size": "1Gi", "volumeAccessMode": "a"}]}}
    assert errors(edit) == ["schema/required spec.pvcs[0].name", "DGD-V03 spec.pvcs[0].storageClass"]


def test_a_resource_with_nothing_right_in_it_ends_in_problems() -> None:
    resource = {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", "metadata": 1, "spec": 2}
    assert told(validate(resource)) == ["schema/type metadata", "schema/type spec"]


def test_admission_and_pod_rules_are_reported_together() -> None:
    edit = worker(sharedMemory={"size": "0"}, extraPodSpec={"mainContainer": {"readinessProbe": {"periodSeconds": 1}}})
    wanted = ["SVC-V04 spec.services.Worker.sharedMemory.size"]
    assert errors(edit) == [*wanted, "pod/probe spec.services.Worker.extraPodSpec.mainContainer.readinessProbe"]


def test_names_are_checked_in_profiles_whose_operator_does_not() -> None:
    settings = OperatorSettings(profile="0.9-shipped")
    edit = {"metadata": {"name": "a" * 60}}
    assert "names/service spec.services.Worker" in errors(edit, settings=settings)


def test_an_endless_number_of_nodes_is_a_problem_that_is_found_at_once() -> None:
    edit = worker(multinode={"nodeCount": 2_000_000_000}, sharedMemory={"size": "0"})
    wanted = ["SVC-V04 spec.services.Worker.sharedMemory.size", "count/nodes spec.services.Worker.multinode.nodeCount"]
    assert errors(edit) == wanted


# Where the facts are silent


def test_without_facts_the_cluster_has_what_several_nodes_need() -> None:
    assert errors(worker(**BOTH_NODES)) == []
    assert errors(worker(**BOTH_NODES), facts=ClusterFacts()) == ["CTL-02 spec.services.Worker.multinode"]


def test_without_facts_the_limits_of_grove_are_warnings() -> None:
    long = {"metadata": {"name": "a" * 42}}
    assert errors(long) == []
    assert {problem.rule: problem.severity for problem in validate(edited(long))} == {"names/grove": "warning"}
    assert set(errors(long, facts=GROVE)) == {
        "names/grove spec.services.Frontend",
        "names/grove spec.services.Worker",
    }


def test_a_graph_that_leaves_grove_hears_nothing_of_its_limits() -> None:
    off = {"metadata": {"name": "a" * 42, "annotations": {"nvidia.com/enable-grove": "false"}}}
    assert validate(edited(off)) == ()


def test_without_facts_nothing_is_said_about_the_inference_extension() -> None:
    picker = {"componentType": "epp", "eppConfig": {"config": {"plugins": [], "schedulingProfiles": []}}}
    container = {"extraPodSpec": {"mainContainer": {"image": "registry.example/epp:1"}}}
    edit = {"spec": {"services": {"Picker": {**picker, **container}}}}
    assert errors(edit) == []
    assert errors(edit, facts=ClusterFacts()) == ["SVC-V05 spec.services.Picker.componentType"]


def test_a_queue_that_cannot_be_looked_up_is_a_warning() -> None:
    facts = ClusterFacts(api_groups=frozenset({"grove.io", "scheduling.run.ai"}))
    problems = validate(edited({}), facts=facts)
    assert [(problem.rule, problem.severity) for problem in problems] == [("CTL-12", "warning")]


# Where a problem is


@pytest.mark.parametrize(
    ("edit", "path"),
    [
        (worker(readinessProbe={}), "readinessProbe"),
        (worker_container(readinessProbe={}), "extraPodSpec.mainContainer.readinessProbe"),
        (worker_container(startupProbe={}), "extraPodSpec.mainContainer.startupProbe"),
        (worker(envs=[{"name": "B"}, {"name": "="}]), "envs[1].name"),
        (worker_container(env=[{"name": "="}]), "extraPodSpec.mainContainer.env[0].name"),
        (worker(volumeMounts=[{"name": "A_B", "mountPoint": "/a"}]), "volumeMounts[0].name"),
        (worker(volumeMounts=[{"name": n, "mountPoint": "/a"} for n in "ab"]), "volumeMounts[1].mountPoint"),
        (worker(resources={"limits": {"cpu": "-1"}}), "resources.limits.cpu"),
        (worker(resources={"limits": {"custom": {"x": "1"}}}), "resources.limits.custom.x"),
        (worker_container(resources={"limits": {"cpu": "-1"}}), "extraPodSpec.mainContainer.resources.limits.cpu"),
        (worker_pod(containers=[{"name": "a"}]), "extraPodSpec.containers[0].image"),
        (worker_pod(volumes=[{"name": "A"}]), "extraPodSpec.volumes[0].name"),
        (worker_pod(dnsPolicy="no"), "extraPodSpec.dnsPolicy"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_problem_of_a_pod_is_where_its_user_wrote_it(edit: Json, path: str) -> None:
    assert {error.partition(" ")[2] for error in errors(edit)} == {f"spec.services.Worker.{path}"}


def test_a_variable_of_the_graph_is_reported_there() -> None:
    assert set(errors({"spec": {"envs": [{"name": "="}]}})) == {"pod/env spec.envs[0].name"}


def test_a_component_deployment_has_its_fields_in_the_spec() -> None:
    resource = Example(base="component", edit={"spec": {"livenessProbe": {}}}).resource()
    assert told(validate(resource)) == ["pod/probe spec.livenessProbe"]


# What is declared


def test_a_secret_beside_the_resource_is_declared() -> None:
    edit = {"metadata": {"namespace": "team"}, **worker(envFromSecret="token")}
    assert told(validate(edited(edit))) == ["sanity/secret spec.services.Worker.envFromSecret"]
    assert validate(edited(edit), declared=[("Secret", "team", "token")]) == ()
    assert validate(edited(edit), declared=[("Secret", "", "token")]) == ()
    assert validate(edited(edit), declared=[("Secret", "other", "token")]) != ()


def test_a_claim_that_the_graph_creates_is_declared() -> None:
    claim = {"create": True, "name": "models", "storageClass": "a", "size": "1Gi", "volumeAccessMode": "ReadWriteMany"}
    mount = {"volumeMounts": [{"name": "models", "mountPoint": "/models"}]}
    assert validate(edited({"spec": {"pvcs": [claim], "services": {"Worker": mount}}})) == ()


# Silence


def test_the_annotation_of_a_resource_silences_rules() -> None:
    annotated = {"metadata": {"annotations": {"dynamo-render/ignore": "SVC-W02, sanity/secret"}}}
    assert validate(edited({**annotated, **worker(autoscaling={}, envFromSecret="token")})) == ()


def test_a_field_of_an_earlier_release_says_what_to_write_instead() -> None:
    (problem,) = validate(edited({"spec": {"dynamoGraph": "chat"}}))
    assert problem.rule == "deprecated/removed-field"
    assert problem.hint is not None
    assert "spec.services" in problem.hint


# Changes, as admission sees them: api.md section 16.2

STORED: dict[str, Any] = edited(
    {
        "spec": {
            "services": {
                "Frontend": {"replicas": None},
                "Decode": {
                    "componentType": "decode",
                    "replicas": 2,
                    "scalingAdapter": {"enabled": True},
                    "extraPodSpec": {"mainContainer": {"image": "registry.example/runtime:1"}},
                },
            }
        }
    }
)


def changed(services: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """Return what is stored with changes of its services and of other fields; None takes a field away."""
    resource = copy.deepcopy(STORED)
    for name, fields in services.items():
        resource["spec"]["services"].setdefault(name, {}).update(fields)
    resource["spec"].update(spec)
    resource["spec"] = {key: value for key, value in resource["spec"].items() if value is not None}
    return resource


@pytest.mark.parametrize(
    ("new", "user", "wanted"),
    [
        (changed({"Frontend": {"replicas": 3}}), "alice", []),
        (changed({"Decode": {"replicas": 3}}), "alice", ["DGD-U04 spec.services.Decode.replicas"]),
        (changed({"Decode": {"replicas": 3}}), PLANNER, []),
        (changed({"Decode": {"replicas": 3, "scalingAdapter": {"enabled": False}}}), "alice", []),
        (changed({"Frontend": {"scalingAdapter": {"enabled": True}}}), "alice", []),
        (changed({"Frontend": {"scalingAdapter": {"enabled": True}, "replicas": 1}}), "alice", []),
        (
            changed({"Decode": {"multinode": {}, "replicas": 9}, "Extra": {}}, backendFramework=None),
            "alice",
            [
                "DGD-U01 spec.backendFramework",
                "DGD-W01 spec.backendFramework",
                "DGD-U02 spec.services.Decode.multinode",
            ],
        ),
        (
            changed({"Frontend": {"sharedMemory": {"size": "0"}}}, backendFramework=None),
            "alice",
            ["SVC-V04 spec.services.Frontend.sharedMemory.size"],
        ),
        (
            changed({}, pvcs=[{"name": "", "create": True, "storageClass": "", "size": "0", "volumeAccessMode": "a"}]),
            "alice",
            ["DGD-V02 spec.pvcs[0].name", "DGD-V03 spec.pvcs[0].storageClass", "DGD-V04 spec.pvcs[0].size"],
        ),
    ],
)
def test_admission_tells_what_the_specification_says(new: dict[str, Any], user: str, wanted: list[str]) -> None:
    problems = admission(new, old=STORED, user=user, settings=OperatorSettings(profile="0.9-shipped"))
    shown = [problem for problem in problems if problem.rule[:3] in {"DGD", "SVC"}]
    assert told(tuple(shown)) == wanted


def test_validation_tells_more_than_admission_which_stops_early() -> None:
    new = changed({"Decode": {"multinode": {}, "replicas": 9}, "Extra": {}}, backendFramework=None)
    rules = {problem.rule for problem in validate(new, old=STORED, user="alice")}
    assert rules >= {"DGD-U01", "DGD-W01", "DGD-U02", "DGD-U03", "DGD-U04"}


@pytest.mark.parametrize(
    ("user", "is_trusted"),
    [
        ("system:serviceaccount:any:dynamo-platform-dynamo-operator-controller-manager", True),
        ("system:serviceaccount:x:planner-serviceaccount", True),
        ("system:serviceaccount:x:xplanner-serviceaccount", True),
        ("system:serviceaccount:x:dynamo-operator-controller-manager", False),
        ("admin", False),
        ("", False),
        ("system:node:planner-serviceaccount", False),
        ("system:serviceaccount:a:b:planner-serviceaccount", False),
    ],
)
def test_replicas_of_an_adapter_are_for_the_operator_and_planners(user: str, is_trusted: bool) -> None:  # noqa: FBT001
    problems = validate(changed({"Decode": {"replicas": 3}}), old=STORED, user=user)
    assert ("DGD-U04" not in {problem.rule for problem in problems}) is is_trusted


def test_a_resource_that_is_being_deleted_passes_admission() -> None:
    going = changed({"Decode": {"replicas": 3}})
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert admission(going, old=STORED, user="alice") == ()


def test_what_a_schema_refuses_never_reaches_admission() -> None:
    assert told(admission(changed({"Decode": {"replicas": -1}}))) == ["schema/range spec.services.Decode.replicas"]


def test_of_several_services_admission_names_the_first_rule_of_the_first() -> None:
    picker = {"componentType": "epp", "replicas": 2}
    new = changed({"Worker": {"ingress": {"enabled": True}}, "Decode": picker})
    settings = OperatorSettings(profile="0.9-shipped")
    assert told(admission(new, settings=settings)) == ["SVC-V07 spec.services.Decode.replicas"]


def test_admission_knows_what_a_restricted_operator_cannot_do() -> None:
    spec = {"model": "m", "backend": "vllm", "enableGpuDiscovery": True}
    spec["profilingConfig"] = {"profilerImage": "p:1", "config": {}}
    metadata = {"name": "r", "namespace": "team"}
    kind = "DynamoGraphDeploymentRequest"
    request = {"apiVersion": "nvidia.com/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}
    assert told(admission(request)) == []
    restricted = OperatorSettings(restricted_namespace="team")
    assert told(admission(request, settings=restricted)) == ["DGDR-V03 spec.enableGpuDiscovery"]

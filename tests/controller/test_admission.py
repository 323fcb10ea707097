"""What the admission webhook answers to reviews as API servers send them, and to what is none."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dynamo_controller import admission
from dynamo_controller.admission import PATHS, NoReview, Surroundings, Verdict
from dynamo_render import OperatorSettings
from dynamo_render.schemas import kinds
from tests.fakes.stage import graph, worker

Json = dict[str, Any]
ROOT = "/validate-nvidia-com-v1alpha1-"
ALICE = "alice"
NOT_NAMED_LIKE_ONE = "system:serviceaccount:team:planner"
PLANNER = "system:serviceaccount:team:planner-serviceaccount"


def review(resource: Json, old: Json | None = None, *, user: str = ALICE, **more: Any) -> Json:
    """Return the review of a create or, with *old*, of an update."""
    request = {
        "uid": "u-1",
        "kind": {"group": "nvidia.com", "version": "v1alpha1", "kind": resource["kind"]},
        "operation": "CREATE" if old is None else "UPDATE",
        "namespace": "team",
        "userInfo": {"username": user},
        "object": resource,
        "oldObject": old,
        **more,
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


def answered(content: Json, **around: Any) -> Verdict:
    kind = kinds.KINDS[content["request"]["kind"]["kind"]]
    settings = around.pop("settings", OperatorSettings())
    return admission.verdict(admission.request_of(content, kind), Surroundings(settings=settings, **around))


def held(replicas: int) -> Json:
    """Return a graph whose worker belongs to a scaling adapter."""
    return graph(Worker=worker(replicas=replicas, scalingAdapter={"enabled": True}))


def model(**spec: Any) -> Json:
    metadata = {"name": "m", "namespace": "team"}
    spec = {"modelName": "m", "baseModelName": "b", **spec}
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoModel", "metadata": metadata, "spec": spec}


def test_the_paths_are_those_of_the_specification() -> None:
    """operator-config.md section 14.2, in the order of 14.3."""
    assert list(PATHS) == [
        f"{ROOT}dynamocomponentdeployment",
        f"{ROOT}dynamographdeployment",
        f"{ROOT}dynamomodel",
        f"{ROOT}dynamographdeploymentrequest",
    ]


def test_a_valid_graph_is_allowed_without_a_word() -> None:
    assert answered(review(graph())) == Verdict()


def test_a_refusal_names_the_field() -> None:
    refused = answered(review(graph(Worker=worker(ingress={"enabled": True}))))
    assert not refused.is_allowed
    assert refused.message.startswith("spec.services.Worker.ingress.host: ")


def test_warnings_come_with_what_is_allowed() -> None:
    told = answered(review(graph(Worker=worker(dynamoNamespace="old"))))
    assert told.is_allowed
    assert [text.partition(": ")[0] for text in told.warnings] == ["spec.services.Worker.dynamoNamespace"]


def test_every_message_is_one_line() -> None:
    """Warnings travel in HTTP headers."""
    told = answered(review(graph(Worker=worker(dynamoNamespace="old\nname"))))
    assert not any("\n" in text for text in told.warnings)


def test_an_update_is_held_against_what_is_stored() -> None:
    refused = answered(review(graph(Extra=worker()), graph()))
    assert refused.message.startswith("spec.services: ")
    assert "added: Extra" in refused.message


@pytest.mark.parametrize(("user", "is_allowed"), [(ALICE, False), (NOT_NAMED_LIKE_ONE, False), (PLANNER, True)])
def test_only_some_users_change_counts_that_an_adapter_holds(user: str, is_allowed: bool) -> None:  # noqa: FBT001
    assert answered(review(held(2), held(1), user=user)).is_allowed is is_allowed


def test_a_user_who_is_not_named_changes_no_count() -> None:
    assert not answered(review(held(2), held(1), userInfo={})).is_allowed


def test_a_deletion_is_always_allowed() -> None:
    content = review(graph(), operation="DELETE", object=None, oldObject=graph())
    assert answered(content) == Verdict()


def test_a_resource_on_its_way_out_is_let_through_however_invalid() -> None:
    """Otherwise its finalizer could never be removed."""
    going = graph(Worker=worker(replicas=-3))
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert answered(review(going, graph())) == Verdict()


def test_a_namespace_of_another_operator_is_left_to_it() -> None:
    broken = graph(Worker=worker(ingress={"enabled": True}, dynamoNamespace="old"))
    assert answered(review(broken), is_excluded=lambda namespace: namespace == "team") == Verdict()
    assert not answered(review(broken), is_excluded=lambda namespace: namespace == "other").is_allowed


def test_an_endpoint_picker_needs_the_api_that_it_works_with() -> None:
    """SVC-V05: only the webhook asks what the cluster serves."""
    picker = worker(componentType="epp", eppConfig={"configMapRef": {"name": "c", "key": "k"}})
    content = review(graph(Picker=picker))
    assert "inference.networking.k8s.io" in answered(content).message
    served = frozenset(["inference.networking.k8s.io"])
    assert answered(content, groups=lambda: served).is_allowed


def test_a_model_has_rules_too() -> None:
    assert answered(review(model(modelType="lora"))).message.startswith("spec.source")
    assert answered(review(model(baseModelName="c"), model())).message.startswith("spec.baseModelName: ")


def test_a_request_may_not_discover_gpus_in_one_namespace() -> None:
    spec = {"model": "m", "backend": "vllm", "enableGpuDiscovery": True}
    spec["profilingConfig"] = {"profilerImage": "p:1", "config": {}}
    metadata = {"name": "r", "namespace": "team"}
    kind = "DynamoGraphDeploymentRequest"
    content = review({"apiVersion": "nvidia.com/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec})
    assert answered(content).is_allowed
    refused = answered(content, settings=OperatorSettings(restricted_namespace="team"))
    assert refused.message.startswith("spec.enableGpuDiscovery: ")


def test_a_verdict_travels_back_with_the_identity_of_its_request() -> None:
    content = review(graph())
    request = admission.request_of(content, kinds.GRAPH_DEPLOYMENT)
    refused = Verdict(is_allowed=False, message="no", warnings=("w",))
    assert refused.as_review(request) == {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {
            "uid": "u-1",
            "allowed": False,
            "status": {"code": 403, "reason": "Forbidden", "message": "no"},
            "warnings": ["w"],
        },
    }


def test_reviewing_changes_nothing_of_the_review() -> None:
    content = review(held(2), held(1))
    before = copy.deepcopy(content)
    answered(content)
    assert content == before


def without(*path: str) -> Json:
    content: Json = review(graph())
    holder = content
    for step in path[:-1]:
        holder = holder[step]
    del holder[path[-1]]
    return content


def changed(**request: Any) -> Json:
    return review(graph(), **request)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (None, "the body must be an AdmissionReview, not null"),
        ([], "the body must be an AdmissionReview, not a list"),
        ("x", "the body must be an AdmissionReview, not a text"),
        ({}, "the body must be an AdmissionReview of admission.k8s.io/v1, not None None"),
        (graph(), "not nvidia.com/v1alpha1 DynamoGraphDeployment"),
        ({**review(graph()), "apiVersion": "admission.k8s.io/v1beta1"}, "not admission.k8s.io/v1beta1 AdmissionReview"),
        (without("request"), "request: must be an object, not null"),
        (without("request", "uid"), "request.uid: must be a text that is not empty, not null"),
        (changed(uid=""), "request.uid: must be a text that is not empty, not an empty text"),
        (changed(uid=7), "request.uid: must be a text that is not empty, not a number"),
        (without("request", "operation"), "request.operation: must be a text"),
        (without("request", "kind"), "request.kind: must be an object, not null"),
        (changed(kind={"kind": "Pod"}), "request.kind: this path is for nvidia.com/v1alpha1/DynamoGraphDeployment"),
        (without("request", "object"), "request.object: must be an object, not null"),
        (changed(object="graph"), "request.object: must be an object, not a text"),
        (changed(object={"kind": "X"}), "request.object.metadata: must be an object, not null"),
        (changed(operation="UPDATE", oldObject=True), "request.oldObject: must be an object, not a truth value"),
        (without("request", "userInfo"), "request.userInfo: must be an object, not null"),
    ],
)
def test_what_is_no_review_is_told_so(body: Any, message: str) -> None:
    with pytest.raises(NoReview) as told:
        admission.request_of(body, kinds.GRAPH_DEPLOYMENT)
    assert message in str(told.value)

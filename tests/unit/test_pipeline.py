"""The contract of `render` and `needs` that no single room answers for."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dynamo_render import (
    ClusterFacts,
    FactQuery,
    InvalidResource,
    InvalidSettings,
    MissingFacts,
    Observed,
    OperatorSettings,
    RestartStatus,
    needs,
    render,
)
from dynamo_render.errors import field_path

GROVE = ClusterFacts(api_groups=frozenset({"grove.io"}))


def graph(**services: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoGraphDeployment",
        "metadata": {"name": "g", "namespace": "n"},
        "spec": {"services": services},
    }


def service(**fields: Any) -> dict[str, Any]:
    return {"extraPodSpec": {"mainContainer": {"image": "i"}}, **fields}


def paths(refused: InvalidResource) -> set[str]:
    return {field_path(problem.path) for problem in refused.problems if problem.severity == "error"}


@pytest.mark.parametrize(
    ("resource", "path"),
    [
        ([], ""),
        ({}, "kind"),
        ({"kind": "Deployment", "apiVersion": "apps/v1"}, "kind"),
        ({"kind": "DynamoGraphDeploymnt", "apiVersion": "nvidia.com/v1alpha1"}, "kind"),
        ({"kind": "DynamoGraphDeployment"}, "apiVersion"),
        ({"kind": "DynamoGraphDeployment", "apiVersion": "nvidia.com/v1beta1"}, "apiVersion"),
    ],
)
def test_what_is_no_resource_of_ours_is_refused_at_its_kind(resource: Any, path: str) -> None:
    with pytest.raises(InvalidResource) as refused:
        render(resource)
    assert paths(refused.value) == {path}


def test_a_misspelled_kind_names_the_right_one() -> None:
    with pytest.raises(InvalidResource) as refused:
        render({"kind": "DynamoGraphDeploymnt", "apiVersion": "nvidia.com/v1alpha1"})
    assert refused.value.problems[0].hint == "did you mean DynamoGraphDeployment?"


def test_all_problems_come_at_once() -> None:
    broken = graph(A=service(replicas="2", resources={"limits": {"gpu": 1}}), B={"envs": {}, "replicas": -1})
    del broken["metadata"]["name"]
    with pytest.raises(InvalidResource) as refused:
        render(broken)
    assert paths(refused.value) == {
        "metadata.name",
        "spec.services.A.replicas",
        "spec.services.A.resources.limits.gpu",
        "spec.services.B.envs",
        "spec.services.B.replicas",
        "spec.services.B.extraPodSpec.mainContainer.image",
    }


def test_problems_of_the_plan_come_at_once_too() -> None:
    broken = graph(
        A=service(resources={"limits": {"cpu": "many"}}),
        a=service(),
        B=service(multinode={"nodeCount": 2}),
    )
    with pytest.raises(InvalidResource) as refused:
        render(broken)
    assert paths(refused.value) == {
        "spec.services.A.resources.limits.cpu",
        "spec.services.a",
        "spec.services.B.multinode",
    }


def test_problems_of_the_plan_come_with_those_of_the_schema() -> None:
    broken = graph(A=service(replicas="2"), B=service(resources={"limits": {"cpu": "many"}}))
    with pytest.raises(InvalidResource) as refused:
        render(broken)
    assert paths(refused.value) == {"spec.services.A.replicas", "spec.services.B.resources.limits.cpu"}


def test_planning_names_places_as_they_were_given() -> None:
    """It sees a list without the entry that the schema refuses."""
    cache = {"name": "models", "useAsCompilationCache": True}
    broken = graph(A={**service(), "volumeMounts": ["models", cache]})
    with pytest.raises(InvalidResource) as refused:
        render(broken)
    assert paths(refused.value) == {"spec.services.A.volumeMounts[0]", "spec.services.A.volumeMounts[1].mountPoint"}


def test_what_planning_misses_because_it_was_taken_out_is_left_out() -> None:
    """A claim without a name would be no claim."""
    broken = graph(A={**service(), "volumeMounts": [{"name": 1, "mountPoint": "/models"}]})
    with pytest.raises(InvalidResource) as refused:
        render(broken)
    assert [problem.rule for problem in refused.value.problems] == ["schema/type"]


def test_a_missing_fact_does_not_hide_what_is_wrong() -> None:
    broken = graph(A=service(replicas="2"))
    with pytest.raises(InvalidResource) as refused:
        render(broken, facts=ClusterFacts(api_groups=frozenset({"grove.io", "scheduling.run.ai"})))
    assert paths(refused.value) == {"spec.services.A.replicas"}


def test_a_request_that_its_schema_refuses_is_planned_without_its_job() -> None:
    request = {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoGraphDeploymentRequest",
        "metadata": {"name": "n" * 56},
        "spec": {"model": "m", "backend": "vllm", "profilingConfig": 1},
    }
    with pytest.raises(InvalidResource) as refused:
        render(request)
    assert paths(refused.value) == {"spec.profilingConfig", "metadata.name"}


def test_an_unknown_field_is_dropped_with_a_warning_that_names_the_nearest() -> None:
    rendered = render(graph(A=service(replica=2)))
    (warning,) = rendered.warnings
    assert (warning.path, warning.hint) == (("spec", "services", "A", "replica"), "did you mean replicas?")
    assert "replica" not in str(rendered.objects)


def test_an_unknown_profile_is_a_settings_error() -> None:
    with pytest.raises(InvalidSettings):
        render(graph(A=service()), settings=OperatorSettings(profile="1.0"))


def test_a_fact_that_is_needed_and_not_given_is_asked_for() -> None:
    facts = ClusterFacts(api_groups=frozenset({"grove.io", "scheduling.run.ai"}))
    with pytest.raises(MissingFacts) as missing:
        render(graph(A=service()), facts=facts)
    assert missing.value.query == FactQuery(kai_queues=True)


def test_needs_names_the_claims_and_namespaces_of_a_graph() -> None:
    resource = graph(A=service())
    resource["spec"]["pvcs"] = [{"name": "models"}]
    query = needs(resource)
    assert query.claims == {("n", "models")}
    assert query.pull_secret_namespaces == {"n"}
    assert "grove.io" in query.api_groups


def test_needs_asks_for_the_mpi_secret_only_where_mpi_starts() -> None:
    container = {"image": "i", "args": ["python3 -m dynamo.trtllm"]}
    worker = {"componentType": "worker", "extraPodSpec": {"mainContainer": container}}
    assert needs(graph(A=worker)).mpi_secret_namespaces == frozenset()
    assert needs(graph(A={**worker, "multinode": {"nodeCount": 2}})).mpi_secret_namespaces == {"n"}


def test_owners_stand_beside_objects() -> None:
    rendered = render(graph(A=service()))
    owners = {made["kind"]: owner and owner.kind for made, owner in zip(rendered.objects, rendered.owners, strict=True)}
    assert owners["DynamoComponentDeployment"] == "DynamoGraphDeployment"
    assert owners["Deployment"] == "DynamoComponentDeployment"


def test_shared_accounts_have_no_owner() -> None:
    settings = OperatorSettings(planner_cluster_role="p")
    rendered = render(graph(A=service(componentType="planner")), settings=settings)
    owners = {made["metadata"]["name"]: owner for made, owner in zip(rendered.objects, rendered.owners, strict=True)}
    assert owners["planner-serviceaccount"] is None


def test_a_model_of_two_components_has_one_service() -> None:
    served = {"modelRef": {"name": "acme/m"}}
    rendered = render(graph(A=service(**served), B=service(**served)), facts=GROVE)
    names = [made["metadata"]["name"] for made in rendered.objects if made["kind"] == "Service"]
    assert sum(name.startswith("dynamo-model-") for name in names) == 1


def test_rendering_leaves_its_input_alone() -> None:
    resource = graph(A=service(envs=[{"name": "A"}], volumeMounts=[{"name": "c", "mountPoint": "/c"}]))
    before = copy.deepcopy(resource)
    rendered = render(resource)
    assert resource == before
    rendered.objects[0]["metadata"]["name"] = "changed"
    assert resource == before


def test_a_resource_without_a_namespace_is_in_the_default_one() -> None:
    resource = graph(A=service())
    del resource["metadata"]["namespace"]
    assert {made["metadata"]["namespace"] for made in render(resource).objects} == {"default"}


def test_a_placeholder_renders_as_it_is_but_not_in_a_name() -> None:
    resource = graph(A=service(extraPodSpec={"mainContainer": {"image": "${IMAGE}"}}))
    assert "${IMAGE}" in str(render(resource).objects)
    resource["metadata"]["name"] = "${NAME}"
    with pytest.raises(InvalidResource):
        render(resource)


def restart_annotations(rendered: Any) -> dict[str, str | None]:
    (pods,) = (made for made in rendered.objects if made["kind"] == "PodCliqueSet")
    return {
        clique["name"]: clique.get("annotations", {}).get("nvidia.com/restartAt")
        for clique in pods["spec"]["template"]["cliques"]
    }


def test_a_first_pass_restarts_the_first_service_in_order() -> None:
    resource = graph(A=service(), B=service())
    resource["spec"]["restart"] = {"id": "1"}
    assert restart_annotations(render(resource, facts=GROVE)) == {"a": "1", "b": None}


def test_observed_state_carries_a_restart_on() -> None:
    resource = graph(A=service(), B=service())
    resource["spec"]["restart"] = {"id": "2"}
    observed = Observed(
        restart=RestartStatus("2", "Restarting", ("A",)),
        restarted=frozenset({"A"}),
        restart_stamps={"A": "2", "B": "1"},
    )
    assert restart_annotations(render(resource, facts=GROVE, observed=observed)) == {"a": "2", "b": "2"}
    waiting = Observed(restart=RestartStatus("2", "Restarting", ("A",)), restart_stamps={"A": "2", "B": "1"})
    assert restart_annotations(render(resource, facts=GROVE, observed=waiting)) == {"a": "2", "b": "1"}


def test_observed_replicas_are_kept() -> None:
    rendered = render(graph(A=service(replicas=1)), observed=Observed(replicas={"A": 5}))
    (deployment,) = (made for made in rendered.objects if made["kind"] == "Deployment")
    assert deployment["spec"]["replicas"] == 5


def test_live_cliques_keep_their_order() -> None:
    observed = Observed(clique_order=("b", "a"))
    rendered = render(graph(A=service(), B=service(), C=service()), facts=GROVE, observed=observed)
    assert list(restart_annotations(rendered)) == ["b", "a", "c"]


def test_a_component_without_a_graph_brings_its_own_discovery_account() -> None:
    resource = {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoComponentDeployment",
        "metadata": {"name": "alone", "namespace": "n"},
        "spec": service(),
    }
    rendered = render(resource)
    named = {(made["kind"], made["metadata"]["name"]) for made in rendered.objects}
    (deployment,) = (made for made in rendered.objects if made["kind"] == "Deployment")
    account = deployment["spec"]["template"]["spec"]["serviceAccountName"]
    assert ("ServiceAccount", account) in named
    etcd = render(resource, settings=OperatorSettings(discovery_backend="etcd"))
    assert "ServiceAccount" not in {made["kind"] for made in etcd.objects}


VLLM = {"image": "i", "args": ["python3 -m dynamo.vllm"]}
MISMATCH = {"componentType": "worker", "extraPodSpec": {"mainContainer": VLLM}}


def test_own_objects_only_are_those_that_the_graph_owns_or_shares() -> None:
    everything = render(graph(A=service()))
    own = tuple(
        made
        for made, owner in zip(everything.objects, everything.owners, strict=True)
        if owner is None or owner.kind == "DynamoGraphDeployment"
    )
    assert render(graph(A=service()), own_only=True).objects == own
    assert own != everything.objects


def test_what_is_wrong_inside_a_component_is_told_when_its_own_turn_comes() -> None:
    resource = graph(A=service(), B=MISMATCH)
    resource["spec"]["backendFramework"] = "trtllm"
    with pytest.raises(InvalidResource):
        render(resource)
    own = render(resource, own_only=True).objects
    component = next(made for made in own if made["metadata"]["name"] == "g-b")
    with pytest.raises(InvalidResource) as refused:
        render(component)
    assert {problem.rule for problem in refused.value.problems if problem.severity == "error"} == {"CTL-03"}

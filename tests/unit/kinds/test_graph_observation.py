"""What a render is told of live objects, restarts and scaling: controllers-graph.md 9 and 10, row by row."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_render import ClusterFacts, Observed, RestartStatus, render
from dynamo_render.kinds.dynamo_graph_deployment import restart
from dynamo_render.kinds.dynamo_graph_deployment.observation import Scale, observed_from, restart_spec, scale_actions
from dynamo_render.kinds.dynamo_graph_deployment.status import graph_status

GROVE, OURS = "grove.io/v1alpha1", "nvidia.com/v1alpha1"
STAMP = "nvidia.com/restartAt"
Objects = dict[tuple[str, str, str], Any]


def graph(*services: str, status: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": OURS,
        "kind": "DynamoGraphDeployment",
        "metadata": {"name": "g", "namespace": "n", "generation": 1},
        "spec": {"services": {name: {"replicas": 1} for name in services}, **spec},
        "status": status or {},
    }


def wanting(order: list[str] | None = None, kind: str = "Sequential", id: str = "r") -> dict[str, Any]:  # noqa: A002
    return {"id": id, "strategy": {"type": kind, **({"order": order} if order else {})}}


def restarting(*in_progress: str, phase: str = "Restarting", id: str = "r") -> RestartStatus:  # noqa: A002
    return RestartStatus(id, phase, in_progress)


def component(service: str, stamp: str | None = "r", observed: int = 2, available: str = "True") -> Objects:
    status = {"observedGeneration": observed, "conditions": [{"type": "Available", "status": available}]}
    annotations = {} if stamp is None else {STAMP: stamp}
    found = {
        "metadata": {"name": f"g-{service.lower()}", "generation": 2},
        "spec": {"annotations": annotations},
        "status": status,
    }
    return {(OURS, "DynamoComponentDeployment", f"g-{service.lower()}"): found}


def clique_set(stamps: dict[str, str | None], observed: int | None = 2) -> Objects:
    cliques = [
        {
            "name": service.lower(),
            "labels": {"nvidia.com/dynamo-component": service},
            "annotations": {} if stamp is None else {STAMP: stamp},
        }
        for service, stamp in stamps.items()
    ]
    status = {} if observed is None else {"observedGeneration": observed}
    found = {
        "metadata": {"name": "g", "generation": 2},
        "spec": {"template": {"cliques": cliques}},
        "status": status,
    }
    return {(GROVE, "PodCliqueSet", "g"): found}


def clique(service: str, replicas: int = 1, ready: int = 1, kind: str = "PodClique", **metadata: Any) -> Objects:
    status = {
        "observedGeneration": 1,
        "replicas": ready,
        "updatedReplicas": ready,
        "readyReplicas": ready,
        "availableReplicas": ready,
    }
    name = f"g-0-{service.lower()}"
    found = {"metadata": {"name": name, "generation": 1, **metadata}, "spec": {"replicas": replicas}, "status": status}
    return {(GROVE, kind, name): found}


def adapter(service: str, replicas: int, **metadata: Any) -> Objects:
    name = f"g-{service.lower()}"
    spec = {"replicas": replicas, "dgdRef": {"name": "g", "serviceName": service}}
    return {(OURS, "DynamoGraphDeploymentScalingAdapter", name): {"metadata": {"name": name, **metadata}, "spec": spec}}


SERVICES = ("a", "b")


@pytest.mark.parametrize(
    ("wanted", "before", "restarted", "after"),
    [
        pytest.param(None, restarting(phase="Completed"), (), restarting(phase="Completed"), id="10.1/1 completed"),
        pytest.param(None, restarting(phase="Failed"), (), restarting(phase="Failed"), id="10.1/1 failed"),
        pytest.param(None, restarting("a"), (), None, id="10.1/2 forgotten"),
        pytest.param(wanting(), restarting(phase="Completed"), (), restarting(phase="Completed"), id="10.1/3"),
        pytest.param(wanting(), restarting(phase="Failed"), (), restarting(phase="Failed"), id="10.1/3 failed"),
        pytest.param(wanting(kind="Parallel"), None, ("a", "b"), restarting("a", "b"), id="10.2 new and healthy"),
        pytest.param(
            wanting(kind="Parallel"), restarting("a", "b"), ("a",), restarting("b"), id="10.2 those that are left"
        ),
        pytest.param(
            wanting(kind="Parallel"), restarting("b"), ("b",), restarting(phase="Completed"), id="10.2 all are back"
        ),
        pytest.param(
            wanting(kind="Parallel", id="s"),
            restarting("b"),
            ("a", "b"),
            restarting("a", "b", id="s"),
            id="10.2 superseded",
        ),
        pytest.param(wanting(kind="Parallel"), restarting(), ("a",), restarting("b"), id="10.2 in progress was lost"),
        pytest.param(wanting(), None, ("a", "b"), restarting("a"), id="10.3/1 new"),
        pytest.param(wanting(), restarting("b", id="q"), ("a", "b"), restarting("a"), id="10.3/1 superseded"),
        pytest.param(wanting(), restarting(), ("a",), restarting("a"), id="10.3/2"),
        pytest.param(wanting(), restarting("a", "b"), (), restarting("a"), id="10.3/3"),
        pytest.param(wanting(), restarting("a"), ("a",), restarting("b"), id="10.3/4"),
        pytest.param(wanting(["b", "a"]), restarting("b"), ("b",), restarting("a"), id="10.3/4 given order"),
        pytest.param(wanting(), restarting("b"), ("b",), restarting(phase="Completed"), id="10.3/5 last"),
        pytest.param(wanting(), restarting("gone"), (), restarting(phase="Completed"), id="10.3/5 not in order"),
    ],
)
def test_a_restart_moves_on_by_the_first_row_that_fits(
    wanted: dict[str, Any] | None,
    before: RestartStatus | None,
    restarted: tuple[str, ...],
    after: RestartStatus | None,
) -> None:
    spec = restart_spec(graph(*SERVICES, restart=wanted))
    assert restart.next_status(spec, before, frozenset(restarted)) == after


@pytest.mark.parametrize("kind", ["Sequential", "Parallel"])
def test_a_restart_of_no_services_is_complete(kind: str) -> None:
    """10.2 and 10.3, last sentences."""
    spec = restart_spec(graph(restart=wanting(kind=kind)))
    assert restart.next_status(spec, None, frozenset()) == restarting(phase="Completed")


@pytest.mark.parametrize(
    ("wanted", "status", "live", "stamps"),
    [
        pytest.param(wanting(), None, {"a": "q"}, {"a": "q"}, id="10.4/1"),
        pytest.param(None, restarting(phase="Completed"), {}, {"a": "r", "b": "r"}, id="10.4/2"),
        pytest.param(None, RestartStatus("", "Completed"), {"b": "q"}, {"b": "q"}, id="10.4/3"),
        pytest.param(wanting(), restarting(phase="Completed"), {"a": "q"}, {"a": "r", "b": "r"}, id="10.4/4"),
        pytest.param(wanting(kind="Parallel"), restarting("b"), {}, {"a": "r", "b": "r"}, id="10.4/5"),
        pytest.param(
            wanting(), restarting("b", phase="Pending"), {"b": "q"}, {"a": "r", "b": "q"}, id="10.4/6 pending"
        ),
        pytest.param(wanting(), restarting(), {}, {"a": "r"}, id="10.4/6 empty"),
        pytest.param(wanting(), restarting("a"), {"b": "q"}, {"a": "r", "b": "q"}, id="10.4/7 first"),
        pytest.param(wanting(), restarting("b"), {"a": "q"}, {"a": "r", "b": "r"}, id="10.4/7 last"),
        pytest.param(wanting(), restarting("gone"), {"a": "q"}, {"a": "q"}, id="10.4/7 none in order"),
    ],
)
def test_services_whose_turn_has_come_are_stamped_and_others_keep_what_is_live(
    wanted: dict[str, Any] | None, status: RestartStatus | None, live: dict[str, str], stamps: dict[str, str]
) -> None:
    assert restart.stamps(restart_spec(graph(*SERVICES, restart=wanted)), status, live) == stamps


@pytest.mark.parametrize(
    ("objects", "restarted"),
    [
        pytest.param(component("a"), {"a"}, id="10.5 back"),
        pytest.param({}, set(), id="10.5 not found"),
        pytest.param(component("a", observed=1), set(), id="10.5 not processed"),
        pytest.param(component("a", available="False"), set(), id="10.5 not available"),
        pytest.param(component("a", stamp=None), set(), id="10.5 (a) not told yet"),
        pytest.param(component("a", stamp="q"), set(), id="10.5 (a) older restart"),
    ],
)
def test_without_grove_a_service_is_back_when_its_component_is(objects: Objects, restarted: set[str]) -> None:
    assert observed_from(graph(*SERVICES, restart=wanting()), objects, "component").restarted == restarted


TOLD = clique_set({"a": "r", "b": "r"})


@pytest.mark.parametrize(
    ("objects", "restarted"),
    [
        pytest.param(TOLD | clique("a") | clique("b", ready=0), {"a"}, id="10.5 back"),
        pytest.param(clique("a"), set(), id="10.5 no set"),
        pytest.param(clique_set({"a": "r"}, observed=1) | clique("a"), set(), id="10.5 set not processed"),
        pytest.param(clique_set({"a": "r"}, observed=None) | clique("a"), set(), id="10.5 set never processed"),
        pytest.param(TOLD, set(), id="10.5 no clique"),
        pytest.param(clique_set({"a": None, "b": "q"}) | clique("a") | clique("b"), set(), id="10.5 (a) not told"),
    ],
)
def test_on_grove_a_service_is_back_when_the_set_is_processed_and_its_clique_is(
    objects: Objects, restarted: set[str]
) -> None:
    assert observed_from(graph(*SERVICES, restart=wanting()), objects, "grove").restarted == restarted


def test_on_grove_a_service_on_several_nodes_is_back_when_its_scaling_group_is() -> None:
    resource = graph("a", restart=wanting())
    resource["spec"]["services"]["a"]["multinode"] = {"nodeCount": 2}
    told = clique_set({"a": "r"})
    assert observed_from(resource, told | clique("a"), "grove").restarted == set()
    assert observed_from(resource, told | clique("a", kind="PodCliqueScalingGroup"), "grove").restarted == {"a"}


def test_a_service_that_left_the_graph_while_it_restarted_counts_as_back() -> None:
    """10.5 (c)."""
    before = {"restart": {"observedID": "r", "phase": "Restarting", "inProgress": ["a", "gone"]}}
    resource = graph("a", restart=wanting(kind="Parallel"), status=before)
    observed = observed_from(resource, component("a"), "component")
    assert observed.restart == restarting("a", "gone")
    assert restart.next_status(restart_spec(resource), observed.restart, observed.restarted) == restarting(
        phase="Completed"
    )


def test_nothing_is_back_where_no_restart_is_wanted() -> None:
    assert observed_from(graph("a"), component("a"), "component").restarted == set()


def test_live_stamps_are_those_of_cliques_even_empty_ones() -> None:
    """5.1 G1: cliques without the label of a service say nothing."""
    objects = clique_set({"a": "q", "b": "", "c": None})
    (found,) = objects.values()
    found["spec"]["template"]["cliques"].append({"name": "x", "annotations": {STAMP: "q"}})
    assert observed_from(graph(*SERVICES), objects, "grove").restart_stamps == {"a": "q", "b": ""}


def test_live_stamps_are_those_of_components_that_have_one() -> None:
    """5.2 C1."""
    objects = component("a", stamp="q") | component("b", stamp="")
    assert observed_from(graph(*SERVICES), objects, "component").restart_stamps == {"a": "q"}


def test_cliques_are_told_in_their_live_order() -> None:
    assert observed_from(graph(*SERVICES), clique_set({"b": None, "a": None}), "grove").clique_order == ("b", "a")


def test_the_count_of_a_service_with_an_adapter_is_the_adapters() -> None:
    """9.2: neither without `enabled` nor while the adapter goes."""
    resource = graph(*SERVICES, "c")
    resource["spec"]["services"]["a"]["scalingAdapter"] = {"enabled": True}
    resource["spec"]["services"]["c"]["scalingAdapter"] = {"enabled": True}
    gone = adapter("c", 7, deletionTimestamp="2026-01-01T00:00:00Z")
    objects = adapter("a", 5) | adapter("b", 6) | gone
    assert observed_from(resource, objects, "component").replicas == {"a": 5}


@pytest.mark.parametrize(
    ("objects", "actions"),
    [
        pytest.param(clique("a", replicas=2), (Scale("PodClique", "g-0-a", 1),), id="9.1 differs"),
        pytest.param(clique("a"), (), id="9.1 equal"),
        pytest.param({}, (), id="9.1 not found"),
        pytest.param(clique("a", replicas=2, deletionTimestamp="2026-01-01T00:00:00Z"), (), id="9.1 on its way out"),
        pytest.param(
            clique("m", replicas=2, kind="PodCliqueScalingGroup"),
            (Scale("PodCliqueScalingGroup", "g-0-m", 3),),
            id="9.1 several nodes",
        ),
        pytest.param(clique("none", replicas=2), (), id="9.1 no count"),
        pytest.param(clique("held", replicas=2) | adapter("held", 4), (Scale("PodClique", "g-0-held", 4),), id="9.2"),
    ],
)
def test_live_cliques_and_groups_get_the_count_of_their_service(objects: Objects, actions: tuple[Scale, ...]) -> None:
    resource = graph("a", "m", "none", "held")
    resource["spec"]["services"]["m"] = {"replicas": 3, "multinode": {"nodeCount": 2}}
    resource["spec"]["services"]["none"] = {}
    resource["spec"]["services"]["held"] = {"replicas": 1, "scalingAdapter": {"enabled": True}}
    assert scale_actions(resource, objects, "grove") == actions


def test_without_grove_nothing_is_scaled_by_subresource() -> None:
    """9.3."""
    assert scale_actions(graph("a"), clique("a", replicas=2), "component") == ()


def rendered_stamps(resource: dict[str, Any], observed: Observed) -> dict[str, str | None]:
    made = render(resource, facts=ClusterFacts(), observed=observed).objects
    return {
        found["metadata"]["name"]: found["spec"].get("annotations", {}).get(STAMP)
        for found in made
        if found["kind"] == "DynamoComponentDeployment"
    }


def test_a_sequential_restart_goes_through_the_worked_example_pass_by_pass() -> None:
    """18.3: what is observed, what the status tells, and what the render stamps."""
    container = {"mainContainer": {"image": "i"}}
    resource = graph("a", "b", restart={"id": "r"})
    for service in resource["spec"]["services"].values():
        service["extraPodSpec"] = container
    nothing, done = component("a", stamp=None) | component("b", stamp=None), {"observedID": "r", "phase": "Completed"}
    first = {"observedID": "r", "phase": "Restarting", "inProgress": ["a"]}
    second = {"observedID": "r", "phase": "Restarting", "inProgress": ["b"]}
    passes = [
        (nothing, first, "r", None),
        (component("a", observed=1) | component("b", stamp=None), first, "r", None),
        (component("a", available="False") | component("b", stamp=None), first, "r", None),
        (component("a") | component("b", stamp=None), second, "r", "r"),
        (component("a") | component("b"), done, "r", "r"),
    ]
    for objects, told, a, b in passes:
        observed = observed_from(resource, objects, "component")
        resource["status"] = graph_status(resource, objects, observed, "component")
        assert resource["status"]["restart"] == told
        assert rendered_stamps(resource, observed) == {"g-a": a, "g-b": b}
    objects = component("a") | component("b")
    del resource["spec"]["restart"]
    assert rendered_stamps(resource, observed_from(resource, objects, "component")) == {"g-a": "r", "g-b": "r"}
    resource["spec"]["restart"] = {"id": "r2"}
    assert rendered_stamps(resource, observed_from(resource, objects, "component")) == {"g-a": "r2", "g-b": "r"}

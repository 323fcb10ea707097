"""Which objects `--select` takes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dynamo_render.commandline import selection
from dynamo_render.commandline.contract import UsageError
from tests.unit.commandline.conftest import Call

SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "agg-frontend", "namespace": "team-a"},
    "spec": {"selector": {"nvidia.com/dynamo-component": "Frontend"}},
}
CLIQUES = {
    "apiVersion": "grove.io/v1alpha1",
    "kind": "PodCliqueSet",
    "metadata": {"name": "agg", "namespace": "team-a"},
    "spec": {"template": {"cliques": [{"labels": {"nvidia.com/dynamo-component": "Decode"}}]}},
}
INGRESS = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "Ingress",
    "metadata": {"name": "agg-frontend", "namespace": "team-a"},
    "spec": {},
}


@pytest.mark.parametrize(
    ("condition", "taken"),
    [
        ("kind=Service", [SERVICE]),
        ("kind=service", [SERVICE]),
        ("kind=Service|PodCliqueSet", [SERVICE, CLIQUES]),
        ("kind=Service,name=agg", []),
        ("name=agg-frontend", [SERVICE, INGRESS]),
        ("namespace=team-a", [SERVICE, CLIQUES, INGRESS]),
        ("apiVersion=v1", [SERVICE]),
        ("component=Decode", [CLIQUES]),
        ("component=Frontend", [SERVICE, INGRESS]),
        ("component=agg-frontend", [SERVICE, INGRESS]),
        ("kind=Service, component=Frontend", [SERVICE]),
        ("component=Front", []),
    ],
)
def test_a_condition_takes_what_has_its_values(condition: str, taken: list[dict]) -> None:
    wanted = selection.parsed([condition])
    objects = (SERVICE, CLIQUES, INGRESS)
    assert [made for made in objects if wanted.takes(selection.traits_of_object(made, "agg"))] == taken


def test_several_conditions_are_alternatives() -> None:
    wanted = selection.parsed(["kind=Service", "kind=Ingress"])
    taken = [
        made["kind"] for made in (SERVICE, CLIQUES, INGRESS) if wanted.takes(selection.traits_of_object(made, "a"))
    ]
    assert taken == ["Service", "Ingress"]


def test_no_condition_takes_everything() -> None:
    assert selection.parsed([]).takes(selection.traits_of_object(CLIQUES, "agg"))


@pytest.mark.parametrize("condition", ["kin=Service", "kind", "kind=", "", "kind=A,kind=B", "=x"])
def test_what_is_no_condition_is_a_usage_error(condition: str) -> None:
    with pytest.raises(UsageError, match="--select"):
        selection.parsed([condition])


def test_a_pod_is_taken_by_its_component_and_its_workload() -> None:
    pod = {"pod": "agg-0-x", "namespace": "team-a", "component": "Decode", "workload": "PodCliqueSet/agg"}
    traits = selection.traits_of_pod(pod)
    assert all(selection.parsed([text]).takes(traits) for text in ("component=Decode", "kind=Pod", "kind=PodCliqueSet"))
    assert not selection.parsed(["component=Frontend"]).takes(traits)


def test_a_selection_that_takes_nothing_says_so(
    call: Call, write: Callable[[str, str], str], graph: Callable[..., str]
) -> None:
    result = call("render", write("a.yaml", graph()), "--select", "component=Decode")
    assert (result.status, result.out) == (0, "")
    assert result.err == "dynamo-render: note: nothing matches --select\n"

from __future__ import annotations

from dynamo_render.plans.pod import Overrides
from dynamo_render.pods import env
from tests.scopes import component_scope, graph_scope, pod_plan


def entry(name: str, value: str) -> dict[str, str]:
    return {"name": name, "value": value}


def test_later_sources_win_and_names_are_sorted() -> None:
    plan = pod_plan(
        env={"A": "operator", "B": "operator", "C": "operator"},
        field_env={"Z": "metadata.name"},
        main_container=Overrides(content={"env": [entry("B", "container"), entry("C", "container")]}),
        component_env=(entry("C", "component"),),
    )
    assert env.merged(plan) == [
        entry("A", "operator"),
        entry("B", "container"),
        entry("C", "component"),
        {"name": "Z", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
    ]


def test_an_empty_value_is_left_out() -> None:
    assert env.merged(pod_plan(env={"A": "", "B": "0"}, field_env={})) == [{"name": "A"}, entry("B", "0")]


def test_addresses_that_are_not_set_are_no_variables() -> None:
    found = env.planned(component_scope(graph=graph_scope(nats_address="n")), {})
    assert found["NATS_SERVER"] == "n"
    assert not {"ETCD_ENDPOINTS", "MODEL_EXPRESS_URL", "PROMETHEUS_ENDPOINT"} & set(found)


def test_what_a_type_adds_wins_over_the_base_set() -> None:
    assert env.planned(component_scope(), {"DYN_COMPONENT": "x"})["DYN_COMPONENT"] == "x"

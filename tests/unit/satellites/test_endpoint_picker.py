from __future__ import annotations

from dynamo_render.satellites.endpoint_picker import INFERENCE_POOL, PICKER_CONFIG, completed, sorted_keys
from tests.scopes import component_scope, whole_graph

CONFIG = {"plugins": [{"type": "t"}], "schedulingProfiles": []}


def picker(service: str, config: dict | None = None) -> object:
    source = {"config": config} if config else {"configMapRef": {"name": "own", "key": "k"}}
    return component_scope({"componentType": "epp", "eppConfig": source}, service=service)


def test_without_a_picker_there_is_neither_pool_nor_configuration() -> None:
    graph = whole_graph(component_scope({"componentType": "frontend"}))
    assert (list(PICKER_CONFIG.planned(graph)), list(INFERENCE_POOL.planned(graph))) == ([], [])


def test_the_first_of_several_pickers_is_behind_the_pool() -> None:
    graph = whole_graph(picker("A"), picker("B"))  # type: ignore[arg-type]
    (plan,) = INFERENCE_POOL.planned(graph)
    assert (plan.service, plan.labels["nvidia.com/dynamo-component"]) == ("demo-a", "A")


def test_the_configuration_of_the_user_needs_no_config_map() -> None:
    assert list(PICKER_CONFIG.planned(whole_graph(picker("A")))) == []  # type: ignore[arg-type]
    assert len(list(PICKER_CONFIG.planned(whole_graph(picker("A", CONFIG))))) == 1  # type: ignore[arg-type]


def test_kind_and_version_are_not_the_users_choice() -> None:
    found = completed({"kind": "Mine", "apiVersion": "mine/v1"})
    assert (found["kind"], found["plugins"]) == ("EndpointPickerConfig", None)


def test_keys_are_sorted_at_every_level() -> None:
    assert list(sorted_keys([{"b": {"z": 1, "a": 2}, "a": 0}])[0]) == ["a", "b"]
    assert list(sorted_keys({"b": {"z": 1, "a": 2}})["b"]) == ["a", "z"]

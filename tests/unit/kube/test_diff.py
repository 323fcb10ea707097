"""What differs is named by the path that a user would write, and list entries are matched as an apply matches them."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_render.kube import diff, shapes
from dynamo_render.kube.diff import Change, applied, differences
from dynamo_render.kube.shapes import entry

POD = shapes.embedded("core/v1.PodSpec")


def container(**fields: Any) -> dict[str, Any]:
    """Return a pod with one container."""
    return {"containers": [{"name": "main", **fields}]}


def found(old: object, new: object, shape: shapes.Shape = POD) -> list[tuple[str, str]]:
    """Return path and kind of every difference."""
    return [(change.where(), change.kind) for change in differences(old, new, shape)]


def test_the_same_value_has_no_differences() -> None:
    assert differences(container(env=[{"name": "A"}]), container(env=[{"name": "A"}]), POD) == ()


def test_the_order_of_keys_is_no_difference() -> None:
    assert differences({"a": 1, "b": 2}, {"b": 2, "a": 1}) == ()


def test_a_changed_value_has_both_values_and_its_path() -> None:
    assert differences({"a": {"b": 1}}, {"a": {"b": 2}}) == (Change(("a", "b"), "replaced", 1, 2),)


@pytest.mark.parametrize(("old", "new"), [(1, True), (1, 1.0), (0, False), ("1", 1), (None, False), ([], {})])
def test_values_of_different_types_are_different(old: object, new: object) -> None:
    assert found({"a": old}, {"a": new}) == [("a", "replaced")]


def test_added_and_removed_keys_are_told_apart() -> None:
    assert found({"a": 1}, {"b": 1}) == [("a", "removed"), ("b", "added")]


def test_keys_with_dots_and_slashes_are_quoted() -> None:
    assert found({"labels": {"nvidia.com/x": "1"}}, {"labels": {"nvidia.com/x": "2"}}) == [
        ('labels["nvidia.com/x"]', "replaced")
    ]


def test_a_variable_in_front_of_others_is_one_addition() -> None:
    old = container(env=[{"name": "A", "value": "1"}, {"name": "B"}])
    new = container(env=[{"name": "NEW"}, {"name": "A", "value": "2"}, {"name": "B"}])
    assert found(old, new) == [
        ("containers[name=main].env[name=A].value", "replaced"),
        ("containers[name=main].env[name=NEW]", "added"),
    ]


def test_what_is_added_to_a_list_knows_what_it_stands_behind() -> None:
    old, new = (
        container(env=[{"name": "A"}, {"name": "B"}]),
        container(env=[{"name": "A"}, {"name": "N"}, {"name": "B"}]),
    )
    (change,) = differences(old, new, POD)
    assert change.after == entry(name="A")


def test_another_order_of_entries_is_said_to_be_that() -> None:
    """References between variables go by order, so that it is a difference."""
    old, new = container(env=[{"name": "A"}, {"name": "B"}]), container(env=[{"name": "B"}, {"name": "A"}])
    (change,) = differences(old, new, POD)
    assert (change.where(), change.kind) == ("containers[name=main].env", "reordered")
    assert (change.old, change.new) == ((entry(name="A"), entry(name="B")), (entry(name="B"), entry(name="A")))


def test_an_addition_alone_is_no_other_order() -> None:
    old, new = container(env=[{"name": "A"}]), container(env=[{"name": "N"}, {"name": "A"}])
    assert found(old, new) == [("containers[name=main].env[name=N]", "added")]


def test_a_variable_that_is_set_twice_is_matched_by_its_turn() -> None:
    old = container(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "2"}])
    new = container(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "3"}])
    assert found(old, new) == [("containers[name=main].env[name=A #2].value", "replaced")]


@pytest.mark.parametrize(
    ("field", "old", "new", "path"),
    [
        ("volumeMounts", {"mountPath": "/a", "name": "x"}, {"mountPath": "/a", "name": "y"}, "[mountPath=/a].name"),
        (
            "ports",
            {"containerPort": 80, "protocol": "UDP", "name": "x"},
            {"containerPort": 80, "protocol": "UDP", "name": "y"},
            "[containerPort=80,protocol=UDP].name",
        ),
        ("volumeDevices", {"devicePath": "/d", "name": "x"}, {"devicePath": "/d", "name": "y"}, "[devicePath=/d].name"),
    ],
)
def test_lists_of_a_container_go_by_the_keys_of_their_type(field: str, old: object, new: object, path: str) -> None:
    paths = [where for where, _ in found(container(**{field: [old]}), container(**{field: [new]}))]
    assert paths == [f"containers[name=main].{field}{path}"]


def test_a_port_without_a_protocol_is_the_same_as_one_with_the_default() -> None:
    old = container(ports=[{"containerPort": 80}])
    new = container(ports=[{"containerPort": 80, "protocol": "TCP"}])
    assert found(old, new) == [("containers[name=main].ports[containerPort=80,protocol=TCP].protocol", "added")]


@pytest.mark.parametrize("field", ["tolerations", "readinessGates"])
def test_an_atomic_list_is_one_value(field: str) -> None:
    assert found({field: [{"key": "a"}]}, {field: [{"key": "b"}]}) == [(field, "replaced")]


def test_arguments_are_one_value() -> None:
    assert found(container(args=["a", "b"]), container(args=["a", "c"])) == [("containers[name=main].args", "replaced")]


def test_fields_of_a_mapping_that_an_apply_replaces_whole_are_named_all_the_same() -> None:
    assert found({"nodeSelector": {"a": "1"}}, {"nodeSelector": {"a": "2"}}) == [("nodeSelector.a", "replaced")]


def test_a_list_of_an_unknown_kind_goes_by_position() -> None:
    assert found({"x": [{"name": "a"}]}, {"x": [{"name": "b"}, {"name": "a"}]}) == [
        ("x[0].name", "replaced"),
        ("x[1]", "added"),
    ]


def test_entries_that_are_no_mappings_go_by_position_whatever_the_type_says() -> None:
    assert found({"containers": ["a"]}, {"containers": ["b"]}) == [("containers[0]", "replaced")]


def test_applying_differences_changes_neither_side() -> None:
    old, new = container(env=[{"name": "A"}]), container(env=[{"name": "B"}])
    result = applied(old, differences(old, new, POD), POD)
    result["containers"][0]["env"][0]["name"] = "spoiled"
    assert (old, new) == (container(env=[{"name": "A"}]), container(env=[{"name": "B"}]))


def service(name: str, **spec: Any) -> dict[str, Any]:
    """Return a Service."""
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": "n"}, "spec": spec}


def test_objects_are_matched_by_kind_namespace_and_name() -> None:
    changes = diff.object_changes([service("gone"), service("kept", a=1)], [service("new"), service("kept", a=2)])
    assert [(change.identity[3], change.kind) for change in changes] == [
        ("gone", "removed"),
        ("kept", "changed"),
        ("new", "added"),
    ]


def test_an_object_of_another_version_is_another_object() -> None:
    old, new = service("x"), {**service("x"), "apiVersion": "v2"}
    assert [change.kind for change in diff.object_changes([old], [new])] == ["removed", "added"]


def test_equal_objects_are_not_mentioned() -> None:
    assert diff.object_changes([service("a"), service("b")], [service("b"), service("a")]) == ()


def test_ports_of_a_service_go_by_port_and_protocol() -> None:
    old = service("x", ports=[{"port": 80, "name": "a"}, {"port": 81}])
    new = service("x", ports=[{"port": 81}, {"port": 80, "name": "b"}])
    (change,) = diff.object_changes([old], [new])
    assert [(one.where(), one.kind) for one in change.changes] == [
        ("spec.ports", "reordered"),
        ("spec.ports[port=80,protocol=TCP].name", "replaced"),
    ]


def test_a_given_shape_says_how_lists_of_its_kind_go() -> None:
    old, new = service("x", parts=[{"id": 1}]), service("x", parts=[{"id": 2}, {"id": 1}])
    known = {("", "Service"): shapes.within(spec=shapes.within(parts=shapes.listed("id")))}
    (change,) = diff.object_changes([old], [new], known)
    assert [one.where() for one in change.changes] == ["spec.parts[id=2]"]

"""Laws of differences: nothing between equal values, and applying what was found leads to the other value."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dynamo_render.kube import shapes
from dynamo_render.kube.diff import applied, differences, object_changes, same

SCALARS = (
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, 1.5]) | st.sampled_from(["", "a", "b"])
)
KEYS = st.sampled_from(["a", "b", "name", "env", "ports", "containers", "args"])
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)

VARIABLES = st.lists(
    st.fixed_dictionaries({"name": st.sampled_from(["A", "B", "C", "D"])}, optional={"value": SCALARS}), max_size=6
)
PORTS = st.lists(
    st.fixed_dictionaries({}, optional={"containerPort": SCALARS, "protocol": st.sampled_from(["TCP", "UDP"])}),
    max_size=4,
)
CONTAINERS = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["main", "side", "init"])},
        optional={"env": VARIABLES | JSON, "ports": PORTS, "args": st.lists(SCALARS, max_size=3), "x": JSON},
    ),
    max_size=4,
)
PODS = st.fixed_dictionaries(
    {"containers": CONTAINERS},
    optional={"nodeSelector": JSON, "tolerations": JSON, "initContainers": CONTAINERS, "imagePullSecrets": JSON},
)
POD = shapes.embedded("core/v1.PodSpec")


def canonical(value: object) -> str:
    """Return a text that is the same exactly for the same JSON value."""
    return json.dumps(value, sort_keys=True)


@given(PODS)
def test_a_pod_does_not_differ_from_itself(pod: dict[str, Any]) -> None:
    assert differences(pod, json.loads(json.dumps(pod)), POD) == ()


@given(PODS, PODS)
def test_applying_the_differences_of_two_pods_gives_the_other(old: dict[str, Any], new: dict[str, Any]) -> None:
    before = canonical(old)
    assert canonical(applied(old, differences(old, new, POD), POD)) == canonical(new)
    assert canonical(old) == before


@given(JSON, JSON)
def test_applying_the_differences_of_any_values_gives_the_other(old: object, new: object) -> None:
    assert canonical(applied(old, differences(old, new))) == canonical(new)


@given(JSON, JSON)
def test_there_are_differences_exactly_between_values_that_are_not_the_same(old: object, new: object) -> None:
    assert same(old, new) == (canonical(old) == canonical(new)) == (not differences(old, new))


@given(VARIABLES, st.randoms(use_true_random=False))
def test_entries_in_another_order_are_neither_added_nor_removed(variables: list[Any], random: Any) -> None:
    """Whatever becomes of entries that are there twice, none is lost or found."""
    shuffled = random.sample(variables, len(variables))
    old, new = ({"containers": [{"name": "main", "env": env}]} for env in (variables, shuffled))
    assert {change.kind for change in differences(old, new, POD)} <= {"reordered", "replaced"} | (
        {"added", "removed"} if len({item["name"] for item in variables}) < len(variables) else set()
    )


@given(st.dictionaries(st.sampled_from("abcd"), JSON), st.dictionaries(st.sampled_from("abcd"), JSON))
def test_every_object_is_equal_changed_added_or_removed(old: dict[str, Any], new: dict[str, Any]) -> None:
    before, after = ({name: made(name, spec) for name, spec in side.items()} for side in (old, new))
    kinds = {change.identity[3]: change.kind for change in object_changes(before.values(), after.values())}
    assert kinds == {
        name: "added" if name not in old else "removed" if name not in new else "changed"
        for name in {**old, **new}
        if name not in old or name not in new or canonical(old[name]) != canonical(new[name])
    }


def made(name: str, spec: object) -> dict[str, Any]:
    """Return an object."""
    return {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": name}, "spec": spec}

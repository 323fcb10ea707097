"""Whether an apply is needed, row by row, on records of fields as an API server keeps them."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dynamo_controller.fields import needs_apply, without_emptied

Json = dict[str, Any]

PORT = 'k:{"containerPort":8000,"protocol":"TCP"}'


def wanted() -> Json:
    container = {
        "name": "main",
        "image": "a",
        "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}],
        "ports": [{"containerPort": 8000}],
        "resources": {"limits": {"cpu": "1000m"}},
        "args": ["--a", "--b"],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "n", "labels": {"app": "d"}},
        "spec": {"replicas": 1, "template": {"spec": {"containers": [container], "tolerations": []}}},
    }


def managed() -> Json:
    env: dict[str, Json] = {
        'k:{"name":"X"}': {".": {}, "f:name": {}, "f:value": {}},
        'k:{"name":"Y"}': {".": {}, "f:name": {}, "f:value": {}},
    }
    container = {
        ".": {},
        "f:name": {},
        "f:image": {},
        "f:args": {},
        "f:env": env,
        "f:ports": {PORT: {".": {}, "f:containerPort": {}}},
        "f:resources": {"f:limits": {"f:cpu": {}}},
    }
    pod = {"f:containers": {'k:{"name":"main"}': container}}
    return {"f:metadata": {"f:labels": {"f:app": {}}}, "f:spec": {"f:replicas": {}, "f:template": {"f:spec": pod}}}


def live() -> Json:
    """What the server makes of it: defaults are filled in, amounts are rewritten, what is empty is left out."""
    stored = copy.deepcopy(wanted())
    pod = stored["spec"]["template"]["spec"]
    del pod["tolerations"]
    pod["restartPolicy"] = "Always"
    (container,) = pod["containers"]
    container |= {"imagePullPolicy": "Always", "ports": [{"containerPort": 8000, "protocol": "TCP"}]}
    container["resources"] = {"limits": {"cpu": "1"}}
    stored["metadata"] |= {"uid": "u", "annotations": {"theirs": "x"}}
    stored["metadata"]["managedFields"] = [
        {"manager": "dynamo-controller", "operation": "Apply", "fieldsV1": managed()}
    ]
    return stored


def container_of(content: Json) -> Json:
    found: Json = content["spec"]["template"]["spec"]["containers"][0]
    return found


def test_what_the_server_has_filled_in_and_rewritten_is_no_difference() -> None:
    assert not needs_apply(wanted(), live())


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("image", "b"),
        ("args", ["--b", "--a"]),
        ("args", ["--a"]),
        ("args", ["--a", "--b", "--c"]),
        ("env", [{"name": "X", "value": "1"}, {"name": "Y", "value": "3"}]),
        ("env", [{"name": "Y", "value": "2"}, {"name": "X", "value": "1"}]),
        ("env", [{"name": "X", "value": "1"}]),
        ("env", [{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}, {"name": "Z", "value": "3"}]),
        ("resources", {"limits": {"cpu": "2"}}),
        ("resources", {}),
        ("ports", [{"containerPort": 8001}]),
        ("stdin", True),
    ],
)
def test_a_different_wish_needs_an_apply(path: str, value: Any) -> None:
    content = wanted()
    container_of(content)[path] = value
    assert needs_apply(content, live())


@pytest.mark.parametrize("path", ["image", "args", "env", "resources", "ports"])
def test_a_wish_that_is_no_longer_there_needs_an_apply(path: str) -> None:
    content = wanted()
    del container_of(content)[path]
    assert needs_apply(content, live())


def test_what_others_have_added_needs_none() -> None:
    stored = live()
    container_of(stored)["env"].append({"name": "INJECTED", "value": "x"})
    stored["spec"]["template"]["spec"]["containers"].append({"name": "sidecar"})
    assert not needs_apply(wanted(), stored)


def test_a_label_that_somebody_has_changed_needs_one() -> None:
    stored = live()
    stored["metadata"]["labels"] = {"app": "other"}
    assert needs_apply(wanted(), stored)


def test_a_missing_owner_needs_one() -> None:
    content = wanted()
    content["metadata"]["ownerReferences"] = [{"uid": "o", "kind": "K", "name": "k", "controller": True}]
    assert needs_apply(content, live())


def test_an_empty_value_is_no_wish_in_plain_kubernetes_and_one_in_a_custom_resource() -> None:
    content, stored = wanted(), live()
    content["spec"]["paused"] = False
    assert not needs_apply(content, stored)
    for each in (content, stored):
        each["apiVersion"] = "nvidia.com/v1alpha1"
    stored["spec"]["template"]["spec"]["tolerations"] = []
    assert needs_apply(content, stored)


def test_true_is_not_one() -> None:
    content, stored = wanted(), live()
    content["spec"]["replicas"] = True
    assert needs_apply(content, stored)


def emptied(**record: Json) -> Json:
    """Return a live object whose volume and map we have filled, with our *record* of it."""
    metadata = {"managedFields": [{"manager": "dynamo-controller", "operation": "Apply", "fieldsV1": record}]}
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": "X", "metadata": metadata}


def test_a_map_that_we_have_filled_and_want_empty_is_left_out_first() -> None:
    """Kubernetes makes null of a map that loses its last field to an apply, and custom resources refuse that."""
    record: Json = {"f:spec": {"f:scalingAdapter": {"f:enabled": {}}, "f:replicas": {}}}
    wanted = {"metadata": {}, "spec": {"replicas": 1, "scalingAdapter": {}}}
    assert without_emptied(wanted, emptied(**record)) == {"metadata": {}, "spec": {"replicas": 1}}


def test_a_map_inside_a_list_is_found_by_the_keys_of_its_entry() -> None:
    record: Json = {"f:volumes": {'k:{"name":"b"}': {".": {}, "f:name": {}, "f:emptyDir": {"f:medium": {}}}}}
    wanted = {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "b", "emptyDir": {}}]}
    assert without_emptied(wanted, emptied(**record)) == {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "b"}]}


def test_a_map_that_was_empty_before_needs_no_detour() -> None:
    wanted = {"spec": {"scalingAdapter": {}, "filled": {"a": 1}}}
    record: Json = {"f:spec": {"f:scalingAdapter": {}, "f:filled": {"f:a": {}}}}
    assert without_emptied(wanted, emptied(**record)) is None

"""Whether an apply is needed, row by row, on records of fields as an API server keeps them."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dynamo_controller.fields import emptied, needs_apply
from tests.fakes import managed_fields

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


def applied(spec: Json) -> Json:
    """Return an object as a server stores it after we have applied it."""
    content: Json = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}
    fields_v1 = managed_fields.record(managed_fields.paths(content))
    entry = {"manager": "dynamo-controller", "operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": fields_v1}
    return copy.deepcopy({**content, "metadata": {"name": "d", "managedFields": [entry]}})


def test_what_an_emptied_mapping_held_of_ours_has_to_go_first() -> None:
    live = applied({"ingress": {"enabled": True, "host": "chat"}, "replicas": 1})
    live["spec"]["ingress"]["theirs"] = "kept"
    wanted = {**live, "spec": {"ingress": {}, "replicas": 1}}
    assert sorted(emptied(wanted, live)) == [("spec", "ingress", "enabled"), ("spec", "ingress", "host")]


def test_a_mapping_inside_a_list_is_found_where_the_live_list_has_it() -> None:
    live = applied({"volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}]})
    live["spec"]["volumes"].insert(0, {"name": "theirs", "hostPath": {"path": "/"}})
    wanted = {**live, "spec": {"volumes": [{"name": "shm", "emptyDir": {}}]}}
    assert emptied(wanted, live) == (("spec", "volumes", 1, "emptyDir", "medium"),)


def test_nothing_has_to_go_for_what_is_left_out_or_was_empty_before() -> None:
    live = applied({"ingress": {"enabled": True}, "resources": {}})
    assert emptied({**live, "spec": {"resources": {}}}, live) == ()

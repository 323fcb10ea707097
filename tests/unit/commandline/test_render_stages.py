"""`render` for resources that live through stages: live objects, and the status that comes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dynamo_render import read_documents, write_documents
from tests.request_passes import Json, generated, in_state, job, output, request, role
from tests.unit.commandline.conftest import Call

Write = Callable[[str, str], str]
ROLE = ("--profiling-cluster-role", "prof")


@pytest.fixture
def file(write: Write) -> Callable[..., str]:
    """Return what writes objects to a file and returns its name."""
    return lambda name, *objects: write(name, write_documents(objects))


def documents(text: str) -> list[Any]:
    return list(read_documents(text))


def written(**spec: Any) -> Json:
    resource = request(**spec)
    return {**resource, "metadata": {"name": "tiny", "namespace": "team"}}


def test_the_status_of_a_request_is_what_it_comes_to_by_itself(call: Call, file: Callable[..., str]) -> None:
    (shown,) = documents(call("render", file("a.yaml", written()), "--status", *ROLE).out)
    assert shown["status"]["state"] == "Profiling"
    assert shown["metadata"] == {"name": "tiny", "namespace": "team"}


def test_an_invalid_request_has_failed_in_its_status(call: Call, file: Callable[..., str]) -> None:
    (shown,) = documents(call("render", file("a.yaml", written(profilerImage="")), "--status", *ROLE).out)
    assert shown["status"]["state"] == "Failed"


def test_live_objects_lead_a_request_to_its_graph(call: Call, file: Callable[..., str]) -> None:
    live = file("live.yaml", job("Complete"), output())
    result = call("render", file("a.yaml", written(autoApply=True)), "--observed", live, "-o", "name", *ROLE)
    assert result.out.split() == ["configmap/planner-profile-data", "dynamographdeployment.nvidia.com/tiny"]
    assert result.status == 0


def test_live_objects_may_come_as_a_list(call: Call, file: Callable[..., str]) -> None:
    live = file("live.yaml", {"apiVersion": "v1", "kind": "List", "items": [job("Complete"), output()]})
    (shown,) = documents(call("render", file("a.yaml", written()), "--observed", live, "--status", *ROLE).out)
    assert shown["status"]["state"] == "Ready"


def test_what_is_not_among_the_live_objects_does_not_exist(call: Call, file: Callable[..., str]) -> None:
    live = file("live.yaml", role())
    resource = file("a.yaml", in_state("Profiling"))
    (shown,) = documents(call("render", resource, "--observed", live, "--status", *ROLE).out)
    assert shown["status"]["conditions"][-1]["message"] == 'Job.batch "profile-tiny" not found'


def test_nothing_that_is_made_is_said(call: Call, file: Callable[..., str]) -> None:
    result = call("render", file("a.yaml", in_state("Failed")), "--observed", file("live.yaml", role()), *ROLE)
    assert (result.status, result.out) == (0, "")
    assert "nothing is made now" in result.err


def test_a_graph_has_no_stages(call: Call, file: Callable[..., str]) -> None:
    result = call("render", file("a.yaml", generated("g", namespace="team")), "--status")
    assert result.status == 1
    assert "other kinds have no stages" in result.err


@pytest.mark.parametrize("metadata", [None, [], {"name": 3}, {}])
def test_a_request_without_a_name_is_refused(call: Call, file: Callable[..., str], metadata: Any) -> None:
    result = call("render", file("a.yaml", {**written(), "metadata": metadata}), "--status", *ROLE)
    assert result.status == 1
    assert "metadata.name" in result.err


def test_a_request_whose_status_is_none_is_refused(call: Call, file: Callable[..., str]) -> None:
    result = call("render", file("a.yaml", {**written(), "status": "Ready"}), "--status", *ROLE)
    assert (result.status, "must be object" in result.err) == (1, True)


def test_all_live_objects_that_are_none_are_named_where_they_stand(call: Call, file: Callable[..., str]) -> None:
    nameless = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": ["p"]}}
    live = file("live.yaml", {"apiVersion": "v1", "kind": "List", "items": [5, role(), {"kind": "Job"}, nameless]})
    result = call("render", file("a.yaml", written()), "--observed", live, "--status", *ROLE)
    lines = [line.split(": ") for line in result.err.splitlines()]
    assert [(rule, path) for _place, rule, path, *_ in lines] == [
        ("input/object", "items[0]"),
        ("input/object", "items[2]"),
        ("input/object", "items[3]"),
    ]
    assert all(place.startswith("live.yaml:") for place, *_ in lines)
    assert (result.status, result.out) == (1, "")


def test_a_status_has_no_pods(call: Call, file: Callable[..., str]) -> None:
    result = call("render", file("a.yaml", written()), "--status", "--pods")
    assert (result.status, result.out) == (2, "")
    assert "--status and --pods show different things" in result.err

"""The schemas of emitted objects refuse what their kinds do not allow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests import output_schemas

Json = dict[str, Any]

POD: Json = {"containers": [{"name": "main", "resources": {}}]}


def _framed(api_version: str, kind: str, spec: Json) -> Json:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "demo", "namespace": "team"}, "spec": spec}


def _clique_set(**changes: Any) -> Json:
    spec = {"roleName": "worker", "replicas": 1, "minAvailable": 1, "podSpec": POD} | changes
    clique = {"name": "worker", "spec": spec}
    return _framed("grove.io/v1alpha1", "PodCliqueSet", {"replicas": 1, "template": {"cliques": [clique]}})


def _deployment(**pod: Any) -> Json:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": POD | pod}
    return _framed("apps/v1", "Deployment", {"selector": {"matchLabels": {"a": "b"}}, "template": template})


@pytest.mark.parametrize("made", [_clique_set(), _deployment()], ids=["add-on", "built-in"])
def test_a_right_object_has_no_problem(made: Json) -> None:
    assert output_schemas.problems(made) == []


@pytest.mark.parametrize(
    "made",
    [
        _clique_set(roles="worker"),
        _clique_set(replicas="1"),
        _clique_set(podSpec={}),
        _clique_set(podSpec=POD | {"hostnetwork": True}),
        _clique_set(startsAfter=None),
        _deployment(volumes=[{"emptyDir": {}}]),
        _deployment(nodeName=None),
        _framed("scheduling.volcano.sh/v1beta1", "PodGroup", {"minMember": 2}) | {"status": {}},
    ],
    ids=[
        "unknown-key",
        "wrong-type",
        "missing-key",
        "unknown-key-in-a-pod",
        "null-in-an-add-on",
        "missing-key-in-a-pod",
        "null-in-a-pod",
        "status",
    ],
)
def test_a_wrong_object_has_a_problem(made: Json) -> None:
    assert output_schemas.problems(made) != []


def test_an_illegal_label_in_the_metadata_of_an_add_on_is_a_problem() -> None:
    made = _clique_set()
    made["metadata"]["labels"] = {"a": "not legal"}
    assert output_schemas.problems(made) != []


def test_two_volumes_of_one_name_are_a_repeated_entry() -> None:
    volumes = [{"name": "data", "emptyDir": {}}, {"name": "data", "emptyDir": {}}]
    assert output_schemas.repeated_entries(_deployment(volumes=volumes)) != []


def test_two_ports_of_one_number_but_another_protocol_are_no_repeated_entry() -> None:
    ports = [{"containerPort": 53}, {"containerPort": 53, "protocol": "UDP"}]
    containers = [{"name": "main", "ports": ports}]
    assert output_schemas.repeated_entries(_deployment(containers=containers)) == []


def test_an_object_of_an_unknown_kind_is_an_error() -> None:
    with pytest.raises(output_schemas.UnknownKind):
        output_schemas.problems(_framed("example.com/v1", "Thing", {}))


@pytest.mark.parametrize("path", sorted(output_schemas.ADD_ONS.glob("*.json")), ids=lambda path: path.stem)
def test_every_schema_of_our_own_is_a_json_schema(path: Path) -> None:
    Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))

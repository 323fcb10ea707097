from __future__ import annotations

from typing import Any

import pytest

from dynamo_render.plans.pod import Overrides
from dynamo_render.pods import overrides
from tests.scopes import component_scope, graph_scope

BASE = {"command": ["python3"], "livenessProbe": {"httpGet": {"path": "/live", "port": "http"}, "periodSeconds": 5}}
OWN = {"exec": {"command": ["true"]}}


def merged(content: dict[str, Any], profile: str) -> dict[str, Any]:
    spec = {"extraPodSpec": {"mainContainer": content}}
    planned = overrides.planned_container(component_scope(spec, graph=graph_scope(profile=profile)))
    return overrides.merged(BASE, planned)


@pytest.mark.parametrize(
    ("profile", "probe"),
    [("0.9", OWN), ("0.9-shipped", {**BASE["livenessProbe"], **OWN})],  # type: ignore[dict-item]
)
def test_a_probe_replaces_the_default_or_is_merged_into_it(profile: str, probe: dict[str, Any]) -> None:
    assert merged({"livenessProbe": OWN}, profile)["livenessProbe"] == probe


@pytest.mark.parametrize("profile", ["0.9", "0.9-shipped"])
def test_a_startup_probe_replaces_whole_in_every_profile(profile: str) -> None:
    assert merged({"startupProbe": OWN}, profile)["startupProbe"] == OWN


@pytest.mark.parametrize(("profile", "stays"), [("0.9", False), ("0.9-shipped", True)])
def test_an_explicit_empty_list_clears_a_default_or_counts_as_not_given(profile: str, *, stays: bool) -> None:
    assert ("command" in merged({"command": []}, profile)) == stays


@pytest.mark.parametrize("profile", ["0.9", "0.9-shipped"])
def test_the_name_is_never_cleared_and_env_is_left_to_its_own_layer(profile: str) -> None:
    base = {"name": "main"}
    spec = {"extraPodSpec": {"mainContainer": {"name": "", "env": [{"name": "A"}]}}}
    planned = overrides.planned_container(component_scope(spec, graph=graph_scope(profile=profile)))
    assert overrides.merged(base, planned) == base


def test_merging_leaves_base_and_content_as_they_are() -> None:
    base, content = {"args": ["a"], "name": "main"}, {"args": ["b"]}
    overrides.merged(base, Overrides(content=content))
    assert (base, content) == ({"args": ["a"], "name": "main"}, {"args": ["b"]})

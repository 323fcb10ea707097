"""The table of a room names its entries without loading them."""

from __future__ import annotations

import subprocess
import sys

import pytest

import dynamo_render
from dynamo_render.room import Room

TABLE: Room[str, str] = Room({"digits": "string:digits", "gone": "string:gone", "lost": "dynamo_render.lost:IT"})


def test_names_are_known_before_entries_are_loaded() -> None:
    assert list(TABLE) == ["digits", "gone", "lost"]
    assert len(TABLE) == 3
    assert "lost" in TABLE


def test_an_entry_is_what_its_module_calls_so() -> None:
    assert TABLE["digits"] == "0123456789"


def test_an_unknown_name_is_no_entry() -> None:
    assert "other" not in TABLE
    assert TABLE.get("other") is None
    with pytest.raises(KeyError):
        TABLE["other"]


@pytest.mark.parametrize(("name", "error"), [("gone", AttributeError), ("lost", ModuleNotFoundError)])
def test_an_entry_that_is_not_there_is_no_missing_name(name: str, error: type[Exception]) -> None:
    """A KeyError would make it look as if users had written a wrong name."""
    with pytest.raises(error):
        TABLE[name]


@pytest.mark.parametrize("name", dynamo_render.__all__)
def test_every_public_name_is_found_when_asked_for(name: str) -> None:
    assert getattr(dynamo_render, name).__name__ == name
    assert name in dir(dynamo_render)


def test_the_library_has_no_other_names() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'rendered'"):
        dynamo_render.rendered  # noqa: B018


def test_importing_the_library_loads_none_of_its_rooms() -> None:
    program = "import dynamo_render, sys; sys.exit(any(name.startswith('dynamo_render.') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_graph_of_deployments_loads_no_other_workload() -> None:
    program = (
        "import dynamo_render, sys; dynamo_render.render({'apiVersion': 'nvidia.com/v1alpha1', 'kind': "
        "'DynamoGraphDeployment', 'metadata': {'name': 'g'}, 'spec': {'services': {'F': {'componentType': 'frontend', "
        "'replicas': 1, 'extraPodSpec': {'mainContainer': {'image': 'a'}}}}}});"
        "sys.exit(any(f'dynamo_render.{name}' in sys.modules for name in "
        "('backends.trtllm', 'workloads.profiling_job', 'kinds.dynamo_graph_deployment_request', 'kube.shapes')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

"""A kind is found by every name that kubectl takes, and rendering does not load schemas."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dynamo_render.schemas import kinds


@pytest.mark.parametrize(
    "word", ["DynamoGraphDeployment", "dynamographdeployments", "dynamographdeployment", "dgd", "DGD"]
)
def test_a_kind_is_found_by_kind_plural_singular_and_short_name(word: str) -> None:
    assert kinds.find(word) == kinds.GRAPH_DEPLOYMENT


def test_the_group_may_follow_the_plural() -> None:
    assert kinds.find("dynamomodels.nvidia.com") == kinds.MODEL


def test_another_word_finds_nothing() -> None:
    assert kinds.find("pods") is None


def test_importing_the_package_loads_no_schema() -> None:
    """They would cost a cold start several milliseconds."""
    program = "import sys, dynamo_render; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    rare = ("schemas", "spec.request", "spec.scaling_adapter", "spec.model", "spec.worker_metadata", "spec.status")
    assert [name for name in rare if f"dynamo_render.{name}" in loaded] == []

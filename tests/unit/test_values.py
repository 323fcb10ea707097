"""Frozen values compare, hash and show themselves by their fields."""

from __future__ import annotations

import attrs
import pytest

from dynamo_render import NodeShape, Problem
from dynamo_render.plans.launch import LaunchPlan


def test_values_with_equal_fields_are_equal_and_hash_alike() -> None:
    first, second = NodeShape(count=2), NodeShape(count=2)
    assert first == second
    assert hash(first) == hash(second)
    assert first != NodeShape(count=3)
    assert first != LaunchPlan("vllm")


def test_a_value_shows_its_fields() -> None:
    assert repr(NodeShape(count=2)).startswith("NodeShape(count=2, gpus=0")


def test_a_value_cannot_be_changed() -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        NodeShape().count = 3  # type: ignore[misc]


def test_a_problem_reads_as_rule_path_and_message() -> None:
    problem = Problem("SVC-V03", ("spec", "services", "A b", "volumeMounts", 0, "mountPoint"), "is required")
    assert str(problem) == 'SVC-V03: spec.services["A b"].volumeMounts[0].mountPoint: is required'

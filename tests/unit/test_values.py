"""Frozen values compare, hash and show themselves by their fields."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import attrs
import pytest

from dynamo_render import NodeShape, Problem
from dynamo_render.plans.launch import LaunchPlan
from dynamo_render.values import Value, frozen


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


def test_the_fields_of_a_class_are_not_those_of_its_base() -> None:
    base, derived = _classes()
    assert [field.name for field in attrs.fields(derived)] == ["first", "second", "third"]
    assert [field.name for field in attrs.fields(base)] == ["first", "second"]


def test_the_first_value_of_a_derived_class_has_all_fields() -> None:
    _base, derived = _classes()
    assert attrs.asdict(derived(1, third=3)) == {"first": 1, "second": 2, "third": 3}


def test_a_class_without_values_is_an_attrs_class() -> None:
    base, _derived = _classes()
    assert attrs.has(base)


def test_fields_are_taken_by_name_only_where_the_class_says_so() -> None:
    _base, derived = _classes()
    with pytest.raises(TypeError, match="positional"):
        derived(1, 2, 3)


def test_a_wrong_first_value_is_a_type_error() -> None:
    base, _derived = _classes()
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        base(first=1, other=2)


def test_threads_may_make_the_first_values_at_once() -> None:
    for _round in range(20):
        base, _derived = _classes()
        with ThreadPoolExecutor(4) as threads:
            made = list(threads.map(base, range(4)))
        assert [attrs.asdict(value) for value in made] == [{"first": number, "second": 2} for number in range(4)]


def _classes() -> tuple[type, type]:
    """Return two value classes of which nothing has been asked yet."""

    @frozen
    class Base(Value):
        first: int
        second: int = 2

    @frozen(kw_only=True)
    class Derived(Base):
        third: int = attrs.field(default=0)

    return Base, Derived

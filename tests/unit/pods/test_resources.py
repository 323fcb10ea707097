from __future__ import annotations

import pytest

from dynamo_render.plans.pod import ResourcePlan
from dynamo_render.pods import resources
from tests.scopes import component_scope


def test_amounts_lie_over_what_is_present_name_by_name() -> None:
    plan = ResourcePlan(limits={"cpu": "1"}, requests={}, claims=({"name": "b"},))
    present = {"limits": {"cpu": "9", "memory": "1Gi"}, "claims": [{"name": "a"}]}
    assert resources.overlaid(present, plan) == {
        "limits": {"cpu": "1", "memory": "1Gi"},
        "claims": [{"name": "a"}, {"name": "b"}],
    }
    assert present["limits"] == {"cpu": "9", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("text", "bits", "count"),
    [
        ("8", 64, 8),
        ("+8", 64, 8),
        ("-8", 64, -8),
        ("08", 64, 8),
        ("8.0", 64, None),
        ("8k", 64, None),
        (" 8", 64, None),
        ("", 64, None),
        (None, 64, None),
        ("2147483648", 32, None),
        ("2147483648", 64, 2147483648),
    ],
)
def test_gpus_count_for_a_launch_if_they_are_an_integer(text: str | None, bits: int, count: int | None) -> None:
    assert resources.whole_gpus(text, bits) == count


def test_every_wrong_quantity_is_reported_with_its_path() -> None:
    scope = component_scope({"resources": {"limits": {"cpu": "x"}, "requests": {"custom": {"a": "y"}}}})
    resources.planned(scope)
    assert [problem.path[3:] for problem in scope.graph.problems] == [
        ("resources", "limits", "cpu"),
        ("resources", "requests", "custom", "a"),
    ]


def test_nothing_is_planned_without_resources() -> None:
    assert resources.planned(component_scope()) is None

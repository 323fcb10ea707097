"""The values that state machines and their shells exchange."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_render import InvalidResource, Lookup, Outcome, Seen, advance
from dynamo_render.kinds.shared.machine import Annotate, Step


def live(name: str = "a", namespace: str = "team", **labels: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}


def test_a_lookup_by_name_takes_the_object_of_that_name_only() -> None:
    lookup = Lookup("v1", "Pod", "team", "a")
    assert lookup.takes(live("a"))
    assert not lookup.takes(live("b"))
    assert not lookup.takes(live("a", "other"))


def test_what_names_no_namespace_is_in_the_default_one() -> None:
    assert Lookup("v1", "Pod", "", "a").takes(live("a", "default"))
    assert Lookup("v1", "Pod", "default", "a").takes(live("a", ""))
    assert not Lookup("v1", "Pod", "", "a").takes(live("a", "team"))


def test_a_lookup_by_labels_takes_what_carries_all_of_them() -> None:
    lookup = Lookup("v1", "Pod", "team", labels=(("x", "1"), ("y", "2")))
    assert lookup.takes(live(x="1", y="2", z="3"))
    assert not lookup.takes(live(x="1"))


def test_what_was_not_asked_is_unknown_and_what_was_not_found_is_absent() -> None:
    lookup = Lookup("v1", "Pod", "team", "a")
    assert not Seen().knows(lookup)
    seen = Seen().with_found(lookup, ())
    assert seen.knows(lookup)
    assert seen.one(lookup) is None
    assert seen.all(lookup) == ()


def test_a_step_waits_for_the_actions_that_have_no_outcome() -> None:
    first, second = Annotate("first", {"a": "1"}), Annotate("second", {"b": None})
    step = Step(actions=(first, second))
    assert step.waiting(Seen()) == (first, second)
    assert step.waiting(Seen().with_outcome("first", Outcome("done"))) == (second,)


def test_a_kind_without_stages_is_refused() -> None:
    graph = {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", "metadata": {"name": "g"}}
    with pytest.raises(InvalidResource, match="no stages"):
        advance(graph)

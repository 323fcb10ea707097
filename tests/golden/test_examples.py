"""Every folder in ``examples/`` renders in every profile, without a word of doubt, and is in the list of examples."""

from __future__ import annotations

import pytest

from dynamo_render import render
from dynamo_render.profiles import PROFILES
from tests.golden.cases import EXAMPLES, Case, examples


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("example", examples(), ids=lambda example: example.folder.name)
def test_an_example_renders_without_problems(example: Case, profile: str) -> None:
    for resource in example.resources():
        rendered = render(resource, settings=example.settings(profile), facts=example.facts())
        assert bool(rendered.objects) == (resource["kind"] != "DynamoModel")
        assert [str(problem) for problem in rendered.warnings] == []


def test_every_example_is_in_the_list_of_examples() -> None:
    listed = (EXAMPLES / "README.md").read_text("utf-8")
    assert [case.folder.name for case in examples() if f"({case.folder.name}/graph.yaml)" not in listed] == []


@pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm"])
def test_there_is_an_example_on_one_node_and_one_on_several_for_each_engine(engine: str) -> None:
    spans = {
        component.get("multinode", {}).get("nodeCount", 1) > 1
        for example in examples()
        for resource in example.resources()
        for component in resource["spec"].get("services", {"": resource["spec"]}).values()
        if f"dynamo.{engine}" in str(component)
    }
    assert spans == {False, True}

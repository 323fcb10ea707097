"""Input at the edge of what Python can hold is refused or rendered like any other; Python's own errors stay inside."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamo_render import ClusterFacts, InvalidResource, MissingFacts, OperatorSettings, render
from dynamo_render.rules import RULES
from dynamo_render.rules.contract import Example
from tests.strategies.mutations import mutated

Json = dict[str, Any]

MANY_DIGITS = "9" * 5000
GROVE = ClusterFacts(api_groups=frozenset({"grove.io"}))
CLUSTERS = (
    ClusterFacts(),
    GROVE,
    ClusterFacts(api_groups=frozenset({"grove.io", "scheduling.run.ai"})),
    ClusterFacts(api_groups=frozenset({"leaderworkerset.x-k8s.io", "scheduling.volcano.sh"})),
)
EXAMPLES = [example for rule in RULES.values() for example in (rule.refuses, rule.accepts)]
START = "python3 -m dynamo.vllm --data-parallel-size"


def graph(kind: str = "worker", args: str = START, **fields: Any) -> Json:
    """Return a graph of one service with *fields*."""
    main = {"image": "runtime:1", "args": [args]}
    service = {"componentType": kind, "extraPodSpec": {"mainContainer": main}, **fields}
    frame = {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", "metadata": {"name": "demo"}}
    return {**frame, "spec": {"services": {"Worker": service}}}


def problems(resource: Json, facts: ClusterFacts = GROVE) -> set[str]:
    """Return the rules that a render reports as errors."""
    try:
        render(resource, settings=OperatorSettings(restricted_namespace="team"), facts=facts)
    except InvalidResource as error:
        return {problem.rule for problem in error.problems if problem.severity == "error"}
    return set()


def nested(levels: int) -> list[Any]:
    """Return lists in lists, so many levels deep."""
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def picker(parameters: Any) -> Json:
    """Return a graph with an endpoint picker whose plugin has *parameters*."""
    config = {"plugins": [{"type": "scorer", "parameters": parameters}], "schedulingProfiles": []}
    return graph("epp", eppConfig={"config": config})


@given(st.sampled_from(EXAMPLES), st.data())
def test_a_broken_example_of_any_rule_is_refused_or_rendered(example: Example, data: st.DataObject) -> None:
    """What is left of a resource that its schema refuses is planned too, whatever its kind."""
    resource = example.resource()
    head: Json = {key: resource.pop(key) for key in ("apiVersion", "kind") if key in resource}
    changed = data.draw(mutated(resource))
    with contextlib.suppress(InvalidResource, MissingFacts):
        render({**(changed if isinstance(changed, dict) else {}), **head}, facts=data.draw(st.sampled_from(CLUSTERS)))


def test_a_lone_surrogate_in_a_model_name_is_rendered() -> None:
    """`json.loads` lets one through, although it is no Unicode."""
    assert problems(graph(modelRef={"name": "\ud800"})) == set()


def test_parameters_that_are_nested_too_deeply_are_refused() -> None:
    assert problems(picker(nested(3000))) == {"schema/depth"}


def test_parameters_that_are_nested_less_deeply_than_any_text_may_be_are_rendered() -> None:
    assert problems(picker(nested(100))) == set()


def test_an_unknown_field_that_is_nested_deeply_does_not_hide_another_problem() -> None:
    assert "schema/type" in problems(graph(surprise=nested(3000), replicas="1"))


def test_a_gpu_count_of_thousands_of_digits_is_no_quantity() -> None:
    assert problems(graph(multinode={}, resources={"limits": {"gpu": MANY_DIGITS}})) == {"CTL-04"}


def test_a_flag_with_a_number_of_thousands_of_digits_counts_as_absent() -> None:
    spanning = graph(args=f"{START} {MANY_DIGITS}", multinode={}, resources={"limits": {"gpu": "8"}})
    assert problems(spanning) == set()


def test_a_deployment_configuration_with_a_number_of_thousands_of_digits_is_refused() -> None:
    text = f'{{"Worker": {{"ServiceArgs": {{"workers": {MANY_DIGITS}}}}}}}'
    resource = graph(envs=[{"name": "DYN_DEPLOYMENT_CONFIG", "value": text}])
    assert problems(resource, ClusterFacts()) == {"CTL-05"}


@pytest.mark.parametrize(("kind", "workers"), [("worker", -1), ("epp", 0), ("epp", 2)])
def test_a_deployment_configuration_with_replicas_that_the_component_may_not_have_is_refused(
    kind: str, workers: int
) -> None:
    """The component deployment with that count would be refused, so the graph is."""
    resource = picker("") if kind == "epp" else graph()
    text = f'{{"Worker": {{"ServiceArgs": {{"Workers": {workers}}}}}}}'
    resource["spec"]["services"]["Worker"]["envs"] = [{"name": "DYN_DEPLOYMENT_CONFIG", "value": text}]
    assert problems(resource, ClusterFacts()) == {"CTL-05"}


def test_a_rolling_limit_of_thousands_of_digits_stays_a_text() -> None:
    limited = graph(annotations={"nvidia.com/deployment-rolling-update-max-surge": MANY_DIGITS})
    assert problems(limited, ClusterFacts()) == set()


@pytest.mark.parametrize(
    ("added", "fields", "facts"),
    [
        ("-ldr", {"multinode": {}, "resources": {"limits": {"gpu": "8"}}}, GROVE),
        ("-wkr", {"multinode": {}, "resources": {"limits": {"gpu": "8"}}}, GROVE),
        ("-d", {"annotations": {"nvidia.com/enable-stealing-traffic-debug-mode": "true"}}, ClusterFacts()),
        ("-p", {"annotations": {"nvidia.com/enable-stealing-traffic-debug-mode": "true"}}, ClusterFacts()),
    ],
)
def test_services_whose_names_meet_once_something_is_added_are_refused(
    added: str, fields: Json, facts: ClusterFacts
) -> None:
    resource = graph(**fields)
    resource["spec"]["services"][f"Worker{added}"] = graph()["spec"]["services"]["Worker"]
    assert problems(resource, facts) == {"names/collision"}

"""What the rules about pods refuse, a real API server refuses in the rendered Deployment, and the other way round.

The seed of the random pods is `SEED` of the environment, 0 without it; a failure names it. What is left to the server
is listed in docs/decisions/0008-verdicts-that-differ.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import attrs
import pytest

from dynamo_render import ClusterFacts, Problem, render, validate
from dynamo_render.rules import RULES
from dynamo_render.rules.contract import Example
from tests.cluster import broken_pods, client, verdicts
from tests.cluster.bench import Bench
from tests.cluster.client import Answer
from tests.cluster.resources import NAMESPACE, in_namespace

Json = dict[str, Any]

SEED = int(os.environ.get("SEED", "0"))
PODS = 1_500
MOST_SHOWN = 20

POD = "spec.template.spec."

# The kubelet refuses it: a server stores any text as an image.
REFUSED_LATER = "pod/image"

WITHOUT_ADD_ONS = ClusterFacts()

POD_RULES = sorted(name for name, rule in RULES.items() if name.startswith("pod/") and rule.severity == "error")


@attrs.frozen(eq=False)
class Judged:
    """A Deployment, the errors of *our* rules about pods in what it was rendered from, and what the server *said*."""

    deployment: Json
    ours: tuple[Problem, ...]
    said: Answer


def deployments(resource: Json) -> Iterator[Json]:
    """Yield the Deployments of *resource* and of the component deployments that it leads to."""
    for made in render(resource, facts=WITHOUT_ADD_ONS).objects:
        if made["kind"] == "Deployment":
            yield made
        elif made["kind"] == "DynamoComponentDeployment":
            yield from deployments(made)


@pytest.fixture(scope="module")
def judged(api_server: Bench) -> list[Judged]:
    """Random pods of which nothing but the rules about pods refuses any."""
    found: list[tuple[Json, tuple[Problem, ...]]] = []
    for resource in broken_pods.resources(SEED, PODS):
        errors = tuple(problem for problem in validate(resource) if problem.severity == "error")
        if all(problem.rule.startswith("pod/") for problem in errors):
            found += [(made, errors) for made in deployments(resource)]
    said = client.answers(api_server.client.verdict_on_create, (made for made, _ in found), threads=8)
    return [Judged(made, errors, answer) for (made, errors), answer in zip(found, said, strict=True)]


def test_the_server_refuses_every_pod_that_our_rules_refuse(judged: list[Judged]) -> None:
    refused = [each for each in judged if any(problem.rule != REFUSED_LATER for problem in each.ours)]
    assert len(refused) > PODS / 5
    wrong = [(list(map(str, each.ours)), each.deployment) for each in refused if not each.said.is_refusal]
    assert wrong[:MOST_SHOWN] == [], f"{len(wrong)} pods with SEED={SEED}"


def test_our_rules_refuse_every_pod_that_the_server_refuses_but_for_the_listed_fields(judged: list[Judged]) -> None:
    listed = verdicts.left_to_the_server()
    missed = [
        f"{field}: {message}"
        for each in judged
        if each.said.is_refusal and not each.ours
        for field, message in each.said.causes or (("", each.said.message),)
        if not any(fields.search(field.removeprefix(POD)) for fields in listed)
    ]
    assert missed[:MOST_SHOWN] == [], f"{len(missed)} causes with SEED={SEED}"


def test_many_random_pods_are_accepted(judged: list[Judged]) -> None:
    assert sum(not each.said.is_refusal for each in judged) > PODS / 20


def refused_objects(api_server: Bench, example: Example) -> list[str]:
    """Return the server's words for each Deployment of *example* that it refuses."""
    api_server.ensure_namespaces([NAMESPACE])
    made = list(deployments(in_namespace(example.resource())))
    assert made
    said = client.answers(api_server.client.verdict_on_create, made)
    return [answer.message for answer in said if answer.is_refusal]


@pytest.mark.parametrize("name", [name for name in POD_RULES if name != REFUSED_LATER])
def test_the_server_refuses_the_example_that_a_rule_refuses(api_server: Bench, name: str) -> None:
    assert refused_objects(api_server, RULES[name].refuses) != []


@pytest.mark.parametrize("name", POD_RULES)
def test_the_server_accepts_the_example_that_a_rule_accepts(api_server: Bench, name: str) -> None:
    assert refused_objects(api_server, RULES[name].accepts) == []


def test_the_server_takes_a_negative_grace_period(api_server: Bench) -> None:
    assert RULES["pod/grace-period"].severity == "warning"
    assert refused_objects(api_server, RULES["pod/grace-period"].refuses) == []

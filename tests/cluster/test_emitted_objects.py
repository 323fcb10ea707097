"""Whatever a render emits, a real API server accepts: built-in kinds and those of the add-ons.

Where it refuses, the resource that was rendered contradicts itself in a way that the tests name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import attrs
import pytest
from hypothesis import Phase, given, reject, settings

from dynamo_render import ClusterFacts, InvalidResource, OperatorSettings, render
from dynamo_render.profiles import PROFILES
from tests.cluster import client, contradictions
from tests.cluster.bench import Bench
from tests.cluster.client import Answer, Json
from tests.conformance import comparison
from tests.golden.cases import examples
from tests.strategies import situations

RANDOM_GRAPHS = 150
"""For each profile."""

# Public examples that a server refuses, and its words.
PUBLIC_REFUSALS = {
    # The worker's startup probe has thresholds and no handler.
    "examples/deployments/GKE/vllm/disagg.yaml#0@component: Deployment/vllm-disagg-vllmdecodeworker": (
        "spec.template.spec.containers[0].startupProbe: Required value: must specify a handler type"
    ),
}


@attrs.frozen(eq=False)
class Emitted:
    """One object that a render emits, and where it comes from."""

    origin: str
    content: Json

    @property
    def name(self) -> str:
        """Origin, kind and name, as messages show them."""
        return f"{self.origin}: {self.content['kind']}/{self.content['metadata']['name']}"


def emitted_for_examples(profile: str) -> Iterator[Emitted]:
    for example in examples():
        given_settings, facts, observed = example.settings(profile), example.facts(), example.observed()
        for resource in example.resources():
            for content in render(resource, settings=given_settings, facts=facts, observed=observed).objects:
                yield Emitted(example.folder.name, content)


def emitted_for_recordings(source: str, profile: str) -> Iterator[Emitted]:
    """Yield what we render for the recorded inputs of one file; nothing when the recordings are absent."""
    for case in comparison.cases():
        if case.source != source:
            continue
        given_settings = OperatorSettings.from_mapping({**case.content["settings"], "profile": profile})
        facts = ClusterFacts.from_mapping(case.content["facts"])
        try:
            rendered = render(case.content["resource"], settings=given_settings, facts=facts)
        except InvalidResource:
            continue
        for content in rendered.objects:
            yield Emitted(case.id, content)


def emitted_for_random_graphs(profile: str) -> list[Emitted]:
    """Return what is rendered for `RANDOM_GRAPHS` graphs, new ones in every run."""
    emitted: list[Emitted] = []

    # Nothing fails in here, so that the server can be asked for all objects together; hypothesis would otherwise
    # spend minutes of requests to make one example smaller. What a render may refuse is not the question here.
    @settings(max_examples=RANDOM_GRAPHS, phases=[Phase.generate], database=None)
    @given(situations.graph_situations(profile))
    def collect(situation: situations.Situation) -> None:
        origin = json.dumps(situation.resource)
        try:
            rendered = situation.rendered()
        except InvalidResource:
            reject()
        emitted.extend(Emitted(origin, content) for content in rendered.objects)

    collect()
    return emitted


def verdicts(api_server: Bench, emitted: Iterable[Emitted], way: str = "create") -> list[tuple[Emitted, Answer]]:
    """Return the server's answer to each object; the same object of the same origin is asked for once."""
    different = list({f"{each.origin}{json.dumps(each.content, sort_keys=True)}": each for each in emitted}.values())
    if not different:
        pytest.skip("no recordings beside the repository")
    api_server.ensure_namespaces(sorted({each.content["metadata"]["namespace"] for each in different}))
    ask = {"create": api_server.client.verdict_on_create, "apply": api_server.client.verdict_on_apply}[way]
    return list(zip(different, client.answers(ask, (each.content for each in different)), strict=True))


def refusals(answered: Iterable[tuple[Emitted, Answer]]) -> dict[str, str]:
    return {emitted.name: answer.message for emitted, answer in answered if answer.is_refusal}


@pytest.mark.parametrize("way", ["create", "apply"])
@pytest.mark.parametrize("profile", PROFILES)
def test_the_server_accepts_what_is_emitted_for_our_examples(api_server: Bench, profile: str, way: str) -> None:
    answered = verdicts(api_server, emitted_for_examples(profile), way)
    assert refusals(answered) == {}
    assert {emitted.name: answer.warnings for emitted, answer in answered if answer.warnings} == {}


@pytest.mark.parametrize("profile", PROFILES)
def test_the_server_accepts_what_is_emitted_for_the_public_examples_but_for_the_listed(
    api_server: Bench, profile: str
) -> None:
    found = refusals(verdicts(api_server, emitted_for_recordings("public-examples", profile)))
    assert found.keys() == PUBLIC_REFUSALS.keys()
    assert [name for name, words in PUBLIC_REFUSALS.items() if words not in found[name]] == []


def test_the_server_refuses_in_the_live_recordings_what_it_refused_from_the_operator(api_server: Bench) -> None:
    answered = verdicts(api_server, emitted_for_recordings("live", "0.9-shipped"))
    cut_short = {case.id for case in comparison.cases() if case.source == "live" and case.is_partial}
    assert {emitted.origin for emitted, answer in answered if answer.is_refusal} == cut_short


@pytest.mark.parametrize("source", ["generated", "live"])
def test_the_server_refuses_of_recorded_random_graphs_only_what_their_user_wrote(
    api_server: Bench, source: str
) -> None:
    assert unexplained(verdicts(api_server, emitted_for_recordings(source, "0.9")), "0.9") == []


@pytest.fixture(scope="module", params=PROFILES)
def random_verdicts(api_server: Bench, request: pytest.FixtureRequest) -> tuple[str, list[tuple[Emitted, Answer]]]:
    return request.param, verdicts(api_server, emitted_for_random_graphs(request.param))


def test_the_server_refuses_of_random_graphs_only_what_their_user_wrote(
    random_verdicts: tuple[str, list[tuple[Emitted, Answer]]],
) -> None:
    profile, answered = random_verdicts
    assert unexplained(answered, profile) == []


def test_the_server_accepts_some_object_of_each_kind_that_random_graphs_lead_to(
    random_verdicts: tuple[str, list[tuple[Emitted, Answer]]],
) -> None:
    _, answered = random_verdicts
    accepted = {emitted.content["kind"] for emitted, answer in answered if not answer.is_refusal}
    assert sorted(accepted) == sorted({emitted.content["kind"] for emitted, _ in answered})


def unexplained(answered: Iterable[tuple[Emitted, Answer]], profile: str) -> list[str]:
    """Return every cause of a refusal that is not a known contradiction of the user's own."""
    return [
        f"{emitted.name}: {field}: {message}"
        for emitted, answer in answered
        if answer.is_refusal
        for field, message in answer.causes or (("", answer.message),)
        if not contradictions.is_known(field, message, profile)
    ]

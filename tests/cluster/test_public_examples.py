"""Public examples that a cluster refuses: which, why, and that `validate` says so before any server does."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from dynamo_render import ClusterFacts, OperatorSettings, render, validate
from dynamo_render.profiles import PROFILES
from tests.cluster import client
from tests.cluster.bench import Bench
from tests.cluster.client import Answer
from tests.conformance import comparison
from tests.conformance.comparison import Case

Json = dict[str, Any]

# The file of an example, our error, and the field of the pod and the reason for which a server refuses it.
REFUSED = {
    "examples/deployments/GKE/vllm/disagg.yaml": (
        ("pod/probe", "spec.services.VllmDecodeWorker.extraPodSpec.mainContainer.startupProbe"),
        ("spec.containers[0].startupProbe", "Required value: must specify a handler type"),
    ),
}


@attrs.frozen(eq=False)
class Asked:
    """A case, and the server's answer to each of its objects and of the pods that they lead to."""

    case: Case
    answers: list[Answer]

    @property
    def file(self) -> str:
        """The example's file: one file leads to a case for each of its documents and each kind of cluster."""
        return self.case.id.partition("#")[0]


def public_cases() -> list[Case]:
    found = [case for case in comparison.cases() if case.source == "public-examples"]
    if not found:
        pytest.skip("no recordings beside the repository")
    return found


def settings_of(case: Case, profile: str) -> OperatorSettings:
    return OperatorSettings.from_mapping({**case.content["settings"], "profile": profile})


def facts_of(case: Case) -> ClusterFacts:
    return ClusterFacts.from_mapping(case.content["facts"])


def pods_in(made: Json) -> list[Json]:
    """Return the pods of a rendered workload, as the controller of its kind creates them."""
    spec: Json = made.get("spec") or {}
    specs: list[Json] = []
    if made["kind"] == "PodCliqueSet":
        specs = [clique["spec"]["podSpec"] for clique in spec["template"]["cliques"]]
    elif made["kind"] == "LeaderWorkerSet":
        templates = spec["leaderWorkerTemplate"]
        specs = [templates[role]["spec"] for role in ("leaderTemplate", "workerTemplate") if role in templates]
    elif made["kind"] == "Deployment":
        specs = [spec["template"]["spec"]]
    metadata = {"name": "pod", "namespace": made["metadata"]["namespace"]}
    return [{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod} for pod in specs]


@pytest.fixture(scope="module", params=PROFILES)
def asked(api_server: Bench, request: pytest.FixtureRequest) -> tuple[str, list[Asked]]:
    """The profile, and what the server says to what it makes of each public example."""
    contents: list[Json] = []
    owners: list[Asked] = []
    for case in public_cases():
        entry = Asked(case, [])
        settings, facts = settings_of(case, request.param), facts_of(case)
        for made in render(case.content["resource"], settings=settings, facts=facts).objects:
            for content in (made, *pods_in(made)):
                contents.append(content)
                owners.append(entry)
    api_server.ensure_namespaces(sorted({content["metadata"]["namespace"] for content in contents}))
    said = client.answers(api_server.client.verdict_on_create, contents, threads=8)
    for owner, answer in zip(owners, said, strict=True):
        owner.answers.append(answer)
    return request.param, list({id(owner): owner for owner in owners}.values())


def test_validate_finds_an_error_in_the_examples_that_the_server_refuses_and_in_no_other(
    asked: tuple[str, list[Asked]],
) -> None:
    profile, entries = asked
    assert len(entries) > len(REFUSED)
    for each in entries:
        problems = validate(
            each.case.content["resource"], settings=settings_of(each.case, profile), facts=facts_of(each.case)
        )
        errors = [str(problem) for problem in problems if problem.severity == "error"]
        refusals = [answer.message for answer in each.answers if answer.is_refusal]
        assert bool(errors) == bool(refusals), (each.case.id, errors, refusals)


def test_the_refused_examples_are_the_listed(asked: tuple[str, list[Asked]]) -> None:
    _, entries = asked
    assert {each.file for each in entries if any(answer.is_refusal for answer in each.answers)} == REFUSED.keys()


def test_the_server_refuses_the_listed_examples_for_the_listed_reason(asked: tuple[str, list[Asked]]) -> None:
    _, entries = asked
    found = {
        (each.file, field, message)
        for each in entries
        for answer in each.answers
        for field, message in answer.causes
        if field.startswith("spec.containers")
    }
    assert found == {(file, *reason) for file, (_, reason) in REFUSED.items()}


@pytest.mark.parametrize("profile", PROFILES)
def test_validate_refuses_the_listed_examples_with_the_listed_rule(profile: str) -> None:
    found = set()
    for case in public_cases():
        problems = validate(case.content["resource"], settings=settings_of(case, profile), facts=facts_of(case))
        for problem in problems:
            if problem.severity == "error":
                found.add((case.id.partition("#")[0], problem.rule, ".".join(map(str, problem.path))))
    assert found == {(file, *ours) for file, (ours, _) in REFUSED.items()}

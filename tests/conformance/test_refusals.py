"""What the released operator and its API server refuse, `validate` refuses by the rule that says the same."""

from __future__ import annotations

import re

import pytest

from dynamo_render import ClusterFacts, OperatorSettings, Problem, validate
from dynamo_render.errors import field_path
from tests.conformance import comparison
from tests.conformance.comparison import Case

ABSENT = pytest.param(None, marks=pytest.mark.skip(reason="no recordings beside the repository"), id="absent")
EARLY = [case for case in comparison.cases() if case.expected.get("stage") in {"schema", "admission"}]
REFUSED = [pytest.param(case, id=case.id) for case in EARLY] or [ABSENT]
PUBLIC = [pytest.param(case, id=case.id) for case in comparison.cases() if case.source == "public-examples"] or [ABSENT]

# What the operator or the API server says, and the rule of ours that says the same.
SAME_REASON = {
    r"Required value": "schema/required",
    r"\.mountPoint is required when useAsCompilationCache is false": "SVC-V03",
    r"EPP component must have exactly 1 replica": "SVC-V07",
}

# Public examples that lead to a Deployment which an API server refuses, and why.
REFUSED_BY_A_SERVER = {
    "examples/deployments/GKE/vllm/disagg.yaml#0": {
        "pod/probe spec.services.VllmDecodeWorker.extraPodSpec.mainContainer.startupProbe",
    },
}


def found(case: Case) -> tuple[Problem, ...]:
    """Return what validation says about a recorded resource in its surroundings."""
    settings = OperatorSettings.from_mapping({**case.content["settings"], "profile": "0.9-shipped"})
    return validate(case.content["resource"], settings=settings, facts=ClusterFacts.from_mapping(case.content["facts"]))


def errors(case: Case) -> set[tuple[str, str]]:
    """Return rule and path of every error in a recorded resource."""
    return {(problem.rule, field_path(problem.path)) for problem in found(case) if problem.severity == "error"}


def named_fields(message: str) -> list[str]:
    """Return the fields that a message names, spelled as ours; a service alone stands for its fields."""
    written = re.findall(r"spec(?:\.\w+|\[[^\]]+\])+", message)
    return [re.sub(r"services\[([^\]]+)\]", r"services.\1", path) for path in written]


@pytest.mark.parametrize("case", REFUSED)
def test_the_rule_that_says_the_same_finds_it_at_the_same_field(case: Case) -> None:
    message = case.expected["message"]
    wanted = {rule for words, rule in SAME_REASON.items() if re.search(words, message)}
    assert wanted != set(), "a reason that SAME_REASON does not know"
    fields = named_fields(message)
    same = {
        rule for rule, path in errors(case) if any(path == field or path.startswith(f"{field}.") for field in fields)
    }
    assert same >= wanted


@pytest.mark.parametrize("case", PUBLIC)
def test_public_examples_have_no_errors_but_those_of_the_list(case: Case) -> None:
    wanted = REFUSED_BY_A_SERVER.get(case.id.partition("@")[0], set())
    assert {f"{rule} {path}" for rule, path in errors(case)} == wanted

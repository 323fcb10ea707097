"""Profile ``0.9-shipped`` renders what the released operator created, case by case of the recordings."""

from __future__ import annotations

import re

import pytest

from dynamo_render import InvalidResource
from dynamo_render.errors import field_path
from tests.conformance import comparison
from tests.conformance.comparison import Case

CASES = tuple(comparison.cases())
ABSENT = pytest.param(None, marks=pytest.mark.skip(reason="no recordings beside the repository"), id="absent")


def _params(wanted: list[Case]) -> list[object]:
    return [pytest.param(case, id=case.id) for case in wanted] or [ABSENT]


RENDERED = _params([case for case in CASES if not case.is_refused])
REFUSED = _params([case for case in CASES if case.is_refused])
REFUSED_BEFORE_RENDER = _params(
    [case for case in CASES if case.expected.get("stage") in {"schema", "admission"} and case.expected.get("message")]
)
REFUSED_WHILE_RENDERING = _params(
    [case for case in CASES if case.expected.get("stage") == "render" and case.expected.get("message")]
)

# What the released operator says when a render fails, and the rule of ours that says the same.
SAME_REASON = {
    "backend framework mismatch": "CTL-03",
    "could not determine backend framework": "CTL-03",
    " quantity: ": "CTL-04",
    "parse DYN_DEPLOYMENT_CONFIG": "CTL-05",
    "unmarshal DYN_DEPLOYMENT_CONFIG": "CTL-05",
    "volumeMount.name is required": "CTL-07",
    "requires an explicit mountPoint": "CTL-08",
    "not found in cluster. Ensure the queue exists": "CTL-12",
    "container Args cannot be empty": "CTL-15",
    "container Command cannot be nil": "CTL-15",
    "main container not found": "CTL-15",
    "GPU limit is not set": "CTL-16",
    "to have a dynamoNamespace": "CTL-17",
}


def _refusal(case: Case) -> InvalidResource:
    with pytest.raises(InvalidResource) as caught:
        case.rendered()
    return caught.value


def _named_fields(message: str) -> list[str]:
    """Return the fields that an operator's message names, spelled as ours: ``services[X]`` is ``services.X``."""
    written = re.findall(r"spec(?:\.\w+|\[[^\]]+\])+", message)
    return [re.sub(r"services\[([^\]]+)\]", r"services.\1", path) for path in written]


@pytest.mark.parametrize("case", RENDERED)
def test_what_the_released_operator_renders_we_render(case: Case) -> None:
    assert case.differences() == []


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_released_operator_refuses_we_refuse(case: Case) -> None:
    assert [problem for problem in _refusal(case).problems if problem.severity == "error"] != []


@pytest.mark.parametrize("case", REFUSED_BEFORE_RENDER)
def test_a_refusal_before_the_render_names_the_field_that_the_operator_names(case: Case) -> None:
    """The operator stops at the first rule that fails and may name the service only; then a field below it will do."""
    named = _named_fields(case.expected["message"])
    ours = [field_path(problem.path) for problem in _refusal(case).problems if problem.severity == "error"]
    assert [path for path in ours if any(path == field or path.startswith(f"{field}.") for field in named)] != []


@pytest.mark.parametrize("case", REFUSED_WHILE_RENDERING)
def test_a_refusal_while_rendering_has_the_reason_that_the_operator_gives(case: Case) -> None:
    wanted = [rule for words, rule in SAME_REASON.items() if words in case.expected["message"]]
    ours = {problem.rule for problem in _refusal(case).problems if problem.severity == "error"}
    assert wanted != [], "a reason that SAME_REASON does not know"
    assert ours.issuperset(wanted)

"""Every public example is a graph that a profiler may leave: no rule of ours refuses what is used out there."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_render import OperatorSettings
from tests.conformance import comparison
from tests.request_passes import DATA, SETTINGS, SHIPPED, Json, Pass, in_state, job, output

GRAPHS: dict[str, Json] = {
    case.id.partition("#")[0]: dict(case.content["resource"])
    for case in comparison.cases()
    if case.source == "public-examples"
}
NAMES: list[Any] = list(GRAPHS) or [
    pytest.param("", marks=pytest.mark.skip(reason="no recorded examples beside the repository"), id="absent")
]


@pytest.mark.parametrize("settings", [SETTINGS, SHIPPED], ids=lambda settings: settings.profile)
@pytest.mark.parametrize("name", NAMES)
def test_a_public_example_is_taken_from_the_output_of_a_profiler(name: str, settings: OperatorSettings) -> None:
    done = Pass(in_state("Profiling"), job("Complete"), output(DATA, GRAPHS[name]), settings=settings)
    assert done.step.row == "T10", done.condition("SpecGenerated")[2]
    assert done.status["generatedDeployment"]["spec"].keys() == GRAPHS[name]["spec"].keys()

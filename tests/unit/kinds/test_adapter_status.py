"""The loop between a scaling adapter and its graph: controllers-graph.md 9.2 and api.md 7."""

from __future__ import annotations

from typing import Any

import pytest

from dynamo_render.kinds.dynamo_graph_deployment_scaling_adapter.status import (
    ServiceScale,
    adapter_status,
    wanted_scale,
)
from dynamo_render.kinds.shared.failures import Failure

GONE = "2026-01-01T00:00:00Z"


def adapter(replicas: int, service: str = "S", **metadata: Any) -> dict[str, Any]:
    spec = {"replicas": replicas, "dgdRef": {"name": "g", "serviceName": service}}
    return {"metadata": {"name": "g-s", **metadata}, "spec": spec}


def graph(service: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": "g", **metadata}, "spec": {"services": {"S": service}}}


def scale(before: int, after: int) -> ServiceScale:
    return ServiceScale(graph="g", service="S", before=before, after=after)


@pytest.mark.parametrize(
    ("wanting", "found", "expected"),
    [
        pytest.param(adapter(5), graph({"replicas": 3}), scale(3, 5), id="9.2/3 differs"),
        pytest.param(adapter(0), graph({"replicas": 3}), scale(3, 0), id="9.2/3 to zero"),
        pytest.param(adapter(2), graph({}), scale(1, 2), id="9.2/3 absent is one"),
        pytest.param(adapter(1), graph({}), None, id="9.2/3 absent equals one"),
        pytest.param(adapter(3), graph({"replicas": 3}), None, id="9.2/3 equal"),
        pytest.param(adapter(5, deletionTimestamp=GONE), None, None, id="9.2/3 adapter on its way out"),
        pytest.param(adapter(5), graph({}, deletionTimestamp=GONE), None, id="decisions graph on its way out"),
        pytest.param(adapter(5), None, Failure("error", 'DynamoGraphDeployment "g" not found'), id="CTL-20 no graph"),
        pytest.param(
            adapter(5, "T"),
            graph({}),
            Failure("error", 'DynamoGraphDeployment "g" has no service "T"'),
            id="CTL-20 no service",
        ),
    ],
)
def test_an_adapter_wants_its_count_in_the_graph(wanting: Any, found: Any, expected: Any) -> None:
    assert wanted_scale(wanting, found) == expected


def test_a_change_names_the_one_field_that_it_sets_and_says_so() -> None:
    wanted = scale(3, 5)
    assert wanted.patch == {"spec": {"services": {"S": {"replicas": 5}}}}
    assert wanted.message == "Scaled service S from 3 to 5 replicas"


def test_the_status_has_what_autoscalers_read() -> None:
    selector = "nvidia.com/dynamo-graph-deployment-name=g,nvidia.com/dynamo-component=S"
    assert adapter_status(adapter(5)) == {"replicas": 5, "selector": selector}


def test_the_time_of_the_last_scale_stays_until_the_next() -> None:
    scaled = adapter(5)
    scaled["status"] = adapter_status(scaled, "2026-01-01T00:00:00Z")
    assert adapter_status(scaled) == scaled["status"]
    assert adapter_status(scaled, "2026-01-02T00:00:00Z")["lastScaleTime"] == "2026-01-02T00:00:00Z"

from __future__ import annotations

import pytest

from dynamo_render.satellites.model_services import MODEL_SERVICES
from tests.scopes import component_scope


@pytest.mark.parametrize("spec", [{}, {"modelRef": {"name": ""}}])
def test_without_a_model_there_is_no_service(spec: dict) -> None:
    assert list(MODEL_SERVICES.planned(component_scope(spec))) == []


def test_the_name_of_the_graph_is_no_part_of_it() -> None:
    """Two graphs of a namespace that serve one model share the Service."""
    (plan,) = MODEL_SERVICES.planned(component_scope({"modelRef": {"name": "Qwen/Qwen3-0.6B", "revision": "x"}}))
    (made,) = MODEL_SERVICES.build(plan)
    assert made["metadata"]["name"] == "dynamo-model-fb68f5a6"
    assert made["spec"]["clusterIP"] == "None"
    assert made["spec"]["selector"] == {"nvidia.com/dynamo-base-model-hash": "fb68f5a6"}

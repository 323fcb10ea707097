from __future__ import annotations

import pytest

from dynamo_render.components import component_type
from dynamo_render.components.generic import GENERIC
from tests.scopes import component_scope


@pytest.mark.parametrize("name", ["", "main", "default", "Frontend", "WORKER"])
def test_every_unknown_name_is_generic_and_case_counts(name: str) -> None:
    assert component_type(name) is GENERIC


def test_a_generic_component_has_a_shell_and_nothing_else() -> None:
    base = GENERIC.base(component_scope())
    assert base.container == {"name": "main", "command": ["/bin/sh", "-c"]}
    assert (base.env, base.probes) == ({}, {})

from __future__ import annotations

import inspect
import re

import attrs
import pytest

from dynamo_render.profiles import PROFILES
from dynamo_render.profiles.profile import Profile


def test_a_profile_is_found_by_its_own_name() -> None:
    assert [name for name, profile in PROFILES.items() if profile.name != name] == []


def test_each_shipped_profile_has_a_documented_twin() -> None:
    assert {name.removesuffix("-shipped") for name in PROFILES if name.endswith("-shipped")} <= set(PROFILES)


@pytest.mark.parametrize("switch", [field.name for field in attrs.fields(Profile) if field.type in {bool, "bool"}])
def test_a_switch_is_explained_and_named_after_a_behaviour(switch: str) -> None:
    source = inspect.getsource(Profile)
    assert re.search(rf'    {switch}: bool.*\n    """', source), "a line below the switch says what it does"
    assert not re.search(r"\d|shipped|release|version", switch)

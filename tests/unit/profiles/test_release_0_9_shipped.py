from __future__ import annotations

import attrs

from dynamo_render.profiles import release_0_9
from dynamo_render.profiles.release_0_9_shipped import PROFILE


def test_every_switch_of_the_shipped_profile_is_off() -> None:
    switches = {field.name: getattr(PROFILE, field.name) for field in attrs.fields(type(PROFILE))}
    assert [name for name, value in switches.items() if value is True] == []


def test_startup_and_picker_probes_are_as_documented() -> None:
    documented = release_0_9.PROFILE
    assert PROFILE.worker_probes["startupProbe"] == documented.worker_probes["startupProbe"]
    assert PROFILE.epp_probes == documented.epp_probes

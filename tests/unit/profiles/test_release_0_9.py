from __future__ import annotations

import attrs

from dynamo_render.profiles.release_0_9 import PROFILE


def test_every_switch_of_the_documented_profile_is_on() -> None:
    """A switch is named after the documented behaviour, so that a new one that nobody set shows here."""
    switches = {field.name: getattr(PROFILE, field.name) for field in attrs.fields(type(PROFILE))}
    assert [name for name, value in switches.items() if value is False] == []


def test_frontends_are_asked_slowly() -> None:
    assert {probe["periodSeconds"] for probe in PROFILE.frontend_probes.values()} == {60}

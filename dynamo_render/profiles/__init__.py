"""The releases whose behaviour can be rendered. Adding one is a new file of data and a line here."""

from __future__ import annotations

from collections.abc import Mapping

from dynamo_render.profiles import release_0_9, release_0_9_shipped
from dynamo_render.profiles.profile import Profile

PROFILES: Mapping[str, Profile] = {
    profile.name: profile for profile in (release_0_9.PROFILE, release_0_9_shipped.PROFILE)
}

__all__ = ["PROFILES", "Profile"]

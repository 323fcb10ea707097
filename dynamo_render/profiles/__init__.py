"""The releases whose behaviour can be rendered. Adding one is a new file of data and a line here."""

from __future__ import annotations

from collections.abc import Mapping

from dynamo_render.profiles.profile import Profile
from dynamo_render.room import Room

PROFILES: Mapping[str, Profile] = Room(
    {
        "0.9": "dynamo_render.profiles.release_0_9:PROFILE",
        "0.9-shipped": "dynamo_render.profiles.release_0_9_shipped:PROFILE",
    }
)

__all__ = ["PROFILES", "Profile"]

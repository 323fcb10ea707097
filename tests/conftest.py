"""Settings of hypothesis for the whole suite: a quick profile for every run, `ci`, and `long` for the night.

`quick` and `long` draw new examples each time; `ci` draws the same ones, so that its verdict is about the change and
not about luck. None measures time: on a busy machine a deadline reports the neighbours.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "quick",
    max_examples=25,
    derandomize=False,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("ci", settings.get_profile("quick"), max_examples=50, derandomize=True)
settings.register_profile("long", settings.get_profile("quick"), max_examples=3000, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "quick")

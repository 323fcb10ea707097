"""What a user can write that our types let pass and an API server refuses in the rendered objects, as patterns.

Types describe single values; the server also looks at several at once. Random resources hold such contradictions on
purpose, so a test that expects a server to accept what is rendered for them takes these refusals out. Every entry is
about something that a render passes on as it was written: a refusal of what a render adds has no place here.
"""

from __future__ import annotations

import re

WRITTEN_BY_THE_USER = (
    # Volumes and claims that are declared twice, or not at all
    (r".*\.volumeMounts\[\d+\]", r'Duplicate value: \{"mountPath":".*"\}'),
    (r".*\.volumeMounts\[\d+\]\.mountPath", r"Invalid value: .*: must be unique"),
    (r".*\.volumeMounts\[\d+\]\.name", r"Not found: .*"),
    (r".*\.resources\.claims\[\d+\]", r"Not found: .*"),
    # Amounts that do not fit together, or not to what they count
    (r".*\.resources\.requests", r"Invalid value: .*: must be (less than or )?equal to \S+ limit of \S+"),
    (r".*\.resources\.limits", r"Required value: Limit must be set for non overcommitable resources"),
    (
        r".*\.resources\.\w+\[hugepages-\w+\]",
        r"Invalid value: .*: \S+ is not positive integer multiple of hugepages-\w+",
    ),
    (r".*\.resources\.\w+\[.+/.+\]", r"Invalid value: .*: must be an integer"),
    (r".*\.resources", r"Forbidden: HugePages require cpu or memory"),
    (r".*\.valueFrom\.resourceFieldRef\.divisor", r"Invalid value: .*: only divisor's values .* are supported .*"),
    # Containers
    (r".*\.image", r"Required value"),
    (r".*Probe\.\w+", r"Forbidden: may not specify more than 1 handler type"),
    (r".*\.readinessProbe\.terminationGracePeriodSeconds", r"Invalid value: \d+: must not be set for readinessProbes"),
    (
        r".*\.initContainers\[\d+\]\.(lifecycle|\w+Probe)",
        r"Forbidden: may not be set for init containers without restartPolicy=Always",
    ),
    # Deployments only
    (r"spec\.template\.spec\.restartPolicy", r"Unsupported value: .*"),
    (
        r"spec\.strategy\.rollingUpdate\.max\w+",
        r"Invalid value: .*: (a valid percent string must be|may not be 0 when) .*",
    ),
)

DOUBLED_BY_THE_RELEASED_OPERATOR = ((r".*\.env\[\d+\]", r'Duplicate value: \{"name":".*"\}'),)
"""The shipped profile adds variables beside the user's own of the same name; the schemas of add-ons refuse that."""


def is_known(field: str, message: str, profile: str) -> bool:
    """Return whether a cause of a refusal is in the lists above; the second is for the shipped profile alone."""
    doubled = DOUBLED_BY_THE_RELEASED_OPERATOR if profile == "0.9-shipped" else ()
    return any(
        re.fullmatch(known_field, field) and re.fullmatch(known_message, message)
        for known_field, known_message in (*WRITTEN_BY_THE_USER, *doubled)
    )

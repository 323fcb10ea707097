"""Rules about fields of earlier releases."""

from __future__ import annotations

from dynamo_render.rules.contract import Rule, warning

RULES: tuple[Rule, ...] = (
    warning(
        "deprecated/removed-field",
        "A field of an earlier release is not given: it is dropped without a word.",
        "api.md 13",
        bad={"spec": {"dynamoGraph": "chat:1.0"}},
    ),
)

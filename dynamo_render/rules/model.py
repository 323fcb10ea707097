"""Rules for models."""

from __future__ import annotations

from dynamo_render.rules.contract import Json, Rule, rule, warning

_SECTION = "api.md 9.6"
_SERVED = (("model", "", "acme/chat"),)


def _adapter(source: object) -> Json:
    return {"spec": {"modelType": "lora", "source": source}}


_GOOD = _adapter({"uri": "s3://adapters/law"})

RULES: tuple[Rule, ...] = (
    rule("DM-V01", "A model has a name.", _SECTION, base="model", bad={"spec": {"modelName": ""}}),
    rule("DM-V02", "A model has a base model.", _SECTION, base="model", bad={"spec": {"baseModelName": ""}}),
    rule("DM-V03", "An adapter has a source.", _SECTION, base="model", bad=_adapter(None), good=_GOOD),
    rule(
        "DM-V04",
        "The source of an adapter has an address.",
        _SECTION,
        base="model",
        bad=_adapter({"uri": ""}),
        good=_GOOD,
    ),
    rule(
        "DM-V05",
        "An adapter comes from s3:// or hf://.",
        _SECTION,
        base="model",
        bad=_adapter({"uri": "https://adapters.example/law"}),
        good=_GOOD,
    ),
    rule(
        "DM-U01",
        "The type of a model cannot be changed.",
        _SECTION,
        base="model",
        old={},
        bad={"spec": {"modelType": "adapter"}},
    ),
    warning(
        "DM-W01",
        "Changing the type of a model leaves endpoints behind.",
        _SECTION,
        base="model",
        old={},
        bad={"spec": {"modelType": "adapter"}},
    ),
    rule(
        "DM-U02",
        "The base model of a model cannot be changed.",
        _SECTION,
        base="model",
        old={},
        bad={"spec": {"baseModelName": "acme/other"}},
    ),
    warning(
        "DM-W02",
        "Changing the base model leaves endpoints behind.",
        _SECTION,
        base="model",
        old={},
        bad={"spec": {"baseModelName": "acme/other"}},
    ),
    warning(
        "sanity/model",
        "A base model is served by a component that is declared beside it.",
        "api.md 8",
        base="model",
        declared=_SERVED,
        bad={"spec": {"baseModelName": "acme/other"}},
    ),
)

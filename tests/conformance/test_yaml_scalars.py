"""Every recorded scalar reads as kubectl reads it, as a value and as a mapping key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dynamo_render import UnreadableInput, read_documents

RECORDED = Path(__file__).resolve().parents[3] / "shared" / "conformance" / "yaml-scalars.jsonl"
REFUSED = object()


def recorded_answers() -> list[dict[str, Any]]:
    if not RECORDED.exists():
        pytest.skip(f"{RECORDED.name} is not beside the repository")
    return [json.loads(line) for line in RECORDED.read_text().splitlines()]


def our_answer(scalar: str, place: str) -> Any:
    text = f"key: {scalar}\n" if place == "value" else f"key:\n  {scalar}: 1\n"
    try:
        (document,) = read_documents(text)
    except UnreadableInput:
        return REFUSED
    return document["key"] if isinstance(document, dict) else document


def is_same(ours: Any, theirs: Any) -> bool:
    """Whether both are the same value, comparing numbers by value: kubectl prints floats with their shortest digits."""
    if isinstance(ours, int | float) and isinstance(theirs, int | float):
        return isinstance(ours, bool) == isinstance(theirs, bool) and float(ours) == float(theirs)
    return type(ours) is type(theirs) and bool(ours == theirs)


@pytest.mark.parametrize("place", ["value", "key"])
def test_scalars_read_as_kubectl_reads_them(place: str) -> None:
    answers = [answer for answer in recorded_answers() if answer["as"] == place]
    expected = {answer["scalar"]: REFUSED if answer.get("error") else answer["json"] for answer in answers}
    ours = {scalar: our_answer(scalar, place) for scalar in expected}
    assert len(answers) > 800
    assert [scalar for scalar in expected if not is_same(ours[scalar], expected[scalar])] == []

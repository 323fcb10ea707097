"""The page about requests shows the table that the code goes by."""

from __future__ import annotations

from pathlib import Path

from dynamo_render.kinds.dynamo_graph_deployment_request import transitions

DOCUMENT = (Path(__file__).resolve().parents[3] / "docs" / "reference" / "requests.md").read_text("utf-8")


def test_the_document_has_every_row_and_no_other() -> None:
    assert "\n".join(transitions.table()) in DOCUMENT
    rows = DOCUMENT.partition("| Row | From |")[2].partition("\n\n")[0].splitlines()
    assert len(rows) == len(transitions.TRANSITIONS) + 2


def test_the_diagram_of_the_document_is_drawn_from_the_table() -> None:
    assert "```mermaid\n" + "\n".join(transitions.diagram()) + "\n```" in DOCUMENT


def test_every_state_is_in_the_diagram() -> None:
    text = "\n".join(transitions.diagram())
    assert [state for state in transitions.STATES if state and state not in text] == []

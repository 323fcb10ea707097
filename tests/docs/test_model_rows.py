"""docs/reference/models.md shows the rows of a model's state machine as the code has them."""

from __future__ import annotations

from pathlib import Path

from dynamo_render.kinds.dynamo_model.table import ROWS, Row, Told

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "reference" / "models.md"


def told(condition: Told | None, *, missing: str = "") -> str:
    return f"{condition.status} `{condition.reason}`" if condition else missing


def line(name: str, row: Row) -> str:
    services = "by the slices" if row.services is None and row.ready is not None else told(row.services)
    events = ", ".join(f"{event.sort} `{event.reason}`" for event in row.events)
    again = "" if row.look_again is None else f"after {row.look_again:g} s"
    cells = (f"`{name}`", row.when, told(row.valid), services, told(row.ready), events, again)
    return f"| {' | '.join(cells)} |".replace("|  |", "| |").replace("|  |", "| |")


def test_the_document_shows_the_rows_of_the_table() -> None:
    section = DOCUMENT.read_text("utf-8").partition("\n## Rows\n")[2]
    shown = [each for each in section.splitlines() if each.startswith("| `")]
    assert shown == [line(name, row) for name, row in ROWS.items()]

"""The documents of the controller have every setting, metric and layer, as the code has them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest
from prometheus_client.metrics import MetricWrapperBase

from dynamo_controller.settings import OWN_HELP, ControllerSettings, written
from dynamo_controller.telemetry import ERROR_TYPES, Metrics
from dynamo_render import OperatorSettings
from dynamo_render.commandline.options import HELP

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "controller"
SUFFIXES = ("_bucket", "_count", "_sum")


def table(document: str, first_cell: str) -> Iterator[list[str]]:
    """Yield the rows of the tables whose head begins with a text, without the head."""
    is_inside = False
    for line in (FOLDER / document).read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if not line.startswith("|"):
            is_inside = False
        elif cells[0] == first_cell:
            is_inside = True
        elif is_inside and not cells[0].startswith("---"):
            yield cells


def default_of(field: attrs.Attribute[Any]) -> str:
    if field.name == "grove_termination_delay":
        return "`15m0s`"
    value = written(field.default)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"`{text}`" if text else "none"


def metrics() -> Mapping[str, tuple[str, tuple[str, ...], str]]:
    """Return type, labels and description of every metric of our own, by the name that is exposed."""
    found = Metrics()
    found.count_resources(list)
    collectors = {each._name: each for each in vars(found).values() if isinstance(each, MetricWrapperBase)}
    told = {}
    for family in found.registry.collect():
        if family.name.startswith("process_"):
            continue
        labels = collectors[family.name]._labelnames if family.name in collectors else family._labelnames  # type: ignore[attr-defined]
        name = f"{family.name}_total" if family.type == "counter" else family.name
        told[name] = family.type, tuple(labels), family.documentation
    return told


def test_the_document_has_every_setting_with_its_default_and_meaning() -> None:
    rows = [tuple(cells[:3]) for cells in table("settings.md", "Setting")]
    expected = [
        (f"`{field.name}`", default_of(field), notes[field.name])
        for cls, notes in ((ControllerSettings, OWN_HELP), (OperatorSettings, HELP))
        for field in attrs.fields(cls)
    ]
    assert rows == expected


def test_the_document_has_every_metric_with_its_labels_and_meaning() -> None:
    rows = {
        name.strip("`"): (sort, tuple(re.findall(r"`(\w+)`", labels)), meaning)
        for name, sort, labels, meaning in table("metrics.md", "Metric")
    }
    assert rows == metrics()


def test_the_document_names_every_type_of_error() -> None:
    (row,) = [cells for cells in table("metrics.md", "Label") if cells[0] == "`error_type`"]
    assert set(re.findall(r"`(\w+)`", row[1])) == {*ERROR_TYPES.values(), "internal"}


@pytest.mark.parametrize("cells", list(table("metrics.md", "Alert")), ids=lambda cells: cells[0])
def test_alerts_ask_for_metrics_and_labels_that_there_are(cells: list[str]) -> None:
    known, expression = metrics(), cells[1].strip("`")
    assert expression.count("(") == expression.count(")")
    asked = re.findall(r"dynamo_(?:operator|controller)_\w+", expression)
    assert asked
    labels: set[str] = {"le"} if "_bucket" in expression else set()
    for name in asked:
        plain = name if name in known else name.removesuffix(next(each for each in SUFFIXES if name.endswith(each)))
        labels |= set(known[plain][1])
    used = {label for group in re.findall(r"by \(([^)]*)\)", expression) for label in group.split(", ")}
    used |= set(re.findall(r"(\w+)=\"", expression))
    assert used <= labels


def test_the_document_has_the_layers_of_the_contract_in_order() -> None:
    """A line of the table may hold several layers, one after the other."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (layers,) = [each["layers"] for each in contracts if each["id"] == "controller-layers"]
    named = [set(re.findall(r"`(\w+)`", cells[0])) for cells in table("README.md", "Modules")]
    wanted = [set(layer.split(" | ")) for layer in layers]
    while named and wanted:
        row, rest = named.pop(0), set[str]()
        while row > rest and wanted:
            rest |= wanted.pop(0)
        assert row == rest
    assert (named, wanted) == ([], [])

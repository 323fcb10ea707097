"""The rooms of the packages import each other only as pyproject.toml says, and docs/map.md says the same."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).resolve().parents[2]


def contracts() -> dict[str, dict[str, Any]]:
    """Return the import contracts by id."""
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {contract["id"]: contract for contract in options["tool"]["importlinter"]["contracts"]}


def layers() -> list[str]:
    """Return the layers of dynamo_render, top to bottom."""
    return contracts()["layers"]["layers"]


def test_all_import_contracts_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert status == 0, capsys.readouterr().out


def test_the_map_names_exactly_the_layers_of_the_contract_in_order() -> None:
    text = (ROOT / "docs" / "map.md").read_text(encoding="utf-8")
    rows = text.partition("## The rooms")[2].partition("\n## ")[0].splitlines()
    named = [re.findall(r"`([^`]+)`", row.split("|")[1]) for row in rows if row.startswith("| `")]
    assert [" | ".join(names) for names in named] == layers()


def test_the_controllers_document_names_exactly_the_layers_of_its_contract_in_order() -> None:
    text = (ROOT / "docs" / "controller" / "README.md").read_text(encoding="utf-8")
    rows = text.partition("## Layers")[2].partition("\n## ")[0].splitlines()
    named = [sorted(re.findall(r"`([^`]+)`", row.split("|")[1])) for row in rows if row.startswith("| `")]
    assert named == [sorted(layer.split(" | ")) for layer in contracts()["controller-layers"]["layers"]]


def test_the_contract_on_asking_covers_every_layer_below_the_command_line() -> None:
    """A room added to the layers and forgotten there could read the clock."""
    inside = {f"dynamo_render.{name}" for layer in layers() for name in layer.split(" | ")}
    shell = {"dynamo_render.__main__", "dynamo_render.pytest_plugin", "dynamo_render.commandline"}
    assert set(contracts()["core-asks-nothing"]["source_modules"]) == inside - shell

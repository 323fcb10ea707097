"""The list of faults names tests that exist, and every test of a fault on the real cluster is in the list."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
DOCUMENT = (TESTS.parent / "docs" / "controller" / "faults.md").read_text("utf-8")
NAMED = set(re.findall(r"`([a-z_/]+\.py)::(test_\w+)`", DOCUMENT))


def functions(file: str) -> set[str]:
    tree = ast.parse((TESTS / file).read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_test_in_the_list_of_faults_exists() -> None:
    assert len(NAMED) > 30
    assert sorted(f"{file}::{name}" for file, name in NAMED if name not in functions(file)) == []


def test_every_test_of_a_fault_is_in_the_list() -> None:
    written = {
        (f"cluster/{path.name}", name)
        for path in (TESTS / "cluster").glob("test_faults_of_*.py")
        for name in functions(f"cluster/{path.name}")
        if name.startswith("test_")
    }
    assert sorted(written - NAMED) == []


def test_every_fault_has_one_row_in_order() -> None:
    numbers = [int(number) for number in re.findall(r"^\| F(\d+) \|", DOCUMENT, re.MULTILINE)]
    assert numbers == sorted(set(numbers))
    assert {1, 2, 3, *range(5, 15), *range(18, 24), 25, 28, 29, 31, 33, 34, 35} <= set(numbers)

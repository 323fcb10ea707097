"""The catalogue lists exactly the rules that the code knows, and the page in the documents is made of it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from dynamo_render.commandline import rules as command
from dynamo_render.rules import RULES

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "dynamo_render"

# Calls that name a rule in their first or second argument.
REPORTING = {"Problem", "refuse", "warn", "error", "backend_problems", "_unchanged", "_one_handler"}
# Findings are schema rules whose name alone is written there.
BARE = {"error", "warn"}
ID = re.compile(r"[A-Z]+-[A-Z]?\d+|[a-z]+/[a-z-]+")
# What is wrong with files, settings and facts is no rule for resources.
ABOUT_INPUTS = ("facts/", "record/", "settings/", "input/", "output/")
# Refused by admission and warned about in one place.
DERIVED = {
    "DGD-W01",
    "DCD-W01",
    "DM-W01",
    "DM-W02",
    "DGDR-W01",
    "DGDR-W02",
    *(f"sanity/{name}" for name in ("service-account", "secret", "config-map", "claim")),
}


def names_in(source: str) -> Iterator[str]:
    """Yield the ids that the calls of one module report."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called not in REPORTING:
            continue
        texts = [part.value for part in node.args[:2] if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        for text in texts[:1]:
            is_bare = called in BARE and re.fullmatch(r"[a-z-]+", text)
            if is_bare or ID.fullmatch(text):
                yield f"schema/{text}" if is_bare else text


def used() -> set[str]:
    """Return the ids of rules that the core reports."""
    modules = [
        path
        for path in PACKAGE.rglob("*.py")
        if not path.is_relative_to(PACKAGE / "commandline") and not path.is_relative_to(PACKAGE / "rules")
    ]
    return {name for path in modules for name in names_in(path.read_text(encoding="utf-8"))}


def test_every_rule_that_the_code_reports_is_in_the_catalogue() -> None:
    of_resources = {name for name in used() if not name.startswith(ABOUT_INPUTS)}
    assert sorted(of_resources - RULES.keys() - NOT_REACHABLE) == []


def test_the_catalogue_holds_no_rule_that_nothing_reports() -> None:
    assert sorted(RULES.keys() - used() - DERIVED) == []


# No field of the kinds that are checked has a pattern; the decoder knows patterns for the definitions of others.
NOT_REACHABLE = {"schema/pattern"}


def test_the_page_of_the_documents_is_up_to_date() -> None:
    page = (ROOT / "docs" / "reference" / "rules.md").read_text(encoding="utf-8")
    assert page == "".join(f"{line}\n" for line in command.markdown()), "make it: dynamo-render rules -o markdown"


def test_importing_the_library_and_rendering_load_neither_the_catalogue_nor_the_checks() -> None:
    script = (
        "import sys, dynamo_render as library; "
        "from dynamo_render.rules.contract import Example; "
        "resource = Example().resource(); "
        "[sys.modules.pop(name) for name in list(sys.modules) if name.startswith('dynamo_render.rules')]; "
        "library.render(resource); "
        "print([name for name in sys.modules if name.startswith(('dynamo_render.rules', 'dynamo_render.checks'))])"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

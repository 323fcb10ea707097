"""The committed schemas are what the package describes today."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from dynamo_render.kube.text import read_documents
from dynamo_render.schemas import definition, editor, kinds

SCHEMAS = Path(__file__).resolve().parents[3] / "schemas"


def test_the_files_are_current() -> None:
    """`python schemas/generate.py` writes them again."""
    checked = subprocess.run(
        [sys.executable, str(SCHEMAS / "generate.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stderr) == (0, "")


def test_each_kind_has_its_definition_in_a_file() -> None:
    for kind in kinds.KINDS.values():
        text = (SCHEMAS / "crds" / f"{kind.plural}.yaml").read_text(encoding="utf-8")
        assert list(read_documents(text)) == [definition.custom_resource_definition(kind)]


def test_each_kind_has_its_editor_schema_in_a_file() -> None:
    for kind in kinds.KINDS.values():
        text = (SCHEMAS / "inputs" / f"{kind.singular}.json").read_text(encoding="utf-8")
        assert json.loads(text) == editor.json_schema(kind)

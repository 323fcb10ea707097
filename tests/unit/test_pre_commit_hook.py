"""The hook for pre-commit calls a command that exists."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from dynamo_render import read_documents
from dynamo_render.commandline import COMMANDS

HOOKS = Path(__file__).resolve().parents[2] / ".pre-commit-hooks.yaml"


def test_every_hook_starts_a_command_of_ours_on_yaml_and_json() -> None:
    (hooks,) = cast("list[list[dict[str, Any]]]", list(read_documents(HOOKS.read_text(encoding="utf-8"))))
    assert [hook["entry"].split()[0] for hook in hooks] == ["dynamo-render"]
    assert [hook["entry"].split()[1] for hook in hooks if hook["entry"].split()[1] not in COMMANDS] == []
    assert all(hook["files"] == r"\.(ya?ml|json)$" for hook in hooks)

"""Calls of the command line with streams and variables of their own."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from dynamo_render.commandline.contract import Console
from dynamo_render.commandline.main import main

GRAPH = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata:
  name: NAME
  namespace: team-a
spec:
  services:
    Frontend:
      componentType: frontend
      replicas: 1
      extraPodSpec:
        mainContainer:
          image: registry.example/runtime:1
"""


@attrs.frozen
class Result:
    """What a call came to."""

    status: int
    out: str
    err: str


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


Call = Callable[..., Result]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Return a function that runs the command line in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(
        *words: Any, stdin: bytes = b"", environ: Mapping[str, str] | None = None, terminal: bool = False
    ) -> Result:
        out, err = io.StringIO(), Terminal() if terminal else io.StringIO()
        status = main([str(word) for word in words], Console(io.BytesIO(stdin), out, err, environ or {}))
        return Result(status, out.getvalue(), err.getvalue())

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], str]:
    """Return a function that writes a file into the folder of the call and returns its name."""

    def file(name: str, text: str) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return name

    return file


@pytest.fixture
def graph() -> Callable[..., str]:
    """Return a function that gives the text of a small graph: one frontend."""

    def text(name: str = "agg", **replaced: str) -> str:
        result = GRAPH.replace("NAME", name)
        for old, new in replaced.items():
            result = result.replace(old, new)
        return result

    return text

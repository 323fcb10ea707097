"""What we marshal is what the real kubectl prints for the same value, byte by byte, for random values.

The seed is `SEED` of the environment, 0 without it; a failure names it.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from random import Random
from typing import Any

from dynamo_render.kube.yaml_marshalled import marshalled

SEED = int(os.environ.get("SEED", "0"))
VALUES = 3_000
CALL_LIMIT = 120
"""Seconds for one call of kubectl."""

# Left out: the line separators of Unicode, the byte order mark and the word "<<", where kubectl and the marshaller of
# the specification are of different versions.
WORDS = [
    "a",
    "b",
    "lorem",
    "ipsum",
    "dolor",
    "1",
    "0",
    "-1",
    "1_000",
    "0x1f",
    "0o7",
    "017",
    "08",
    "1e3",
    "1.5",
    ".5",
    ".",
    "+",
    "-",
    "~",
    "null",
    "Null",
    "true",
    "yes",
    "n",
    "on",
    "y",
    "off",
    ".nan",
    "2024-01-02",
    "2024-13-45",
    "12:30",
    ":",
    "#",
    ",",
    "[",
    "]",
    "{",
    "}",
    "&",
    "*",
    "!",
    "|",
    ">",
    "'",
    '"',
    "%",
    "@",
    "`",
    "?",
    "--",
    "---",
    "...",
    "key:",
    "a:b",
    "a#b",
    "é",
    "日本",
    "😀",
    "\t",
    "\x07",
]
NUMBERS = (0, 1, -5, 2**31, 2**53 + 1, 2**63 - 1, 0.5, 20.5, 1e-4, 1e-5, 123456.5, 1234567.5, 1e20, 1e22, -1.25e-9)
# Keys that mix digits and letters at one place have no order of their own: what is printed depends on the algorithm.
KEYS = ("a", "b", "B", "_x", "a_b", "aB", "dgd_image", "dgdImage", "on", "key.json", "x-y", "0.5", "é", "n", "~")


def text(chance: Random) -> str:
    parts = [chance.choice(WORDS) for _ in range(chance.choice((1, 1, 1, 2, 3, 25, 40)))]
    return chance.choice((" ", " ", "", "  ", "\n")).join(parts) + chance.choice(("", "", "", "\n", " ", "\n\n"))


def value(chance: Random, depth: int = 0) -> Any:
    sort = chance.randrange(10 if depth < 4 else 6)
    if sort < 4:
        return text(chance)
    if sort < 6:
        return chance.choice((*NUMBERS, True, False, None, {}, []))
    if sort < 8:
        return [value(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {key: value(chance, depth + 1) for key in chance.sample(KEYS, chance.randrange(4))}


def printed_by_kubectl(kubectl: Path, values: list[Any], folder: Path) -> list[str]:
    frame = {"apiVersion": "example.test/v1", "kind": "Sample", "metadata": {"name": "a", "labels": {"read": "yes"}}}
    items = [{**frame, "value": each} for each in values]
    source = folder / "values.json"
    source.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), "utf-8")
    command = [str(kubectl), "label", "--local", "--output=yaml", f"--filename={source}", "read=yes", "--overwrite"]
    environment = {"PATH": os.defpath, "HOME": str(folder), "KUBECONFIG": os.devnull}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=CALL_LIMIT, check=True, env=environment, encoding="utf-8"
    )
    return [document.partition("\nvalue:")[2] for document in done.stdout.split("apiVersion: example.test/v1\n")[1:]]


def test_random_values_are_marshalled_as_kubectl_prints_them(kubectl: Path, tmp_path: Path) -> None:
    chance = Random(SEED)  # noqa: S311 - makes values
    values = [value(chance) for _ in range(VALUES)]
    printed = printed_by_kubectl(kubectl, values, tmp_path)
    assert len(printed) == VALUES
    ours = [marshalled({"value": each}).removeprefix("value:") for each in values]
    different = [
        (each, mine, theirs)
        for each, mine, theirs in zip(values, ours, printed, strict=True)
        if f"{mine}---\n" != (theirs if theirs.endswith("\n---\n") else f"{theirs}---\n")
    ]
    assert different[:5] == [], f"{len(different)} differences with SEED={SEED}"

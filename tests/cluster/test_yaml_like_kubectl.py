"""What we read of YAML is what the real kubectl reads, type by type and refusal by refusal, for random texts.

The seed is `SEED` of the environment, 0 without it; a failure names it. What we refuse on purpose is listed with the
words of the refusal; docs/decisions/0005-yaml-stricter-than-kubectl.md has the reasons.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from dynamo_render import UnreadableInput, read_documents
from tests.cluster import yaml_texts

SEED = int(os.environ.get("SEED", "0"))
TEXTS = 20_500
PER_CALL = 1_000
MOST_SHOWN = 20
CALL_LIMIT = 120
"""Seconds for one call of kubectl."""

REFUSED = object()

STRICTER = re.compile(r"the key .* is already set in this mapping", re.DOTALL)
"""Our words where we are stricter than kubectl on purpose: of equal keys, kubectl keeps one without saying which."""


def document(text: str, name: str) -> str:
    return f"apiVersion: example.test/v1\nkind: Sample\nmetadata: {{name: {name}}}\nvalue:{text}\n"


def read_by_kubectl(kubectl: Path, texts: Mapping[str, str], folder: Path) -> dict[str, Any]:
    """Return what kubectl reads of each text, by name; those that it refuses are missing.

    Every text is a file, so that a refusal takes nothing else with it.
    """
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(document(text, name), "utf-8")
    command = [str(kubectl), "label", "--local", "--output=json", f"--filename={folder}", "read=yes"]
    environment = {"PATH": os.defpath, "HOME": str(folder), "KUBECONFIG": os.devnull}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=CALL_LIMIT, check=False, env=environment, encoding="utf-8"
    )
    read = {content["metadata"]["name"]: content for content in json_values(done.stdout)}
    assert read, done.stderr[-2000:]
    return {name: {key: content[key] for key in content.keys() - {"metadata"}} for name, content in read.items()}


def json_values(text: str) -> Iterator[Any]:
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        yield value
        at += len(text[at:]) - len(text[at:].lstrip())


def read_by_us(text: str) -> tuple[Any, str]:
    """Return what we read, or REFUSED with our words."""
    read: Any
    try:
        (read,) = read_documents(document(text, "a"))
    except UnreadableInput as refusal:
        return REFUSED, str(refusal)
    return {key: read[key] for key in read.keys() - {"metadata"}}, ""


def is_same(ours: Any, theirs: Any) -> bool:
    """Whether both are the same value; numbers compare by value, for kubectl prints floats in its own way."""
    if ours is REFUSED or theirs is REFUSED:
        return ours is theirs
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(is_same(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(is_same, ours, theirs))
    if isinstance(ours, int | float) and isinstance(theirs, int | float):
        return isinstance(ours, bool) == isinstance(theirs, bool) and float(ours) == float(theirs)
    return type(ours) is type(theirs) and bool(ours == theirs)


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """The texts of this run by the names of their documents."""
    return {f"text-{index}": text for index, text in enumerate(yaml_texts.cases(SEED, TEXTS))}


@pytest.fixture(scope="module")
def read(kubectl: Path, texts: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What kubectl reads of the texts, by name, without those that it refuses."""
    found: dict[str, Any] = {}
    folder, names = tmp_path_factory.mktemp("texts"), list(texts)
    for start in range(0, len(names), PER_CALL):
        batch = {name: texts[name] for name in names[start : start + PER_CALL]}
        found |= read_by_kubectl(kubectl, batch, folder / str(start))
    shutil.rmtree(folder)
    return found


def test_every_text_reads_as_kubectl_reads_it_or_is_refused_as_by_kubectl(
    texts: dict[str, str], read: dict[str, Any]
) -> None:
    different = []
    for name, text in texts.items():
        ours, words = read_by_us(text)
        theirs = read.get(name, REFUSED)
        is_stricter = ours is REFUSED and STRICTER.search(words)
        if not (is_same(ours, theirs) or is_stricter):
            different.append((text, words or ours, theirs if theirs is not REFUSED else "refused by kubectl"))
    assert different[:MOST_SHOWN] == [], f"{len(different)} differences with SEED={SEED}"


def test_kubectl_accepts_a_good_part_of_the_texts_and_refuses_another(
    texts: dict[str, str], read: dict[str, Any]
) -> None:
    assert len(texts) / 2 < len(read) < len(texts) * 9 / 10


def test_we_are_stricter_than_kubectl_in_few_texts_only(texts: dict[str, str], read: dict[str, Any]) -> None:
    stricter = [name for name in read if read_by_us(texts[name])[0] is REFUSED]
    assert 0 < len(stricter) < len(texts) / 25

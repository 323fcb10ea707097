"""Compares rendered objects with recorded ones, after taking out of both what the recordings leave open.

Everything that is left out is left out by a named function whose docstring says why; nothing else is ignored. The
recordings lie outside the project, in a folder beside the repository. This module reads them and never writes.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import attrs

from dynamo_render import ClusterFacts, OperatorSettings, Rendered, render
from dynamo_render.kube import manifest

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "conformance"
RECORDED_FROM_A_CLUSTER = "live"

Json = dict[str, Any]

UNRECORDED_KINDS = frozenset({"Secret", "DynamoGraphDeploymentScalingAdapter"})
"""Kinds that the recordings never hold, whether or not the operator makes them."""

# What the schema of a custom resource may or may not have filled in: a key, and the value that says nothing.
SAYS_NOTHING: tuple[tuple[str, object], ...] = (
    ("useAsCompilationCache", False),  # the schema of our kinds fills it in before the operator sees the resource
    ("protocol", "TCP"),  # the schema fills it in for every port
    ("service", ""),  # the schema fills it in for a gRPC probe; recordings hold "", null or nothing
)

# Defaults that the recording API server gave to objects of add-ons, which the operator did not ask for.
ADD_ON_DEFAULTS: tuple[tuple[str, object], ...] = (
    ("restartPolicy", "RecreateGroupOnPodRestart"),  # LeaderWorkerSet
    ("failureMode", "FailClose"),  # InferencePool
    ("group", ""),  # InferencePool
)


@attrs.frozen(eq=False)
class Case:
    """One recorded render: what went in, and what the released operator made of it."""

    source: str
    id: str
    content: Mapping[str, Any]

    @property
    def expected(self) -> Mapping[str, Any]:
        """The objects, or how the resource was refused."""
        return self.content["expected"]

    @property
    def is_refused(self) -> bool:
        """Whether the released operator or the API server refused the resource."""
        return bool(self.expected.get("error"))

    @property
    def is_partial(self) -> bool:
        """Whether the recording ends early, at an object that the API server refused: what it lacks says nothing."""
        return bool(self.expected.get("partial"))

    def rendered(self) -> Rendered:
        """Return our render of the case in the shipped profile."""
        settings = OperatorSettings.from_mapping({**self.content["settings"], "profile": "0.9-shipped"})
        facts = ClusterFacts.from_mapping(self.content["facts"])
        return render(self.content["resource"], settings=settings, facts=facts)

    def differences(self) -> list[str]:
        """Return a line for each place where our objects and the recorded ones differ."""
        ours, theirs = self._comparable(self.rendered().objects), self._comparable(self.expected["objects"])
        lines = [f"not rendered: {_named(key)}" for key in sorted(theirs.keys() - ours.keys())]
        if not self.is_partial:
            lines += [f"not recorded: {_named(key)}" for key in sorted(ours.keys() - theirs.keys())]
        for key in sorted(ours.keys() & theirs.keys()):
            lines += [f"{_named(key)}{line}" for line in unequal_leaves(ours[key], theirs[key])]
        return lines

    def _comparable(self, objects: Iterable[Json]) -> dict[tuple[str, str, str, str], Json]:
        """Return *objects* by identity without what the recording leaves open; one that is listed twice counts once."""
        steps = _STEPS if self.source != RECORDED_FROM_A_CLUSTER else _STEPS + _STEPS_FOR_A_CLUSTER
        result = {}
        for made in objects:
            if made["kind"] in UNRECORDED_KINDS:
                continue
            content = made
            for step in steps:
                content = step(content)
            result[manifest.identity(made)] = content
        return result


def cases() -> Iterator[Case]:
    """Yield every recorded case of this release; none when the folder is absent."""
    for source in ("public-examples", "generated", RECORDED_FROM_A_CLUSTER):
        path = FOLDER / f"{source}.jsonl"
        if path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                content = json.loads(line)
                yield Case(source, content["id"], content)


def without_bookkeeping(made: Json) -> Json:
    """Leave out owner references, which hold UIDs, and the annotations in which the operator notes what it applied."""
    metadata = {key: value for key, value in made["metadata"].items() if key != "ownerReferences"}
    annotations = {
        key: value
        for key, value in (metadata.pop("annotations", None) or {}).items()
        if not key.startswith("nvidia.com/last-applied-")
    }
    if annotations:
        metadata["annotations"] = annotations
    return {**made, "metadata": metadata}


def without_empty_defaults(value: Any) -> Any:
    """Leave out nulls, which JSON clients and the API server read as absent, and what `SAYS_NOTHING` lists."""
    return _without(value, SAYS_NOTHING, drop_nulls=True)


def without_add_on_defaults(value: Any) -> Any:
    """Leave out what the recording API server filled into add-on objects, which `strip_defaults.py` does not know."""
    return _without(value, ADD_ON_DEFAULTS, drop_nulls=False)


def without_server_defaults(made: Json) -> Json:
    """Leave out what the API server fills into built-in kinds, as the script beside the recordings does."""
    return _strip_defaults()(made)


def without_pull_policy_of_no_image(value: Any) -> Any:
    """Leave out the pull policy that the API server gave to a container without an image.

    The script beside the recordings expects ``Always`` there; the server wrote ``IfNotPresent``.
    """
    if isinstance(value, list):
        return [without_pull_policy_of_no_image(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    says_nothing = not value.get("image") and value.get("imagePullPolicy") == "IfNotPresent"
    return {
        key: without_pull_policy_of_no_image(entry)
        for key, entry in value.items()
        if not (says_nothing and key == "imagePullPolicy")
    }


def with_sorted_pull_secrets(value: Any) -> Any:
    """Sort pull secrets: the released operator lists those it found in the order of its cache, which is random."""
    if isinstance(value, list):
        return [with_sorted_pull_secrets(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    return {
        key: sorted(entry, key=str) if key == "imagePullSecrets" else with_sorted_pull_secrets(entry)
        for key, entry in value.items()
    }


_STEPS: tuple[Callable[[Json], Json], ...] = (without_bookkeeping, without_empty_defaults)
_STEPS_FOR_A_CLUSTER: tuple[Callable[[Json], Json], ...] = (
    without_server_defaults,
    without_add_on_defaults,
    without_pull_policy_of_no_image,
    with_sorted_pull_secrets,
)


def unequal_leaves(ours: Any, theirs: Any, path: str = "") -> Iterator[str]:
    """Yield a line for each leaf, key or length in which two JSON values differ; true and 1 are different."""
    if type(ours) is not type(theirs):
        yield f"{path}: we render {_short(ours)}, recorded is {_short(theirs)}"
    elif isinstance(ours, dict):
        for key in sorted(ours.keys() | theirs.keys()):
            if key not in ours:
                yield f"{path}.{key}: not rendered, recorded is {_short(theirs[key])}"
            elif key not in theirs:
                yield f"{path}.{key}: we render {_short(ours[key])}, not recorded"
            else:
                yield from unequal_leaves(ours[key], theirs[key], f"{path}.{key}")
    elif isinstance(ours, list) and len(ours) == len(theirs):
        for index, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from unequal_leaves(mine, other, f"{path}[{index}]")
    elif ours != theirs:
        yield f"{path}: we render {_short(ours)}, recorded is {_short(theirs)}"


def _without(value: Any, nothing: tuple[tuple[str, object], ...], *, drop_nulls: bool) -> Any:
    if isinstance(value, list):
        return [_without(entry, nothing, drop_nulls=drop_nulls) for entry in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without(entry, nothing, drop_nulls=drop_nulls)
        for key, entry in value.items()
        if not (entry is None and drop_nulls)
        and not any(key == name and entry == default and type(entry) is type(default) for name, default in nothing)
    }


@cache
def _strip_defaults() -> Callable[[Json], Json]:
    spec = importlib.util.spec_from_file_location("strip_defaults", FOLDER / "strip_defaults.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.strip


def _named(key: tuple[str, str, str, str]) -> str:
    return f"{key[1]}/{key[3]}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:197]}..."

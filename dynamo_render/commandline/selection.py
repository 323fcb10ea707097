"""Which objects or pods to show: ``--select kind=Service,component=Frontend``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dynamo_render.commandline.contract import UsageError
from dynamo_render.values import Value, frozen

KEYS = ("kind", "name", "namespace", "component", "apiVersion")

_COMPONENT = "nvidia.com/dynamo-component"

Traits = Mapping[str, frozenset[str]]


@frozen
class Selection(Value):
    """Conditions on what is shown: every key of one of *alternatives* must have one of its values; none selects all."""

    alternatives: tuple[Traits, ...] = ()

    @property
    def is_everything(self) -> bool:
        """Whether there are no conditions."""
        return not self.alternatives

    def takes(self, traits: Traits) -> bool:
        """Whether something with these *traits* is selected."""
        return self.is_everything or any(
            all(values & traits[key] for key, values in alternative.items()) for alternative in self.alternatives
        )


def parsed(texts: Sequence[str]) -> Selection:
    """Return the selection that is written as *texts*; raises UsageError for what is no ``key=value``."""
    return Selection(tuple(_alternative(text) for text in texts))


def _alternative(text: str) -> Traits:
    conditions: dict[str, frozenset[str]] = {}
    for condition in text.split(","):
        key, equals, values = condition.strip().partition("=")
        if key not in KEYS:
            raise UsageError(f"--select {text}: {key!r} is not a key; keys: {', '.join(KEYS)}")
        if not equals or not values:
            raise UsageError(f"--select {text}: write {key}=VALUE")
        if key in conditions:
            raise UsageError(f"--select {text}: {key} is given twice; write {key}=A|B for either")
        conditions[key] = _folded(values.split("|"))
    return conditions


def traits_of_object(made: Mapping[str, Any], resource: str) -> Traits:
    """Return what an object can be selected by; *resource* is the name of what it was rendered from."""
    metadata = made["metadata"]
    name = metadata["name"]
    # A component's own objects are called <graph>-<component>, also those that carry no label of it.
    components = (name, name.removeprefix(f"{resource}-"), *_labelled_components(made))
    return {
        "kind": _folded([made["kind"]]),
        "name": _folded([name]),
        "namespace": _folded([metadata.get("namespace", "")]),
        "apiVersion": _folded([made["apiVersion"]]),
        "component": _folded(components),
    }


def traits_of_pod(pod: Mapping[str, Any]) -> Traits:
    """Return what an effective pod can be selected by: its workload stands for it too."""
    kind, _, workload = pod["workload"].partition("/")
    return {
        "kind": _folded(["Pod", kind]),
        "name": _folded([pod["pod"], workload]),
        "namespace": _folded([pod["namespace"]]),
        "apiVersion": _folded(["v1"]),
        "component": _folded([pod["component"], workload]),
    }


def _labelled_components(made: Mapping[str, Any]) -> Iterator[str]:
    """Yield the components in the labels of an object, of its pods, of its cliques, and in its selector."""
    spec = made.get("spec") or {}
    template = spec.get("template") or {}
    holders = [made["metadata"], template.get("metadata") or {}, *template.get("cliques", ())]
    labels = [holder.get("labels") or {} for holder in holders]
    if isinstance(spec.get("selector"), dict):
        labels.append(spec["selector"])
    for pairs in labels:
        if isinstance(component := pairs.get(_COMPONENT), str):
            yield component


def _folded(values: Iterable[str]) -> frozenset[str]:
    return frozenset(value.strip().casefold() for value in values)

"""What changed objects mean for running pods: which are replaced, and by which change; how many start and stop.

Takes rendered objects and nothing else; beside `dynamo_render.pipeline`, which it does not know. What replaces the pods
of an object is for its room, `workloads`, to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from dynamo_render.kube import diff
from dynamo_render.kube.diff import Change, Identity, ObjectChange
from dynamo_render.kube.manifest import Manifest
from dynamo_render.kube.shapes import Path
from dynamo_render.values import Value, frozen
from dynamo_render.workloads import WORKLOADS
from dynamo_render.workloads.contract import PodTemplate

_SHAPES = {(workload.group, workload.kind): workload.shape() for workload in WORKLOADS.values()}
_TEMPLATES_OF = {
    (workload.group, workload.kind): workload.templates for workload in WORKLOADS.values() if workload.templates
}


@frozen
class PodImpact(Value):
    """What a change means for the equal pods of one template: how many were wanted *before*, and are *after*.

    *because* holds the changes that replace those that go on; without any, they are left alone.
    """

    identity: Identity
    template: str
    before: int
    after: int
    because: tuple[Change, ...] = ()

    @property
    def restarting(self) -> int:
        """How many pods are replaced."""
        return min(self.before, self.after) if self.because else 0

    @property
    def starting(self) -> int:
        """How many pods there are more."""
        return max(self.after - self.before, 0)

    @property
    def stopping(self) -> int:
        """How many pods there are fewer."""
        return max(self.before - self.after, 0)


def object_changes(old: Iterable[Manifest], new: Iterable[Manifest]) -> tuple[ObjectChange, ...]:
    """Return which objects are added, removed or changed, with entries of lists matched as their kind says."""
    return diff.object_changes(old, new, _SHAPES)


def impacts(changes: Iterable[ObjectChange]) -> tuple[PodImpact, ...]:
    """Return what *changes* mean for the pods of each template; templates that keep all their pods are left out."""
    return tuple(impact for change in changes for impact in _impacts(change))


def replacing_paths(made: Manifest) -> tuple[Path, ...]:
    """Return where in an object a change replaces pods; nowhere in one that runs none."""
    return tuple(dict.fromkeys(path for template in _templates(made).values() for path in template.replaced_by))


def pods(objects: Iterable[Manifest]) -> int:
    """Return how many pods *objects* run together."""
    return sum(template.pods for made in objects for template in _templates(made).values())


def _impacts(change: ObjectChange) -> Iterator[PodImpact]:
    before, after = _templates(change.old), _templates(change.new)
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        because = tuple(_reasons(change.changes, new)) if old and new else ()
        impact = PodImpact(change.identity, name, old.pods if old else 0, new.pods if new else 0, because)
        if because or impact.before != impact.after:
            yield impact


def _templates(manifest: Manifest | None) -> Mapping[str, PodTemplate]:
    if manifest is None:
        return {}
    key = (manifest["apiVersion"].rpartition("/")[0], manifest["kind"])
    found = _TEMPLATES_OF.get(key)
    try:
        return {template.name: template for template in found(manifest)} if found else {}
    except (AttributeError, KeyError, TypeError):
        return {}  # no API server takes an object of another form, so it runs no pods


def _reasons(changes: Iterable[Change], template: PodTemplate) -> Iterator[Change]:
    for change in changes:
        if any(_touches(change, path) for path in template.replaced_by):
            yield change


def _touches(change: Change, path: Path) -> bool:
    """Whether *change* is at *path*, below it, or replaces something that it leads through."""
    if change.path[: len(path)] == path:
        return True
    return change.kind != "reordered" and path[: len(change.path)] == change.path

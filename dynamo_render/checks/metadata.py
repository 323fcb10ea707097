"""Labels and annotations as an API server accepts them: those of the resource, and what its components hand on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dynamo_render.checks.parts import Part, Path
from dynamo_render.errors import Problem
from dynamo_render.kube import names
from dynamo_render.spec.metadata import Metadata

LARGEST_ANNOTATIONS = 256 * 1024


def resource_problems(metadata: Metadata) -> Iterator[Problem]:
    """Yield the labels and annotations of a resource that an API server refuses."""
    yield from _pair_problems(metadata.labels, metadata.annotations, ("metadata",))


def part_problems(part: Part) -> Iterator[Problem]:
    """Yield the labels and annotations of a component that an API server refuses on what is made of it."""
    spec = part.spec
    yield from _pair_problems(spec.labels, spec.annotations, part.path)
    for field, holder in (("extraPodMetadata", spec.extra_pod_metadata), ("ingress", spec.ingress)):
        if holder is not None:
            yield from _pair_problems(holder.labels, holder.annotations, (*part.path, field))


def _pair_problems(
    labels: Mapping[str, str] | None, annotations: Mapping[str, str] | None, path: Path
) -> Iterator[Problem]:
    for key, value in (labels or {}).items():
        key_reason, value_reason = names.why_not_qualified_name(key), names.why_not_label_value(value)
        if key_reason:
            yield Problem("metadata/label", (*path, "labels", key), f'"{key}" is no legal label key: {key_reason}')
        if value_reason:
            message = f'"{value}" is no legal label value: {value_reason}'
            yield Problem("metadata/label", (*path, "labels", key), message)
    for key in annotations or ():
        reason = names.why_not_annotation_key(key)
        if reason:
            message = f'"{key}" is no legal annotation key: {reason}'
            yield Problem("metadata/annotation", (*path, "annotations", key), message)
    size = sum(len(key.encode()) + len(value.encode()) for key, value in (annotations or {}).items())
    if size > LARGEST_ANNOTATIONS:
        message = f"have {size} bytes in all, at most {LARGEST_ANNOTATIONS} are allowed"
        yield Problem("metadata/annotation", (*path, "annotations"), message)

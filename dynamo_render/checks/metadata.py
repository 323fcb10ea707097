"""Labels and annotations as an API server accepts them: those of the resource, and what its components hand on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from dynamo_render.checks.parts import Part, Path
from dynamo_render.errors import Problem
from dynamo_render.kube import names, structural
from dynamo_render.kube.schema_nodes import Findings, Ref
from dynamo_render.spec.metadata import Metadata

LARGEST_ANNOTATIONS = 256 * 1024


_decode: Final = structural.decoder(Ref("meta/v1.ObjectMeta"))


def object_problems(resource: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what an API server refuses or drops in the metadata of *resource*, what a render never reads included."""
    written = resource.get("metadata")
    findings = Findings()
    decoded = _decode(written if written is not None else {}, (None, "metadata"), findings)
    yield from findings.problems
    if decoded is structural.INVALID:
        return
    for index, finalizer in enumerate(decoded.get("finalizers", ())):
        reason = names.why_not_qualified_name(finalizer) if isinstance(finalizer, str) else None
        if reason:
            message = f'"{finalizer}" is no legal finalizer: {reason}'
            yield Problem("schema/name", ("metadata", "finalizers", index), message)
    prefix = decoded.get("generateName")
    reason = names.why_not_dns_subdomain(_as_beginning(prefix)) if prefix else None
    if reason:
        yield Problem("schema/name", ("metadata", "generateName"), f'"{prefix}" begins no legal name: {reason}')
    yield from _owner_problems(decoded.get("ownerReferences", ()))


def _as_beginning(prefix: str) -> str:
    """Return *prefix* as a whole name: something follows a dash at its end."""
    return f"{prefix[:-1]}a" if prefix.endswith("-") else prefix


def _owner_problems(owners: Iterable[Mapping[str, Any]]) -> Iterator[Problem]:
    path, controllers = ("metadata", "ownerReferences"), 0
    for index, owner in enumerate(owners):
        for field in ("apiVersion", "kind", "name", "uid"):
            if owner.get(field) == "":
                yield Problem("schema/length", (*path, index, field), "must not be empty")
        controllers += owner.get("controller") is True
        if controllers > 1 and owner.get("controller") is True:
            yield Problem("schema/duplicate", (*path, index), "is a second owner with controller: true")


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

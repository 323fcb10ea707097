"""The frame of every custom resource: metadata with a legal name around a spec."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dynamo_render.errors import Problem
from dynamo_render.kinds.contract import Reading
from dynamo_render.kube import names, structural
from dynamo_render.kube.structural import Findings
from dynamo_render.profiles import Profile
from dynamo_render.spec import structure
from dynamo_render.spec.metadata import METADATA, Metadata

_KNOWN = ("apiVersion", "kind", "metadata", "spec", "status")
_decode_metadata = structural.decoder(METADATA)

Rules = Callable[[Any, Profile], Iterator[Problem]]


def read(resource: Mapping[str, Any], profile: Profile, spec_class: type, rules: Rules) -> Reading:
    """Return *resource* with its spec as *spec_class* and everything that structure and *rules* find wrong with it."""
    findings = Findings()
    metadata = _metadata(resource, findings)
    spec = _spec(resource, spec_class, findings)
    for key in resource:
        if key not in _KNOWN:
            hint = structural.nearest(key, _KNOWN)
            findings.warn((None, key), "unknown-field", "is not a known field and is dropped", hint)
    status = resource.get("status")
    problems = findings.problems
    if not any(problem.severity == "error" for problem in problems):
        problems.extend(rules(spec, profile))
    return Reading(
        metadata=metadata,
        spec=spec,
        status=status if isinstance(status, Mapping) else {},
        problems=tuple(problems),
    )


def _metadata(resource: Mapping[str, Any], findings: Findings) -> Metadata:
    where = (None, "metadata")
    given = resource.get("metadata")
    metadata = _decode_metadata(given if given is not None else {}, where, findings)
    if metadata is structural.INVALID:
        return Metadata(name="invalid", namespace="default")
    if not metadata.name:
        hint = "generateName needs a cluster; give the name that the object will have" if given else None
        findings.error((where, "name"), "required", "is required", hint)
    else:
        reason = names.why_not_dns_subdomain(metadata.name)
        if reason:
            findings.error((where, "name"), "name", f'"{metadata.name}" is no legal name: {reason}')
    if metadata.namespace:
        reason = names.why_not_dns_label(metadata.namespace)
        if reason:
            findings.error((where, "namespace"), "name", f'"{metadata.namespace}" is no legal namespace: {reason}')
    return metadata  # type: ignore[no-any-return]


def _spec(resource: Mapping[str, Any], spec_class: type, findings: Findings) -> Any:
    given = resource.get("spec")
    spec = structure.decoder_of(spec_class)(given if given is not None else {}, (None, "spec"), findings)
    return spec_class() if spec is structural.INVALID else spec

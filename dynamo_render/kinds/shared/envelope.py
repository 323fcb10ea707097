"""The frame of every custom resource: metadata with a legal name around a spec."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from dynamo_render.errors import Problem
from dynamo_render.kinds.contract import Reading
from dynamo_render.kube import names, structural
from dynamo_render.kube.repair import PLACEHOLDER, Repair
from dynamo_render.kube.schema_nodes import Findings
from dynamo_render.profiles import Profile
from dynamo_render.spec import structure
from dynamo_render.spec.metadata import METADATA, Metadata

_KNOWN = ("apiVersion", "kind", "metadata", "spec", "status")

# A value that lacks something is filled in first and taken out next; what is around it may lack something then.
_MOST_REPAIRS = 6

_decode_metadata = structural.decoder(METADATA)

Rules = Callable[[Any, Profile], Iterator[Problem]]


def read(resource: Mapping[str, Any], profile: Profile, spec_class: type, rules: Rules) -> Reading:
    """Return *resource* with its spec as *spec_class* and everything that structure and *rules* find wrong with it.

    Rules run over what is left when the schema refuses something, so that one mistake does not hide the next.
    """
    findings = Findings()
    metadata, spec = _structured(resource, spec_class, findings)
    for key in resource:
        if key not in _KNOWN:
            hint = structural.nearest(key, _KNOWN)
            findings.warn((None, key), "unknown-field", "is not a known field and is dropped", hint)
    problems, repair = findings.problems, None
    if any(problem.severity == "error" for problem in problems):
        metadata, spec, repair = _repaired(resource, spec_class, problems)
        problems.extend(repair.visible(rules(spec, profile)))
    else:
        problems.extend(rules(spec, profile))
    status = resource.get("status")
    return Reading(
        metadata=metadata,
        spec=spec,
        status=status if isinstance(status, Mapping) else {},
        problems=tuple(problems),
        repair=repair,
    )


def _repaired(
    resource: Mapping[str, Any], spec_class: type, problems: Sequence[Problem]
) -> tuple[Metadata, Any, Repair]:
    """Return metadata and spec without what the schema refuses."""
    repair = Repair(resource)
    for _pass in range(_MOST_REPAIRS):
        repair.take_out(problems)
        findings = Findings()
        metadata, spec = _structured(repair.document, spec_class, findings)
        problems = [found for found in findings.problems if found.severity == "error" and found.rule != "schema/count"]
        if not problems:
            return metadata, spec, repair
    beyond_repair = {problem.path[:1] for problem in problems}
    repair.take_out([Problem("schema/type", part, "") for part in beyond_repair])
    return metadata if ("metadata",) not in beyond_repair else Metadata(name=PLACEHOLDER), spec_class(), repair


def _structured(resource: Mapping[str, Any], spec_class: type, findings: Findings) -> tuple[Metadata, Any]:
    return _metadata(resource, findings), _spec(resource, spec_class, findings)


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

"""What the API server stores of a custom resource that is created: its normal form, and why it would be refused.

Unknown keys are pruned, nulls dropped, defaults filled in, the status discarded; everything else stays as written.
Specification: api.md section 2. Admission webhooks and what the server assigns (uid, generation, ...) are not played.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from dynamo_render.errors import InvalidResource, Problem
from dynamo_render.kube import schema_forms, schema_nodes, structural
from dynamo_render.kube.schema_nodes import Findings, Struct
from dynamo_render.kube.structural import Decoder
from dynamo_render.schemas import kinds
from dynamo_render.schemas.kinds import CustomKind

Json = dict[str, Any]


def normalised(resource: Mapping[str, Any], *, text_parameters: bool = False) -> tuple[Json, tuple[Problem, ...]]:
    """Return *resource* as it would be stored, and everything that its schema refuses or drops.

    The server stores it only if no problem is an error; what is refused is missing in the result. *text_parameters* as
    in `kinds.resource_struct`. Raises InvalidResource for a kind that is not one of the group's.
    """
    kind = _kind(resource)
    findings = Findings()
    stored = _decoder(kind.name, text_parameters)(_as_created(resource, kind), None, findings)
    return stored, tuple(findings.problems)


def _kind(resource: Mapping[str, Any]) -> CustomKind:
    found = kinds.KINDS.get(str(resource.get("kind")))
    if found is None or resource.get("apiVersion") != kinds.API_VERSION:
        given = f"{resource.get('apiVersion')} {resource.get('kind')}"
        message = f"must be a kind of {kinds.API_VERSION}, got {given}"
        raise InvalidResource([Problem("schema/kind", ("kind",), message, f"known kinds: {', '.join(kinds.KINDS)}")])
    return found


@functools.cache
def _decoder(name: str, text_parameters: bool) -> Decoder:  # noqa: FBT001 - a cached function is called by place
    whole = kinds.resource_struct(kinds.KINDS[name], text_parameters=text_parameters)
    fields = {
        # The server reads and writes metadata with its own typed client; the rest it keeps as it is.
        key: field if key == "metadata" else schema_nodes.Field(schema_forms.stored_form(field.node))
        for key, field in whole.fields.items()
    }
    return structural.decoder(Struct(whole.name, fields, keeps_zeros=True))


def _as_created(resource: Mapping[str, Any], kind: CustomKind) -> Json:
    """Return *resource* without its status, and with null labels and annotations as empty text, as Go reads them."""
    result = {key: entry for key, entry in resource.items() if key != "status" or kind.status is None}
    metadata = result.get("metadata")
    if isinstance(metadata, dict):
        result["metadata"] = {
            key: _without_nulls(entry) if key in _TEXT_MAPS else entry for key, entry in metadata.items()
        }
    return result


_TEXT_MAPS = frozenset({"labels", "annotations"})


def _without_nulls(entry: Any) -> Any:
    if not isinstance(entry, dict):
        return entry
    return {key: "" if value is None else value for key, value in entry.items()}

"""Checks emitted objects against the published schema of their kind.

Schemas of built-in kinds come from the library kubernetes-validate, in the strict form that refuses unknown keys;
those of add-on kinds are in `schemas/outputs/`, which refers to the library's types for pods and probes. Nulls are
problems too: the schemas allow them nearly everywhere, but the API server drops them, so that an emitted one would
differ from itself forever.
"""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend
from referencing import Registry, Resource

KUBERNETES = "v1.34.0-local-strict"
ADD_ONS = Path(__file__).resolve().parents[1] / "schemas" / "outputs"
SHARED = "definitions.json"
LIST_KEYS = "x-kubernetes-list-map-keys"


class UnknownKind(LookupError):
    """No schema is known for the kind of an object."""


def problems(made: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with an emitted object, a line each with the place; raises UnknownKind without a schema."""
    found = (error for error in _errors(made) if error.validator != LIST_KEYS)
    return [f"{error.json_path}: {error.message}" for error in found] + list(nulls(made))


def repeated_entries(made: Mapping[str, Any]) -> list[str]:
    """Return the lists of an object that hold a key twice, where the API server keeps the list as a map of that key."""
    return [f"{error.json_path}: {error.message}" for error in _errors(made) if error.validator == LIST_KEYS]


def nulls(value: Any, path: str = "$") -> Iterator[str]:
    """Yield the place of every null in a JSON value."""
    if value is None:
        yield f"{path}: is null"
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield from nulls(entry, f"{path}.{key}")
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from nulls(entry, f"{path}[{index}]")


def add_on_kinds() -> frozenset[tuple[str, str]]:
    """Return the (apiVersion, kind) of every schema of our own."""
    return frozenset(_add_ons())


def _errors(made: Mapping[str, Any]) -> Iterator[ValidationError]:
    yield from _validator(made["apiVersion"], made["kind"]).iter_errors(made)


def _unique_keys(
    _validator: object, keys: Sequence[str], entries: Any, _schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    """Refuse a list with two entries of the same keys; a missing port protocol is TCP, as the API server has it."""
    if not isinstance(entries, list):
        return
    seen: set[tuple[str, ...]] = set()
    for entry in entries:
        identity = tuple(repr(entry.get(key, "TCP" if key == "protocol" else None)) for key in keys)
        if identity in seen:
            yield ValidationError(f"two entries have the same {', '.join(keys)}: {', '.join(identity)}")
        seen.add(identity)


_Validator: Any = extend(Draft202012Validator, {LIST_KEYS: _unique_keys})  # type: ignore[no-untyped-call]


def _library_schema(name: str) -> dict[str, Any] | None:
    folder = importlib.resources.files("kubernetes_validate") / "kubernetes-json-schema" / KUBERNETES
    path = folder / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


@cache
def _registry() -> Registry[Any]:
    kubernetes = _library_schema("_definitions")
    assert kubernetes is not None, f"kubernetes-validate does not carry {KUBERNETES}"
    shared = json.loads((ADD_ONS / SHARED).read_text(encoding="utf-8"))
    resources = (Resource.from_contents(schema) for schema in (kubernetes, shared))
    return Registry().with_resources([(resource.id() or "", resource) for resource in resources])


@cache
def _add_ons() -> Mapping[tuple[str, str], dict[str, Any]]:
    schemas = [json.loads(path.read_text(encoding="utf-8")) for path in ADD_ONS.glob("*.json") if path.name != SHARED]
    return {
        (schema["properties"]["apiVersion"]["const"], schema["properties"]["kind"]["const"]): schema
        for schema in schemas
    }


@cache
def _validator(api_version: str, kind: str) -> Any:
    schema = _add_ons().get((api_version, kind))
    if schema is None:
        # rbac.authorization.k8s.io/v1 is rbac-v1 in the names of the library's files.
        group, slash, version = api_version.rpartition("/")
        schema = _library_schema(f"{kind.lower()}-{group.partition('.')[0]}{'-' if slash else ''}{version}")
    if schema is None:
        raise UnknownKind(f"{api_version} {kind}")
    return _Validator(schema, registry=_registry())

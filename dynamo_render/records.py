"""Settings and facts from plain mappings: the one cattrs converter, with strict hooks and errors as problems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import attrs
from cattrs import BaseValidationError, Converter
from cattrs.errors import AttributeValidationNote, ForbiddenExtraKeysError, IterableValidationNote
from cattrs.gen import make_dict_structure_fn

from dynamo_render.errors import InvalidInput, Problem
from dynamo_render.kube import structural

Record = TypeVar("Record")


def structured(cls: type[Record], mapping: object, error: type[InvalidInput]) -> Record:
    """Return *mapping* as an instance of *cls*; raise *error* with every unknown key and every wrong type."""
    if not isinstance(mapping, Mapping):
        raise error([Problem("record/type", (), f"must be object, got {structural.kind_of(mapping)}")])
    try:
        return _converter.structure(mapping, cls)
    except BaseValidationError as group:
        raise error(_problems(group, ())) from None


class _WrongType(ValueError):
    """A value has another type than its field; str() is the message."""


def _strict(wanted: type, name: str) -> Any:
    def hook(value: object, _type: object) -> object:
        if type(value) is not wanted:
            shown = "" if isinstance(value, dict | list) else f" {structural.shown(value)}"
            message = f"must be {name}, got {structural.kind_of(value)}{'' if value is None else shown}"
            raise _WrongType(message)
        return value

    return hook


def _collection(build: type, value: object, of: Any) -> object:
    if not isinstance(value, list | tuple | set | frozenset):
        message = f"must be array, got {structural.kind_of(value)}"
        raise _WrongType(message)
    return build(_converter.structure(list(value), _list_of(of.__args__[0])))


def _list_of(item: Any) -> Any:
    return list[item]


def _mapping(value: object, of: Any) -> object:
    if not isinstance(value, Mapping):
        message = f"must be object, got {structural.kind_of(value)}"
        raise _WrongType(message)
    entry = of.__args__[1]
    if entry is Any:
        return structural.copied(dict(value))
    wrong: list[Exception] = []
    result = {}
    for key, inner in value.items():
        try:
            result[str(key)] = _converter.structure(inner, entry)
        except Exception as error:  # noqa: BLE001 - collected and raised together below
            error.__notes__ = [
                *getattr(error, "__notes__", []),
                IterableValidationNote("entry", str(key), entry),
            ]
            wrong.append(error)
    if wrong:
        raise BaseValidationError("entries are wrong", wrong, of)
    return result


def _make_converter() -> Converter:
    converter = Converter(forbid_extra_keys=True, detailed_validation=True)
    for wanted, name in ((str, "string"), (bool, "boolean"), (int, "integer")):
        converter.register_structure_hook(wanted, _strict(wanted, name))
    converter.register_structure_hook_func(
        lambda kind: getattr(kind, "__origin__", None) in (tuple, frozenset),
        lambda value, kind: _collection(kind.__origin__, value, kind),
    )
    converter.register_structure_hook_func(lambda kind: getattr(kind, "__origin__", None) is Mapping, _mapping)
    converter.register_structure_hook_factory(
        attrs.has,
        lambda cls: make_dict_structure_fn(cls, converter, _cattrs_forbid_extra_keys=True),
    )
    return converter


_converter = _make_converter()


def _problems(error: BaseException, path: tuple[str | int, ...]) -> Iterator[Problem]:
    """Yield one problem for each leaf of a tree of validation errors, with its path."""
    if isinstance(error, ForbiddenExtraKeysError):
        known = tuple(attribute.name for attribute in attrs.fields(error.cl))
        for key in sorted(error.extra_fields):
            hint = structural.nearest(key, known) or f"known: {', '.join(sorted(known))}"
            yield Problem("record/unknown-key", (*path, key), "is not a known key", hint)
    elif isinstance(error, BaseValidationError):
        for inner in error.exceptions:
            yield from _problems(inner, (*path, *_step(inner)))
    else:
        yield Problem("record/type", path, str(error))


def _step(error: BaseException) -> tuple[str | int, ...]:
    for note in getattr(error, "__notes__", ()):
        if isinstance(note, AttributeValidationNote):
            return (note.name,)
        if isinstance(note, IterableValidationNote):
            return (note.index,)
    return ()

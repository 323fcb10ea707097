"""The DYN_DEPLOYMENT_CONFIG variable: replicas and resources in JSON. Specification: rendering.md section 8.6."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from dynamo_render.kube import structural
from dynamo_render.spec.component import ComponentSpec, ResourceItem, Resources

NAME = "DYN_DEPLOYMENT_CONFIG"
_AMOUNTS = ("gpu", "cpu", "memory", "custom")
_SMALLEST_POSITIONAL, _FIRST_EXPONENTIAL = 1e-6, 1e21
_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


class InvalidDeploymentConfig(ValueError):
    """The variable does not hold what it should; str() says why."""


def applied(spec: ComponentSpec, service: str) -> ComponentSpec:
    """Return *spec* with what its deployment configuration says of *service*; raise InvalidDeploymentConfig."""
    entry = next((entry for entry in spec.envs or () if entry["name"] == NAME), None)
    if entry is None:
        return spec
    document = _parsed(entry.get("value", ""))
    if spec.component_type == "frontend":
        spec = attrs.evolve(spec, envs=_with_value(spec.envs or [], entry, _with_port(document, service)))
    arguments = _service_arguments(document).get(service)
    return spec if arguments is None else _with_arguments(spec, arguments)


def _parsed(text: str) -> dict[str, Any]:
    import json  # noqa: PLC0415 - few components have such a variable

    def refuse(name: str) -> Any:
        message = f"{name} is no JSON"
        raise InvalidDeploymentConfig(message)

    try:
        document = json.loads(text, parse_constant=refuse)
    except InvalidDeploymentConfig:
        raise
    except ValueError as error:  # not JSON, or a number of thousands of digits
        message = f"must be JSON: {error}"
        raise InvalidDeploymentConfig(message) from None
    except RecursionError:
        message = "must be JSON: nested too deeply"
        raise InvalidDeploymentConfig(message) from None
    if document is not None and not isinstance(document, dict):
        message = f"must be a JSON object, got {structural.kind_of(document)}"
        raise InvalidDeploymentConfig(message)
    return document or {}


def _with_port(document: dict[str, Any], service: str) -> str:
    entry = document.get(service)
    if isinstance(entry, dict):
        document = {**document, service: {**entry, "port": 8000}}
    return compact(document)


def _with_value(envs: Iterable[dict[str, Any]], changed: dict[str, Any], text: str) -> list[dict[str, Any]]:
    return [{**entry, "value": text} if entry is changed else entry for entry in envs]


def compact(value: Any) -> str:
    """Return *value* as JSON without blanks, keys sorted, numbers as IEEE doubles, HTML characters escaped."""
    import json  # noqa: PLC0415 - as above

    if isinstance(value, dict):
        return "{" + ",".join(f"{compact(key)}:{compact(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(compact, value)) + "]"
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
        return "".join(_ESCAPED.get(character, character) for character in text)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(float(value))
    return json.dumps(value)


def _number(number: float) -> str:
    """Return the shortest digits that read back as *number*: positional from 1e-6 up to 1e21, else with an exponent."""
    if number == 0:
        return "-0" if math.copysign(1, number) < 0 else "0"
    mantissa, _, exponent = repr(number).partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = (whole + fraction).lstrip("0").rstrip("0")
    leading = len(whole.lstrip("0")) or -(len(fraction) - len(fraction.lstrip("0")))
    point = leading + int(exponent or 0)
    if _SMALLEST_POSITIONAL <= abs(number) < _FIRST_EXPONENTIAL:
        return sign + _positional(digits, point)
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{point - 1:+d}"


def _positional(digits: str, point: int) -> str:
    if point <= 0:
        return "0." + "0" * -point + digits
    if point >= len(digits):
        return digits + "0" * (point - len(digits))
    return f"{digits[:point]}.{digits[point:]}"


def _service_arguments(document: Mapping[str, Any]) -> dict[str, dict[str, Any] | None]:
    """Return ``ServiceArgs`` by service, checked for every one; names inside match in any letter case."""
    result: dict[str, dict[str, Any] | None] = {}
    for service, entry in document.items():
        fields = _fields(_object(entry, service))
        arguments = fields.get("serviceargs")
        result[service] = None if arguments is None else _checked(_object(arguments, service), service)
    return result


def _object(value: Any, service: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        message = f"{service}: must be an object, got {structural.kind_of(value)}"
        raise InvalidDeploymentConfig(message)
    return value


def _fields(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key.lower(): entry for key, entry in value.items()}


def _checked(arguments: Mapping[str, Any], service: str) -> dict[str, Any]:
    fields = _fields(arguments)
    workers = fields.get("workers")
    if workers is not None and (type(workers) is not int or not -(2**31) <= workers < 2**31):
        message = f"{service}: workers must be a 32-bit integer, got {workers}"
        raise InvalidDeploymentConfig(message)
    amounts = _fields(_object(fields.get("resources"), service))
    for name in _AMOUNTS:
        amount = amounts.get(name)
        good = isinstance(amount, dict) and all(isinstance(v, str) for v in amount.values())
        if amount is not None and not (good if name == "custom" else isinstance(amount, str)):
            message = f"{service}: resources.{name} has the wrong type"
            raise InvalidDeploymentConfig(message)
    return {"workers": workers, **{name: amounts.get(name) for name in _AMOUNTS}}


def _check_replicas(spec: ComponentSpec, workers: int) -> None:
    """Refuse a count that the component deployment could not be created with (SVC-V01, SVC-V07)."""
    if workers < 0:
        message = f"workers must be zero or more, got {workers}"
        raise InvalidDeploymentConfig(message)
    if spec.component_type == "epp" and workers != 1:
        message = f"workers must be 1 for an EPP component, got {workers}"
        raise InvalidDeploymentConfig(message)


def _with_arguments(spec: ComponentSpec, arguments: dict[str, Any]) -> ComponentSpec:
    workers = arguments["workers"]
    if spec.replicas is None and workers is not None:
        _check_replicas(spec, workers)
        spec = attrs.evolve(spec, replicas=workers)
    amounts = {name: arguments[name] for name in _AMOUNTS if arguments[name]}
    if not amounts:
        return spec
    resources = spec.resources or Resources()
    changed = attrs.evolve(
        resources,
        requests=attrs.evolve(resources.requests or ResourceItem(), **amounts),
        limits=attrs.evolve(resources.limits or ResourceItem(), **amounts),
    )
    return attrs.evolve(spec, resources=changed)

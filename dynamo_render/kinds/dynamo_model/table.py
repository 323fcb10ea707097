"""What a model tells in each case, as data: conditions, events, when to look again. controllers-other.md section 3.4.

`ROWS` is the whole state machine: every pass ends in exactly one row. docs/reference/models.md shows the same table.
Texts name what they need in braces: *base* model, *problem*, *trouble*, numbers of *total*, *ready* and *failed*
endpoints, and *reasons* of failures.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from dynamo_render.kinds.shared.machine import Event
from dynamo_render.values import Value, frozen

RETRY = 30.0
"""Seconds until adapters are loaded again where some pod has not loaded its own."""


@frozen
class Told(Value):
    """A condition: its status, reason and message."""

    status: bool
    reason: str
    message: str


@frozen(kw_only=True)
class Row(Value):
    """One case: *when* it applies, the conditions that it sets, its *events* in their order, and when to look again.

    Where *services* is None, `SERVICES` decides; where *ready* is None, no endpoints are told.
    """

    when: str
    valid: Told | None = None
    services: Told | None = None
    ready: Told | None = None
    events: tuple[Event, ...] = ()
    look_again: float | None = None


VALID = Told(True, "ValidationPassed", "DynamoModel spec is valid")

SERVICES: Mapping[bool, Told] = {
    True: Told(True, "ServicesFound", "Found {services} service(s)"),
    False: Told(False, "NoServicesFound", "No services associated with endpoint slices"),
}
"""What is told of services where there are endpoints, by whether slices belong to any."""

_NO_SLICES = "No endpoint slices found for base model {base}"


def _normal(reason: str, message: str) -> Event:
    return Event("Normal", reason, message)


def _warning(reason: str, message: str) -> Event:
    return Event("Warning", reason, message)


RowName = Literal["V", "L", "E0", "E1", "E2", "E3", "E4", "D0", "D1", "D2", "D3", "D4", "stopped"]

ROWS: Mapping[RowName, Row] = {
    "V": Row(
        when="the spec is invalid",
        valid=Told(False, "ValidationFailed", "Validation failed: {problem}"),
        events=(_warning("ValidationFailed", "{problem}"),),
    ),
    "L": Row(
        when="the slices cannot be looked up: tried again with back-off",
        events=(_warning("EndpointDiscoveryFailed", "{trouble}"),),
    ),
    "E0": Row(
        when="no slice names a pod",
        valid=VALID,
        services=Told(False, "NoServicesFound", _NO_SLICES),
        ready=Told(False, "NoEndpoints", _NO_SLICES),
        events=(_warning("NoEndpointsFound", _NO_SLICES),),
    ),
    "E1": Row(
        when="an adapter, loaded into every pod",
        valid=VALID,
        ready=Told(True, "AllEndpointsReady", "All {total} endpoint(s) are ready"),
        events=(_normal("EndpointsReady", "All {total} endpoints ready for base model {base}"),),
    ),
    "E2": Row(
        when="an adapter that some pod has not loaded",
        valid=VALID,
        ready=Told(False, "NotReady", "Found {ready} ready endpoint(s) out of {total} total{reasons}"),
        events=(
            _warning("PartialEndpointFailure", "Some endpoints failed to load LoRA: {failed} task(s) failed"),
            _warning("NotReady", "Only {ready} of {total} endpoints ready for base model {base}"),
        ),
        look_again=RETRY,
    ),
    "E3": Row(
        when="no adapter: there is nothing to load",
        valid=VALID,
        ready=Told(True, "EndpointsDiscovered", "Found {total} endpoint(s) for base model"),
        events=(_normal("EndpointsDiscovered", "Discovered {total} endpoints for base model {base}"),),
    ),
    "E4": Row(
        when="an adapter without a source, which validation refuses",
        valid=VALID,
        ready=Told(False, "NoEndpoints", "No endpoints found"),
        events=(
            _warning(
                "PartialEndpointFailure",
                "Some endpoints failed to load LoRA: source URI is required for LoRA models",
            ),
        ),
        look_again=RETRY,
    ),
    "D0": Row(when="being deleted: no adapter"),
    "D1": Row(when="being deleted: an adapter that no slice names a pod for"),
    "D2": Row(
        when="being deleted: an adapter, taken out of every pod",
        events=(_normal("LoRAUnloaded", "Unloaded LoRA from {total} endpoint(s)"),),
    ),
    "D3": Row(
        when="being deleted: an adapter that some pod has kept",
        events=(
            _warning("LoRAUnloadFailed", "Failed to unload LoRA from some endpoints: {failed} task(s) failed{reasons}"),
        ),
    ),
    "D4": Row(
        when="being deleted: an adapter whose slices cannot be looked up",
        events=(_warning("CleanupFailed", "{trouble}"),),
    ),
    "stopped": Row(when="being deleted, and others hold it"),
}

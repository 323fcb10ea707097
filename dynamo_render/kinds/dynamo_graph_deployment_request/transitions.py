"""The stages of a request and every way from one to another, as a table. controllers-other.md 1.5, 1.6, 1.14, 1.15.

Nothing here decides which row applies; `machine` and its siblings do. Texts name what they need in braces: *text* of an
error, *graph* by name, *state* of a graph. docs/reference/requests.md shows the same table; a test holds both equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from dynamo_render.values import Value, frozen

State = Literal["", "Pending", "Profiling", "Deploying", "Ready", "DeploymentDeleted", "Failed"]

STATES: tuple[State, ...] = ("", "Pending", "Profiling", "Deploying", "Ready", "DeploymentDeleted", "Failed")
TERMINAL: tuple[State, ...] = ("DeploymentDeleted", "Failed")


@frozen
class Told(Value):
    """A condition that a row sets: its type, status, reason and message."""

    type: str
    status: bool
    reason: str
    message: str


@frozen
class Said(Value):
    """An event that a row tells."""

    sort: Literal["Normal", "Warning"]
    reason: str
    message: str


@frozen(kw_only=True)
class Transition(Value):
    """One row: in a state of *source*, *when* this is the case, the request goes to *target*; None stays where it is.

    With *again* the next pass follows at once.
    """

    source: tuple[State, ...]
    when: str
    target: State | None = None
    conditions: tuple[Told, ...] = ()
    event: Said | None = None
    again: bool = False


_RUNNING = Told("Profiling", False, "ProfilingRunning", "Profiling is in progress")
_PROFILED = Told("Profiling", True, "ProfilingSucceeded", "Profiling job completed successfully")
_GENERATED = "DynamoGraphDeployment spec generated successfully"
_AVAILABLE = "Generated spec is available in status.generatedDeployment"
_GONE = "DGD {graph} was deleted. DGDR will not recreate it. Delete this DGDR and create a new one to redeploy."
_REJECTED = (
    "Cannot modify spec in state '{state}'. DynamoGraphDeploymentRequest is immutable once profiling starts. "
    "Create a new resource with a different name instead."
)

_MONITORED: tuple[State, ...] = ("Deploying", "Ready")
_STARTED: tuple[State, ...] = ("Pending", "Profiling", "Deploying", "Ready", "DeploymentDeleted")


def _normal(reason: str, message: str) -> Said:
    return Said("Normal", reason, message)


def _warning(reason: str, message: str = "{text}") -> Said:
    return Said("Warning", reason, message)


TRANSITIONS: Mapping[str, Transition] = {
    "T1": Transition(source=STATES, when="the request is gone"),
    "T2": Transition(
        source=("",),
        when="the request is valid",
        target="Pending",
        event=_normal("Initialized", "DGDR initialized successfully"),
        again=True,
    ),
    "T3": Transition(
        source=("",),
        when="the request is invalid, or what it refers to is missing",
        target="Failed",
        conditions=(Told("Validation", False, "ValidationFailed", "{text}"),),
        event=_warning("ValidationFailed"),
    ),
    "T4": Transition(
        source=("Pending",),
        when="the profiling Job is there",
        target="Profiling",
        conditions=(_RUNNING,),
        event=_normal("ProfilingJobCreated", "{text}"),
        again=True,
    ),
    "T5": Transition(
        source=("Pending",),
        when="the profiling Job cannot be made",
        target="Failed",
        conditions=(Told("Profiling", False, "JobCreationFailed", "{text}"),),
        event=_warning("ProfilingJobFailed"),
    ),
    "T6": Transition(source=("Profiling",), when="the Job has neither completed nor failed"),
    "T7": Transition(
        source=("Profiling",),
        when="the Job has failed or is gone",
        target="Failed",
        conditions=(Told("Profiling", False, "ProfilingFailed", "{text}"),),
        event=_warning("ProfilingCheckFailed"),
    ),
    "T8": Transition(
        source=("Profiling",),
        when="the Job has completed and its output is unusable",
        target="Failed",
        conditions=(_PROFILED, Told("SpecGenerated", False, "GenerationFailed", "{text}")),
        event=_warning("GenerationFailed"),
    ),
    "T9": Transition(
        source=("Profiling",),
        when="the Job has completed, its output is usable, with autoApply",
        target="Deploying",
        conditions=(_PROFILED, Told("SpecGenerated", True, "SpecGenerated", _GENERATED)),
        event=_normal("SpecGenerated", _GENERATED),
        again=True,
    ),
    "T10": Transition(
        source=("Profiling",),
        when="the Job has completed, its output is usable, without autoApply",
        target="Ready",
        conditions=(_PROFILED, Told("SpecGenerated", True, "SpecGenerated", _AVAILABLE)),
        event=_normal("SpecGenerated", _GENERATED),
        again=True,
    ),
    "T11": Transition(source=("Deploying",), when="without autoApply, which should not happen", target="Ready"),
    "T12 created": Transition(
        source=("Deploying",),
        when="the graph has been created",
        target="Deploying",
        conditions=(Told("DeploymentReady", False, "DeploymentCreated", "DGD {graph} created, waiting for Ready"),),
        event=_normal("DeploymentCreated", "DynamoGraphDeployment {graph} created successfully"),
        again=True,
    ),
    "T12 exists": Transition(
        source=("Deploying",),
        when="a graph of that name is there already: it is left as it is, and watched",
        target="Deploying",
        again=True,
    ),
    "T12 refused": Transition(
        source=("Deploying",),
        when="the graph cannot be created: it is tried again",
        target="Deploying",
        event=_warning("DeploymentCreationFailed"),
    ),
    "T13 gone": Transition(
        source=_MONITORED,
        when="with autoApply, the graph has been deleted",
        target="DeploymentDeleted",
        conditions=(
            Told(
                "DeploymentReady",
                False,
                "DeploymentDeleted",
                "Deployment was deleted by user. Create a new DGDR to redeploy.",
            ),
        ),
        event=_warning("DeploymentDeleted", _GONE),
    ),
    "T13 ready": Transition(
        source=_MONITORED,
        when="with autoApply, the graph has become ready",
        target="Ready",
        conditions=(Told("DeploymentReady", True, "DeploymentReady", "DynamoGraphDeployment {graph} is ready"),),
        event=_normal("DeploymentReady", "DynamoGraphDeployment {graph} is ready"),
    ),
    "T13 waiting": Transition(source=("Deploying",), when="with autoApply, the graph is not ready yet"),
    "T13 serving": Transition(source=("Ready",), when="with autoApply, the graph is ready as before"),
    "T13 degraded": Transition(
        source=("Ready",),
        when="with autoApply, the graph is no longer ready",
        target="Deploying",
        conditions=(Told("DeploymentReady", False, "DeploymentDegraded", "Deployment degraded to {state}"),),
        event=_warning("DeploymentDegraded", "DynamoGraphDeployment {graph} degraded from Ready to {state}"),
    ),
    "T13 still degraded": Transition(source=("Ready",), when="with autoApply, the graph is still not ready"),
    "T13 unknown": Transition(source=("Ready",), when="with autoApply, no graph was ever made: an error"),
    "T14": Transition(source=(), when="the state is none of these", target="Failed"),
    "T15": Transition(source=("Ready",), when="without autoApply"),
    "T16": Transition(source=TERMINAL, when="always"),
    "edited": Transition(
        source=_STARTED,
        when="the spec is not the one that profiling started from: the request goes on with that one",
        conditions=(Told("Validation", False, "SpecChangeRejected", _REJECTED),),
        event=_warning("SpecChangeRejected", _REJECTED),
    ),
    "reverted": Transition(
        source=_STARTED,
        when="the spec is again the one that profiling started from",
        conditions=(Told("Validation", True, "SpecChangeReverted", "The spec is the one that profiling started from"),),
    ),
    "deleted": Transition(source=STATES, when="the request is being deleted: only our finalizer goes"),
}
"""Every row by its name. ``edited`` and ``reverted`` come on top of the row of the state."""


def table() -> list[str]:
    """Return the rows as the documents show them, as Markdown."""
    rows = ["| Row | From | When | To | Conditions | Event |", "|---|---|---|---|---|---|"]
    for name, row in TRANSITIONS.items():
        source = "any" if row.source == STATES else ", ".join(map(_shown, row.source)) or "any other"
        target = "stays" if row.target is None else _shown(row.target)
        conditions = ", ".join(f"`{each.type}`={each.status}/`{each.reason}`" for each in row.conditions)
        event = f"{row.event.sort} `{row.event.reason}`" if row.event else ""
        rows.append(f"| {name} | {source} | {row.when} | {target} | {conditions} | {event} |")
    return rows


def diagram() -> list[str]:
    """Return the ways from one state to another as a Mermaid diagram."""
    lines = ["stateDiagram-v2", "    [*] --> New"]
    for name, row in TRANSITIONS.items():
        lines += [
            f"    {source or 'New'} --> {row.target}: {name}"
            for source in row.source
            if row.target is not None and source != row.target
        ]
    return [*lines, *(f"    {state} --> [*]" for state in TERMINAL)]


def _shown(state: str) -> str:
    return f"`{state}`" if state else "new"

"""What is known of a rule: what it says, how grave it is, where it is specified, and an example for and against it.

Examples are edits of a small base resource: mappings are laid over it, and None takes a key away.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import attrs

from dynamo_render.errors import Severity
from dynamo_render.values import Value, frozen

Json = Mapping[str, Any]

GROVE: Json = {"api_groups": ["grove.io"]}
LEADER_WORKER_SET: Json = {"api_groups": ["leaderworkerset.x-k8s.io", "scheduling.volcano.sh"]}

# A key that stays, and is null; None in an edit takes the key away.
NULL: object = object()

Base = Literal["graph", "component", "request", "model"]


@frozen(kw_only=True)
class Example(Value):
    """A resource, as an *edit* of the *base* of its kind, with what surrounds it.

    *old* is an edit of the base too, or None for a resource that is new.
    """

    edit: Json = attrs.field(factory=dict)
    base: Base = "graph"
    old: Json | None = None
    user: str = ""
    facts: Json | None = None
    settings: Json | None = None
    declared: tuple[tuple[str, str, str], ...] = ()

    def resource(self) -> dict[str, Any]:
        """Return the resource as a user would write it."""
        return _edited(self.base, self.edit)

    def old_resource(self) -> dict[str, Any] | None:
        """Return the resource before the change, if there is a change."""
        return None if self.old is None else _edited(self.base, self.old)


@frozen(kw_only=True)
class Rule(Value):
    """One rule: *sentence* says what is refused or doubtful, *section* where the specification says so."""

    id: str
    sentence: str
    section: str
    refuses: Example
    accepts: Example
    severity: Severity = "error"


def rule(
    id: str,  # noqa: A002 - the field of a rule
    sentence: str,
    section: str,
    *,
    bad: Json,
    good: Json | None = None,
    severity: Severity = "error",
    **around: Any,
) -> Rule:
    """Return a rule with an example for and against it, which share what is *around* them."""
    refuses = Example(edit=bad, **around)
    accepts = Example(edit=good or {}, **around)
    return Rule(id=id, sentence=sentence, section=section, refuses=refuses, accepts=accepts, severity=severity)


def warning(id: str, sentence: str, section: str, **examples: Any) -> Rule:  # noqa: A002 - as above
    """Return a rule that warns."""
    return rule(id, sentence, section, severity="warning", **examples)


def worker(**fields: Any) -> Json:
    """Return an edit of the worker of the base graph."""
    return {"spec": {"services": {"Worker": fields}}}


def worker_container(**fields: Any) -> Json:
    """Return an edit of the worker's main container."""
    return worker(extraPodSpec={"mainContainer": fields})


def worker_pod(**fields: Any) -> Json:
    """Return an edit of the worker's pod."""
    return worker(extraPodSpec=fields)


def _laid_over(base: Any, edit: Any) -> Any:
    if not isinstance(edit, Mapping) or not isinstance(base, Mapping):
        return _plain(edit)
    result = dict(base)
    for key, value in edit.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _laid_over(base.get(key), value)
    return result


def _plain(value: Any) -> Any:
    if value is NULL:
        return None
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items() if entry is not None}
    return [_plain(entry) for entry in value] if isinstance(value, list | tuple) else value


def _edited(base: Base, edit: Json) -> dict[str, Any]:
    edited: dict[str, Any] = _laid_over(_plain(_BASES[base]), edit)
    return edited


_CONTAINER: Json = {
    "image": "registry.example/runtime:1.0",
    "command": ["python3", "-m", "dynamo.vllm"],
    "args": ["--model", "acme/chat"],
}
_VERSION = "nvidia.com/v1alpha1"
_COMPONENT: Json = {
    "componentType": "worker",
    "replicas": 1,
    "resources": {"limits": {"gpu": "1"}},
    "extraPodSpec": {"mainContainer": _CONTAINER},
}

_BASES: Mapping[str, Json] = {
    "graph": {
        "apiVersion": _VERSION,
        "kind": "DynamoGraphDeployment",
        "metadata": {"name": "chat"},
        "spec": {
            "backendFramework": "vllm",
            "services": {
                "Frontend": {
                    "componentType": "frontend",
                    "replicas": 1,
                    "extraPodSpec": {"mainContainer": {"image": "registry.example/runtime:1.0"}},
                },
                "Worker": _COMPONENT,
            },
        },
    },
    "component": {
        "apiVersion": _VERSION,
        "kind": "DynamoComponentDeployment",
        "metadata": {"name": "chat-worker"},
        "spec": {"backendFramework": "vllm", "dynamoNamespace": "team-chat", **_COMPONENT},
    },
    "request": {
        "apiVersion": _VERSION,
        "kind": "DynamoGraphDeploymentRequest",
        "metadata": {"name": "chat"},
        "spec": {
            "model": "acme/chat",
            "backend": "vllm",
            "profilingConfig": {"profilerImage": "registry.example/profiler:1.0", "config": {}},
        },
    },
    "model": {
        "apiVersion": _VERSION,
        "kind": "DynamoModel",
        "metadata": {"name": "chat"},
        "spec": {"modelName": "acme/chat-law", "baseModelName": "acme/chat"},
    },
}

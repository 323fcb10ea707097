"""What admission refuses when a resource is changed, and who may change replicas. Specification: api.md 9.4 and 9.5."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_render.errors import Problem

_SERVICE_ACCOUNT = "system:serviceaccount:"
_TRUSTED_ENDINGS = ("-dynamo-operator-controller-manager", "planner-serviceaccount")
_PARTS_OF_AN_ACCOUNT = 4


def backend_problems(rule: str, old: str | None, new: str | None) -> Iterator[Problem]:
    """Yield the refusal of *rule*, and the warning beside it, if the backend framework changes; absent is empty."""
    if (old or "") != (new or ""):
        path = ("spec", "backendFramework")
        message = f"cannot be changed from {_named(old)} to {_named(new)}"
        yield Problem(rule, path, message, "delete the resource and create it again with the other framework")
        warning = "changing the framework of a running resource may leave pods of both behind"
        yield Problem(rule.replace("-U", "-W"), path, warning, None, "warning")


def may_change_replicas(user: str) -> bool:
    """Whether *user*, is a service account that is called like the operator's or a planner's."""
    parts = user.split(":")
    is_account = user.startswith(_SERVICE_ACCOUNT) and len(parts) == _PARTS_OF_AN_ACCOUNT
    return is_account and parts[-1].endswith(_TRUSTED_ENDINGS)


def _named(framework: str | None) -> str:
    return f'"{framework}"' if framework else "none"

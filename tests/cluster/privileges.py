"""Rights, and what an API server's audit log says about those that a controller has used or missed.

Knows no story and not what the rights are for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs

Json = dict[str, Any]
Right = tuple[str, str, str]
"""API group, resource (with its subresource), verb."""

CREATED = 201

POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata", "userGroups": ["system:serviceaccounts"]}, {"level": "None"}],
}


def audit_options(folder: Path) -> list[str]:
    """Return the options of an API server that writes what accounts ask for to `audit.log` in *folder*."""
    policy = folder / "audit-policy.json"
    policy.write_text(json.dumps(POLICY))
    return [
        f"--audit-policy-file={policy}",
        f"--audit-log-path={folder / 'audit.log'}",
        # As OpenShift does: who refers to an owner that holds up a deletion must be allowed to set its finalizers.
        "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
    ]


@attrs.frozen(eq=False)
class Audit:
    """What *user* has asked an API server for, by its audit log."""

    log: Path
    user: str

    def used(self) -> set[Right]:
        """Return the rights that were used; an apply that made an object has used the right to create it."""
        return {right for event in self._events() for right in _rights_of(event)}

    def missed(self, since: int = 0) -> set[Right]:
        """Return the rights for want of which something was refused, as of the end of the log at some time."""
        return {right for event in self._events(since) if _is_refused(event) for right in _rights_of(event)}

    def end(self) -> int:
        """Return where the log ends now."""
        return self.log.stat().st_size

    def _events(self, since: int = 0) -> Iterator[Json]:
        with self.log.open("rb") as log:
            log.seek(since)
            # The last line may still be written.
            lines = log.read().split(b"\n")[:-1]
        for line in lines:
            event = json.loads(line)
            if event["user"]["username"] == self.user and "objectRef" in event and "responseStatus" in event:
                yield event


def _is_refused(event: Json) -> bool:
    return bool(event.get("annotations", {}).get("authorization.k8s.io/decision") == "forbid")


def _rights_of(event: Json) -> Iterator[Right]:
    about = event["objectRef"]
    resource = "/".join(filter(None, (about["resource"], about.get("subresource"))))
    yield about.get("apiGroup", ""), resource, event["verb"]
    if event["verb"] == "patch" and event["responseStatus"]["code"] == CREATED:
        yield about.get("apiGroup", ""), resource, "create"


def rights(rules: Iterable[Json]) -> set[Right]:
    """Return the rights that the rules of a role give."""
    return {
        (group, resource, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }

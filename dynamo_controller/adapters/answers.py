"""What an API server says, as values: events of a watch, and refusals. Pure; knows no client library."""

from __future__ import annotations

import json
from collections.abc import Mapping

from dynamo_controller.ports import ClusterError, WatchEvent

CONFLICT, INVALID = 409, 422


def event(line: bytes) -> WatchEvent:
    """Return what one line of a watch tells; raise ClusterError where it tells an error, ValueError where it is cut."""
    told = json.loads(line)
    if told["type"] == "ERROR":
        status = told["object"]
        raise ClusterError(int(status.get("code") or 500), str(status.get("reason")), str(status.get("message")))
    return WatchEvent(told["type"], told["object"])


def refusal(status: int, text: str, headers: Mapping[str, str]) -> ClusterError:
    """Return a refusal as an error, in the words of the API as far as there are any."""
    try:
        answer = json.loads(text)
    except ValueError:
        answer = {}
    if not isinstance(answer, dict):
        answer = {}
    waits = headers.get("Retry-After", "")
    message = str(answer.get("message") or text.strip() or f"status {status}")
    if status == INVALID and "metadata.uid" in message:
        # An apply to another object of that name; where there is none, the server itself calls it a conflict.
        return ClusterError(CONFLICT, "Conflict", message)
    return ClusterError(status, str(answer.get("reason") or ""), message, float(waits) if waits.isdigit() else None)

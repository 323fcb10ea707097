"""Calls that load an adapter into a pod or take it out, and what their answers say. controllers-other.md section 3.5.

Builds and judges; makes no call.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from dynamo_render.kinds.dynamo_model import urls
from dynamo_render.kinds.shared.machine import HttpCall, Outcome

LORAS = "/v1/loras"

SECONDS = 15.0
"""What one call may take, its answer included."""

LONGEST_QUOTE = 200
"""Characters of an answer that are quoted where a call has failed."""

_ESCAPED = {"&": "\\u0026", "<": "\\u003c", ">": "\\u003e", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_FAILURES = ("error", "fail")
"""How the words begin with which an answer says that the engine has failed, whatever HTTP's status says."""


Verb = Literal["load", "unload"]


def load(address: str, name: str, uri: str) -> HttpCall:
    """Return the call that loads the adapter *name* from *uri* into the pod at *address*."""
    body = json.dumps({"lora_name": name, "source": {"uri": uri}}, ensure_ascii=False, separators=(",", ":"))
    for character, escape in _ESCAPED.items():
        body = body.replace(character, escape)
    url = urls.joined(address, LORAS)
    return HttpCall(id=f"POST {url}", method="POST", url=url, body=body, seconds=SECONDS)


def unload(address: str, name: str) -> HttpCall | str:
    """Return the call that takes the adapter *name* out of the pod at *address*, or why there can be none."""
    try:
        url = urls.joined(address, LORAS, name)
    except urls.BadEscape as error:
        return f"failed to construct unload LoRA URL: {error}"
    return HttpCall(id=f"DELETE {url}", method="DELETE", url=url, seconds=SECONDS)


def why_failed(verb: Verb, outcome: Outcome) -> str:
    """Return why a call has failed, in words; empty when it has not.

    It succeeds with any 2xx, unless the answer is JSON whose `status` tells an error: errors inside the engine come so
    (decisions.md section 3).
    """
    if outcome.sort != "done":
        return f"failed to call {verb} LoRA endpoint: {outcome.text}"
    answer = outcome.content
    if not 200 <= answer.status < 300:  # noqa: PLR2004 - HTTP's own numbers
        return f"{verb} LoRA failed with status {answer.status}: {_quoted(answer.body)}"
    if _tells_error(answer.body):
        return f"{verb} LoRA failed inside the engine: {_quoted(answer.body)}"
    return ""


def _tells_error(body: str) -> bool:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and "status" in content and not _is_success(content["status"])


def _is_success(status: Any) -> bool:
    """Whether a `status` is a text that tells no error, true, HTTP's number of a success, or null: not given."""
    if isinstance(status, str):
        return not status.strip().casefold().startswith(_FAILURES)
    if isinstance(status, int):
        return status is True or 200 <= status < 400  # noqa: PLR2004 - HTTP's own numbers
    return status is None


def _quoted(body: str) -> str:
    text = " ".join(body.split())
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"

"""The admission webhook as HTTP handlers: bytes in, a review or an error out. Decides nothing about resources."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from dynamo_controller import admission
from dynamo_controller.admission import PATHS, NoReview, Surroundings
from dynamo_controller.ports import Answer, Clock, Handler, Request
from dynamo_render.schemas.kinds import CustomKind

Told = Callable[[str, str, bool, float], None]
"""Hears of every answer: kind, operation, whether it was allowed, and the seconds it took."""

JSON_TYPE = "application/json"
BAD_REQUEST, WRONG_METHOD = 400, 405


def handlers(around: Surroundings, clock: Clock, told: Told) -> Mapping[str, Handler]:
    """Return a handler for the path of every kind that has a webhook."""
    return {path: _handler(kind, around, clock, told) for path, kind in PATHS.items()}


def _handler(kind: CustomKind, around: Surroundings, clock: Clock, told: Told) -> Handler:
    async def handle(request: Request) -> Answer:
        if request.method != "POST":
            return Answer(WRONG_METHOD, b"an AdmissionReview is sent with POST\n")
        started = clock.monotonic()
        try:
            asked = admission.request_of(_content(request.body), kind)
        except NoReview as error:
            return Answer(BAD_REQUEST, f"{error}\n".encode())
        verdict = admission.verdict(asked, around)
        told(kind.name, asked.operation, verdict.is_allowed, clock.monotonic() - started)
        return Answer(200, json.dumps(verdict.as_review(asked)).encode(), JSON_TYPE)

    return handle


def _content(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise NoReview(f"the body must be an AdmissionReview, and is no JSON: {error}") from None

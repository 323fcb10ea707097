"""The admission webhook over HTTP: what is answered to reviews, and to what is none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dynamo_controller import webhook
from dynamo_controller.admission import Surroundings
from dynamo_controller.ports import Answer, Request
from dynamo_render import OperatorSettings
from tests.controller.test_admission import review
from tests.fakes.clock import FakeClock
from tests.fakes.stage import graph, worker

Json = dict[str, Any]
PATH = "/validate-nvidia-com-v1alpha1-dynamographdeployment"


async def answered(body: bytes, method: str = "POST") -> tuple[Answer, list[tuple[Any, ...]]]:
    heard: list[tuple[Any, ...]] = []
    around = Surroundings(settings=OperatorSettings())
    handlers = webhook.handlers(around, FakeClock(), lambda *words: heard.append(words))
    return await handlers[PATH](Request(method, PATH, body)), heard


async def test_a_review_is_answered_with_a_review() -> None:
    answer, _heard = await answered(json.dumps(review(graph())).encode())
    assert (answer.status, answer.content_type) == (200, "application/json")
    assert json.loads(answer.body)["response"] == {"uid": "u-1", "allowed": True}


async def test_a_refusal_is_an_answer_and_no_error() -> None:
    refused = review(graph(Worker=worker(ingress={"enabled": True})))
    answer, _heard = await answered(json.dumps(refused).encode())
    assert answer.status == 200
    assert json.loads(answer.body)["response"]["allowed"] is False


async def test_every_answer_is_heard_of() -> None:
    _answer, heard = await answered(json.dumps(review(graph())).encode())
    assert heard == [("DynamoGraphDeployment", "CREATE", True, 0.0)]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", b"is no JSON"),
        (b"\xff\xfe", b"is no JSON"),
        (b"{", b"is no JSON"),
        (b"[" * 100_000, b"is no JSON"),
        (b"[]", b"the body must be an AdmissionReview, not a list"),
        (b'{"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1"}', b"request: must be an object, not null"),
    ],
)
async def test_what_is_no_review_is_a_bad_request_that_says_why(body: bytes, message: bytes) -> None:
    answer, heard = await answered(body)
    assert (answer.status, heard) == (400, [])
    assert message in answer.body


async def test_only_posts_are_answered() -> None:
    answer, _heard = await answered(b"", "GET")
    assert answer.status == 405

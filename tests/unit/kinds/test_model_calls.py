"""Calls that load and unload adapters, and what their answers say: controllers-other.md 3.5, decisions.md section 3."""

from __future__ import annotations

import json

import pytest

from dynamo_render.kinds.dynamo_model import calls
from dynamo_render.kinds.shared.machine import HttpAnswer, HttpCall, Outcome

ADDRESS = "http://10.0.1.5:9090"


def answered(status: int, body: str = "") -> Outcome:
    return Outcome("done", content=HttpAnswer(status, body))


def test_an_adapter_is_loaded_by_a_post_of_its_name_and_source() -> None:
    call = calls.load(ADDRESS, "acme/support", "s3://b/l")
    assert (call.method, call.url) == ("POST", f"{ADDRESS}/v1/loras")
    assert call.body == '{"lora_name":"acme/support","source":{"uri":"s3://b/l"}}'


def test_characters_that_mean_something_to_html_are_escaped_in_a_body() -> None:
    body = calls.load(ADDRESS, "a<b>&c", "s3://b?x=1&y=é\u2028").body
    assert body == '{"lora_name":"a\\u003cb\\u003e\\u0026c","source":{"uri":"s3://b?x=1\\u0026y=é\\u2028"}}'
    assert json.loads(body)["lora_name"] == "a<b>&c"


def test_a_name_cannot_add_a_key_to_the_body() -> None:
    body = calls.load(ADDRESS, 'a","source":{"uri":"file:///etc"},"x":"', "s3://b").body
    assert json.loads(body)["source"] == {"uri": "s3://b"}


def test_an_adapter_is_taken_out_by_a_delete_without_a_body() -> None:
    call = calls.unload(ADDRESS, "acme/support")
    assert isinstance(call, HttpCall)
    assert (call.method, call.url, call.body) == ("DELETE", f"{ADDRESS}/v1/loras/acme/support", "")


def test_a_name_with_a_bad_escape_is_no_call() -> None:
    assert calls.unload(ADDRESS, "50%") == 'failed to construct unload LoRA URL: invalid URL escape "%"'


def test_a_call_takes_fifteen_seconds_at_most() -> None:
    assert calls.load(ADDRESS, "a", "s3://b").seconds == 15


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_every_success_of_http_counts(status: int) -> None:
    assert calls.why_failed("load", answered(status)) == ""


@pytest.mark.parametrize("status", [100, 199, 300, 304, 400, 404, 409, 500, 503])
def test_any_other_status_is_a_failure_that_is_told_with_its_answer(status: int) -> None:
    assert calls.why_failed("load", answered(status, "busy")) == f"load LoRA failed with status {status}: busy"


def test_a_failure_to_unload_is_told_as_one() -> None:
    assert calls.why_failed("unload", answered(404, "no")) == "unload LoRA failed with status 404: no"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "ok",
        "{}",
        "[]",
        "null",
        '{"message": "error"}',
        '{"status": "success"}',
        '{"status": "loaded"}',
        '{"status": null}',
        '{"status": 200}',
        '{"status": true}',
    ],
)
def test_a_success_whose_answer_tells_no_error_counts(body: str) -> None:
    assert calls.why_failed("load", answered(200, body)) == ""


@pytest.mark.parametrize(
    "body",
    [
        '{"status": "error", "message": "download failed"}',
        '{"status": "Error"}',
        '{"status": " failed"}',
        '{"status": "failure"}',
        '{"status": false}',
        '{"status": 500}',
        '{"status": {"code": 1}}',
        '{"status": []}',
    ],
)
def test_a_success_whose_answer_tells_an_error_is_a_failure(body: str) -> None:
    """Errors inside the engine, such as a failed download, come with HTTP's status 200."""
    assert calls.why_failed("load", answered(200, body)) == f"load LoRA failed inside the engine: {body}"


def test_a_call_without_an_answer_is_a_failure_with_its_reason() -> None:
    outcome = Outcome("refused", "no answer within 15 s")
    assert calls.why_failed("load", outcome) == "failed to call load LoRA endpoint: no answer within 15 s"


def test_a_long_answer_is_quoted_in_part_and_in_one_line() -> None:
    told = calls.why_failed("load", answered(500, "a\n\tb " + "x" * 5000))
    assert told.startswith("load LoRA failed with status 500: a b xxx")
    assert len(told) < 300


def test_an_answer_that_is_nested_without_end_is_read_as_text() -> None:
    assert calls.why_failed("load", answered(200, "[" * 60000)) == ""

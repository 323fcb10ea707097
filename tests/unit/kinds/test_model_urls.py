"""Addresses of unload calls: the table of controllers-other.md section 3.5, row by row."""

from __future__ import annotations

import pytest

from dynamo_render.kinds.dynamo_model.urls import BadEscape, joined

ADDRESS = "http://10.0.1.5:9090"

ROWS = {
    "my-lora": "/v1/loras/my-lora",
    "org/model": "/v1/loras/org/model",
    "a b": "/v1/loras/a%20b",
    "a?b": "/v1/loras/a%3Fb",
    "a#b": "/v1/loras/a%23b",
    "hf@v1": "/v1/loras/hf@v1",
    "a:b": "/v1/loras/a:b",
    "a+b": "/v1/loras/a+b",
    "a&b": "/v1/loras/a&b",
    "é": "/v1/loras/%C3%A9",
    "a%2Fb": "/v1/loras/a%2Fb",
    "a//b": "/v1/loras/a/b",
    "/lead": "/v1/loras/lead",
    "x/../y": "/v1/loras/y",
    "..": "/v1",
}


@pytest.mark.parametrize(("name", "path"), ROWS.items())
def test_a_model_name_becomes_a_path(name: str, path: str) -> None:
    assert joined(ADDRESS, "/v1/loras", name) == ADDRESS + path


def test_a_name_with_a_bad_escape_has_no_address() -> None:
    with pytest.raises(BadEscape, match=r'^invalid URL escape "%"$'):
        joined(ADDRESS, "/v1/loras", "50%")


def test_a_bad_escape_is_quoted_with_what_follows() -> None:
    with pytest.raises(BadEscape, match=r'^invalid URL escape "%zz"$'):
        joined(ADDRESS, "/v1/loras", "a%20b%zzz")


def test_whole_escapes_are_written_anew_where_something_else_needs_one() -> None:
    """The path is sent as it is or escaped as a whole, never both."""
    assert joined(ADDRESS, "/v1/loras", "a%2Fb c") == f"{ADDRESS}/v1/loras/a/b%20c"


def test_a_slash_at_the_end_of_a_name_stays() -> None:
    assert joined(ADDRESS, "/v1/loras", "a/") == f"{ADDRESS}/v1/loras/a/"


def test_a_name_cannot_leave_the_host() -> None:
    assert joined(ADDRESS, "/v1/loras", "../../../..//evil.test") == f"{ADDRESS}/evil.test"


def test_a_path_of_the_address_is_kept() -> None:
    assert joined("http://10.0.1.5:9090/base/", "/v1/loras", "a") == "http://10.0.1.5:9090/base/v1/loras/a"


def test_brackets_of_an_address_are_no_part_of_the_path() -> None:
    assert joined("http://[fd00::1]:9090", "/v1/loras", "a") == "http://[fd00::1]:9090/v1/loras/a"


def test_a_lone_surrogate_is_escaped_and_not_a_mistake() -> None:
    assert joined(ADDRESS, "/v1/loras", "\ud800") == f"{ADDRESS}/v1/loras/%3F"

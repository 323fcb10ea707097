"""Durations: the syntax and printed form of operator-config.md section 2.1."""

from __future__ import annotations

import pytest

from dynamo_render.kube import durations

SECOND = 1_000_000_000

PRINTED = {
    "15m": "15m0s",
    "4h": "4h0m0s",
    "36h": "36h0m0s",
    "500ms": "500ms",
    "0": "0s",
    "90s": "1m30s",
    "1.5h": "1h30m0s",
    "2m0.25s": "2m0.25s",
    "1500us": "1.5ms",
    "-5m": "-5m0s",
}


@pytest.mark.parametrize(("text", "printed"), PRINTED.items())
def test_the_table_of_the_specification_holds(text: str, printed: str) -> None:
    assert durations.format(durations.parse(text)) == printed


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1ns", 1),
        ("1us", 1_000),
        ("1\u00b5s", 1_000),
        ("1\u03bcs", 1_000),
        ("1ms", 1_000_000),
        ("1s", SECOND),
        ("1m", 60 * SECOND),
        ("1h", 3600 * SECOND),
        (".5s", SECOND // 2),
        ("5.s", 5 * SECOND),
        ("+1m", 60 * SECOND),
        ("1h1m1s", 3661 * SECOND),
        ("1s1s", 2 * SECOND),
        ("1s1h", 3601 * SECOND),
        ("+0", 0),
        ("-0", 0),
        ("0.9ns", 0),
        ("9223372036854775807ns", 2**63 - 1),
        ("-9223372036854775808ns", -(2**63)),
        ("0.33333333333333333333h", 1200 * SECOND),
        ("0.100000000000000000000h", 360 * SECOND),
        ("0.9223372036854775807m", 55_340_232_221),
    ],
)
def test_every_unit_and_spelling_of_go_is_read(text: str, nanoseconds: int) -> None:
    assert durations.parse(text) == nanoseconds


@pytest.mark.parametrize(
    "text",
    ["", "+", "-", "5", "1.5", "00", "s", ".s", "1d", "1 m", " 1m", "1m ", "1hm", "1h5", "--1s", "1..5s", "\u0661s"],
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(durations.InvalidDuration):
        durations.parse(text)


@pytest.mark.parametrize("text", ["9223372036854775808ns", "-9223372036854775809ns", "2562048h", f"{'9' * 900}h"])
def test_more_than_64_bits_of_nanoseconds_are_refused(text: str) -> None:
    with pytest.raises(durations.InvalidDuration, match="at most about 292 years"):
        durations.parse(text)


def test_a_text_of_absurd_length_is_refused() -> None:
    with pytest.raises(durations.InvalidDuration, match="at most 1000 characters"):
        durations.parse("1" * 5000 + "s")


@pytest.mark.parametrize(
    ("text", "reason"), [("5", "each number needs a unit"), ("1d", '"d" is none of the units'), ("", "write a number")]
)
def test_the_message_says_what_is_wrong(text: str, reason: str) -> None:
    with pytest.raises(durations.InvalidDuration, match=reason):
        durations.parse(text)


def test_an_invalid_duration_is_a_value_error() -> None:
    assert issubclass(durations.InvalidDuration, ValueError)


@pytest.mark.parametrize(
    ("nanoseconds", "printed"),
    [
        (1, "1ns"),
        (999, "999ns"),
        (1_500, "1.5\u00b5s"),
        (1_000_001, "1.000001ms"),
        (SECOND, "1s"),
        (SECOND + 1, "1.000000001s"),
        (59 * SECOND + SECOND // 2, "59.5s"),
        (3600 * SECOND, "1h0m0s"),
        (3600 * SECOND + 10 * SECOND, "1h0m10s"),
        (-1, "-1ns"),
        (2**63 - 1, "2562047h47m16.854775807s"),
        (-(2**63), "-2562047h47m16.854775808s"),
    ],
)
def test_only_the_last_unit_has_a_fraction(nanoseconds: int, printed: str) -> None:
    assert durations.format(nanoseconds) == printed


@pytest.mark.parametrize("nanoseconds", [2**63, -(2**63) - 1])
def test_what_does_not_fit_64_bits_is_not_printed(nanoseconds: int) -> None:
    with pytest.raises(durations.InvalidDuration):
        durations.format(nanoseconds)

"""Quantities: the tables and rules of rendering.md appendix A, row by row."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

from dynamo_render.kube import quantity

APPENDIX_TABLE = {
    "1000m": "1",
    "2000m": "2",
    "0.5": "500m",
    "1.5": "1500m",
    "1.50": "1500m",
    "1.500": "1.500",
    "1.234": "1.234",
    "1000": "1k",
    "1024": "1024",
    "3000000k": "3G",
    "1024Mi": "1Gi",
    "1000Mi": "1000Mi",
    "1.5Gi": "1536Mi",
    "0.5Gi": "512Mi",
    "1.0Gi": "1Gi",
    "1.5Ki": "1536",
    "0.1Ki": "102400m",
    "4096Ki": "4Mi",
    "1.1Gi": "1181116006400m",
    "1025Mi": "1025Mi",
    "1e3": "1e3",
    "1000e3": "1e6",
    "1.5e3": "1500",
    "12e5": "1200e3",
    "+5": "+5",
    "01": "01",
    "-1.5Gi": "-1536Mi",
    "0.0000000001": "1n",
    "1000P": "1E",
    "16Ei": "9223372036854775807",
}

# Expected texts of this table were read off Kubernetes' own parser (release 1.34).
FURTHER_TEXTS = {
    "+8Gi": "8Gi",
    "+4Gi": "+4Gi",
    "08Gi": "8Gi",
    "04Gi": "04Gi",
    "1E": "1E",
    "1E3": "1E3",
    "1E+3": "1E+3",
    "1e-3": "1e-3",
    "1e-10": "1e-9",
    ".5": "500m",
    "5.": "5.",
    "1.Gi": "1.Gi",
    "1001E": "1001E",
    "1e400": "10e399",
    "1.0000000001": "1000000001n",
    "-0.0000000001": "-1n",
    "-1000m": "-1",
    "-16Ei": "-9223372036854775807",
    "0.5Ki": "512",
    "123456": "123456",
    "10n": "10n",
    "1000u": "1m",
}

REFUSED = [" 1", "1 ", "1 Gi", "1Mi5", "1e", "abc", "0x10", "1_000", "", "1K", "1GB", "1gi", "1.2.3", "--1", "1e1.5"]
WITHOUT_NUMBER = [".", "+", "-", "Gi", "-k", ".m", "E5", "+.e3"]


@pytest.mark.parametrize(("text", "stored"), APPENDIX_TABLE.items())
def test_the_table_of_the_appendix_holds(text: str, stored: str) -> None:
    assert quantity.normalise(text) == stored


@pytest.mark.parametrize(("text", "stored"), FURTHER_TEXTS.items())
def test_texts_beside_the_table_are_stored_as_kubernetes_stores_them(text: str, stored: str) -> None:
    assert quantity.normalise(text) == stored


@pytest.mark.parametrize("text", ["0", "00", "0.0", "-0", "+0", "0Ki", "0m", "0e5", "0.000n", ".0", "0."])
def test_zero_in_any_spelling_is_a_plain_zero(text: str) -> None:
    assert quantity.normalise(text) == "0"


@pytest.mark.parametrize(
    ("kept", "too_long", "rewritten"),
    [
        ("123456789012345.678", "1234567890123456.789", "1234567890123456789m"),
        ("1.234567890", "1.2345678901", "1234567891n"),
        ("099999Gi", "0999999Gi", "999999Gi"),
        ("099Ti", "0999Ti", "999Ti"),
    ],
)
def test_only_texts_within_the_fast_limits_are_kept_as_written(kept: str, too_long: str, rewritten: str) -> None:
    """The limits are those of Kubernetes' fast parser: 18 decimal digits, billionths, and about 15 binary ones."""
    assert (quantity.normalise(kept), quantity.normalise(too_long)) == (kept, rewritten)


@pytest.mark.parametrize("text", ["01Pi", "01Ei"])
def test_the_largest_binary_suffixes_are_always_rewritten(text: str) -> None:
    assert quantity.normalise(text) == text[1:]


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(quantity.InvalidQuantity):
        quantity.normalise(text)


@pytest.mark.parametrize("text", WITHOUT_NUMBER)
def test_a_text_without_a_number_is_refused(text: str) -> None:
    """Kubernetes reads some of them as zero; the specification refuses them."""
    with pytest.raises(quantity.InvalidQuantity, match="must start with a number"):
        quantity.normalise(text)


@pytest.mark.parametrize("text", ["1000E", "1000000000000000000000", "-1000E"])
def test_a_magnitude_that_would_lose_its_suffix_is_refused(text: str) -> None:
    with pytest.raises(quantity.InvalidQuantity, match="write an exponent, such as 1e21"):
        quantity.normalise(text)


@pytest.mark.parametrize("text", ["1e1000", "1e-1000", "1e2147483648", "1000e999", "1e99999999999999999999"])
def test_an_exponent_that_would_keep_kubernetes_busy_is_refused(text: str) -> None:
    with pytest.raises(quantity.InvalidQuantity, match="exponent is beyond 999"):
        quantity.normalise(text)


def test_a_text_of_absurd_length_is_refused() -> None:
    with pytest.raises(quantity.InvalidQuantity, match="at most 256 characters"):
        quantity.normalise("1" * 257)


@pytest.mark.parametrize("digits", ["\u0661", "\uff11", "1\n", "1\u0660"])
def test_only_ascii_digits_count(digits: str) -> None:
    with pytest.raises(quantity.InvalidQuantity):
        quantity.normalise(digits)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "must not be empty"),
        (" 1", "blanks around it"),
        ("1GB", '"GB" is none of the suffixes'),
        ("abc", "must start with a number"),
        ("1 Gi", '" Gi" is none of the suffixes'),
    ],
)
def test_the_message_says_what_is_wrong(text: str, reason: str) -> None:
    with pytest.raises(quantity.InvalidQuantity, match=reason):
        quantity.normalise(text)


def test_an_invalid_quantity_is_a_value_error() -> None:
    assert issubclass(quantity.InvalidQuantity, ValueError)


@pytest.mark.parametrize("text", [*APPENDIX_TABLE, *FURTHER_TEXTS])
def test_every_text_of_the_tables_is_a_quantity(text: str) -> None:
    assert quantity.is_quantity(text)


@pytest.mark.parametrize("text", [*REFUSED, *WITHOUT_NUMBER, "1000E"])
def test_no_refused_text_is_a_quantity(text: str) -> None:
    assert not quantity.is_quantity(text)


@pytest.mark.parametrize("text", ["0", "0.0", "-0Gi", "0e7"])
def test_zero_is_recognised_in_any_spelling(text: str) -> None:
    assert quantity.is_zero(text)


@pytest.mark.parametrize("text", ["1n", "0.0000000001", "-1", "", "zero"])
def test_small_amounts_and_texts_that_are_no_quantity_are_not_zero(text: str) -> None:
    assert not quantity.is_zero(text)


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (10, "10"),
        (1000, "1k"),
        (0, "0"),
        (-2000, "-2k"),
        (0.5, "500m"),
        (1.0, "1"),
        (-0.0, "0"),
        (1e20, "100E"),
        (1e21, "1e+21"),
        (1.5e300, "1500e297"),
        (0.000001, "1u"),
        (1e-7, "100e-9"),
        (1e-9, "1e-9"),
        (2**63 - 1, "9223372036854775807"),
        (10**19, "10E"),
        (" 1Gi  ", "1Gi"),
        ("1024Mi", "1Gi"),
    ],
)
def test_a_typed_field_takes_numbers_and_surrounding_blanks(value: str | float, stored: str) -> None:
    assert quantity.from_json(value) == stored


@pytest.mark.parametrize("value", [True, False])
def test_a_boolean_is_no_number_of_a_typed_field(value: bool) -> None:  # noqa: FBT001
    with pytest.raises(quantity.InvalidQuantity, match=f"got {str(value).lower()}"):
        quantity.from_json(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400])
def test_a_number_that_json_cannot_hold_is_refused(value: float) -> None:
    with pytest.raises(quantity.InvalidQuantity, match="JSON cannot hold"):
        quantity.from_json(value)


@pytest.mark.parametrize(("value", "kind"), [(None, "null"), ([], "a list"), ({}, "an object")])
def test_other_json_values_are_refused_by_their_kind(value: Any, kind: str) -> None:
    with pytest.raises(quantity.InvalidQuantity, match=f"got {kind}"):
        quantity.from_json(value)


@pytest.mark.parametrize("value", ["", " ", "\t1", "1\n", "1 2"])
def test_blanks_other_than_surrounding_spaces_are_refused(value: str) -> None:
    """A tab is an escape sequence in JSON, and Kubernetes does not decode it."""
    with pytest.raises(quantity.InvalidQuantity):
        quantity.from_json(value)


@pytest.mark.parametrize("value", ["1", "-1", "+1.5Gi", ".5", "5.", "1e3", "1E-3", "1e1.5", "100m", 7, -7, 2.0])
def test_the_schema_lets_whole_numbers_and_texts_of_the_grammar_pass(value: object) -> None:
    assert quantity.fits_schema(value)


@pytest.mark.parametrize(
    "value", ["", " 1", "1 ", "1\n", "abc", "1e", ".", "1GB", "1K", 0.5, math.nan, math.inf, True, None, [], {}]
)
def test_the_schema_stops_everything_else(value: object) -> None:
    assert not quantity.fits_schema(value)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", Decimal(0)),
        ("1500m", Decimal("1.5")),
        ("1Ki", Decimal(1024)),
        ("-1.5Gi", Decimal(-1610612736)),
        ("1.1Gi", Decimal("1181116006.4")),
        ("0.0000000001", Decimal("1E-9")),
        ("16Ei", Decimal(2**63 - 1)),
        ("1e400", Decimal("1E400")),
        ("123456789012345678901234567890.5", Decimal("123456789012345678901234567890.5")),
    ],
)
def test_the_number_behind_a_text_is_exact(text: str, number: Decimal) -> None:
    assert quantity.as_number(text) == number


def test_numbers_compare_across_suffixes() -> None:
    assert quantity.as_number("1Gi") > quantity.as_number("1G") > quantity.as_number("999M")


@pytest.mark.parametrize("text", ["", "1000E", "Gi"])
def test_there_is_no_number_behind_a_refused_text(text: str) -> None:
    with pytest.raises(quantity.InvalidQuantity):
        quantity.as_number(text)

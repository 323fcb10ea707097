"""Names: what Kubernetes accepts, and the reasons that error messages give."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest

from dynamo_render.kube import names

LABELS = ["a", "0", "a-b", "1a", "x" * 63, "a--b"]
NO_LABELS = ["", "A", "a_b", "a.b", "-a", "a-", "a b", "\u00e9", "a\n", "x" * 64]


@pytest.mark.parametrize("text", LABELS)
def test_a_dns_label_is_small_letters_digits_and_inner_dashes(text: str) -> None:
    assert names.is_dns_label(text)


@pytest.mark.parametrize("text", NO_LABELS)
def test_other_texts_are_no_dns_label(text: str) -> None:
    assert not names.is_dns_label(text)


@pytest.mark.parametrize("text", ["a", "a1", "a-1", "x" * 63])
def test_a_service_name_starts_with_a_letter(text: str) -> None:
    assert names.is_dns_label_starting_with_letter(text)


@pytest.mark.parametrize("text", ["0", "1a", *NO_LABELS])
def test_a_leading_digit_is_no_service_name(text: str) -> None:
    assert not names.is_dns_label_starting_with_letter(text)


@pytest.mark.parametrize("text", ["a", "a.b", "0.1", "nvidia.com", "x" * 253, "a-b.c-d"])
def test_a_dns_subdomain_is_labels_joined_by_dots(text: str) -> None:
    """Kubernetes limits the whole, not the parts."""
    assert names.is_dns_subdomain(text)


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", "A.b", "a.-b", "a-.b", "a_b", "a\n", "x" * 254])
def test_other_texts_are_no_dns_subdomain(text: str) -> None:
    assert not names.is_dns_subdomain(text)


@pytest.mark.parametrize("text", ["", "a", "A.b_c-d", "0", "x" * 63])
def test_a_label_value_may_be_empty_and_have_capitals(text: str) -> None:
    assert names.is_label_value(text)


@pytest.mark.parametrize("text", ["-a", "a.", "_", "a b", "a/b", "a\n", "\u00e9", "x" * 64])
def test_other_texts_are_no_label_value(text: str) -> None:
    assert not names.is_label_value(text)


@pytest.mark.parametrize("text", ["a", "A_b", "nvidia.com/selector", f"{'x' * 253}/{'y' * 63}"])
def test_a_label_key_may_have_a_prefix(text: str) -> None:
    assert names.is_qualified_name(text)


@pytest.mark.parametrize(
    "text", ["", "/a", "a/", "a/b/c", "A.com/x", "a b/x", "-a", f"{'x' * 254}/y", f"x/{'y' * 64}", "x" * 64]
)
def test_other_texts_are_no_label_key(text: str) -> None:
    assert not names.is_qualified_name(text)


@pytest.mark.parametrize("text", ["A.com/x", "nvidia.com/X", "a"])
def test_the_prefix_of_an_annotation_key_may_have_capitals(text: str) -> None:
    assert names.is_annotation_key(text)


@pytest.mark.parametrize("text", ["", "a/b/c", "a_b/x", "A.com/", "x" * 64])
def test_other_texts_are_no_annotation_key(text: str) -> None:
    assert not names.is_annotation_key(text)


@pytest.mark.parametrize(
    ("why_not", "text", "reason"),
    [
        (names.why_not_dns_label, "", "it is empty"),
        (names.why_not_dns_label, "x" * 70, "it has 70 characters, at most 63 are allowed"),
        (names.why_not_dns_label, "a_b", "it contains '_', only lower-case letters, digits and '-' are allowed"),
        (names.why_not_dns_label, "a\n", r"it contains '\n', only lower-case letters, digits and '-' are allowed"),
        (names.why_not_dns_label, "-a", "it starts with '-' instead of a letter or digit"),
        (names.why_not_dns_label, "a-", "it ends with '-' instead of a letter or digit"),
        (names.why_not_dns_label_starting_with_letter, "1a", "it starts with '1' instead of a letter"),
        (
            names.why_not_dns_label_starting_with_letter,
            "a.b",
            "it contains '.', only lower-case letters, digits and '-'",
        ),
        (names.why_not_dns_subdomain, "a..b", "it has an empty part before, after or between dots"),
        (names.why_not_dns_subdomain, "a.-b", "in its part '-b' it starts with '-' instead of a letter or digit"),
        (names.why_not_dns_subdomain, "a-", "it ends with '-' instead of a letter or digit"),
        (names.why_not_dns_subdomain, "x" * 254, "it has 254 characters, at most 253 are allowed"),
        (names.why_not_label_value, "a/b", "it contains '/', only letters, digits, '-', '_' and '.' are allowed"),
        (names.why_not_label_value, "a'b", "it contains \"'\", only letters, digits, '-', '_' and '.' are allowed"),
        (names.why_not_qualified_name, "a/b/c", "it has more than one '/'"),
        (names.why_not_qualified_name, "A/b", "its prefix is no DNS subdomain: it contains 'A'"),
        (names.why_not_qualified_name, "a/", "after its prefix it is empty"),
        (names.why_not_annotation_key, "a/_", "after its prefix it starts with '_'"),
    ],
)
def test_the_reason_names_the_first_thing_that_is_wrong(
    why_not: Callable[[str], str | None], text: str, reason: str
) -> None:
    assert (why_not(text) or "").startswith(reason)


@pytest.mark.parametrize(
    "why_not",
    [
        names.why_not_dns_label,
        names.why_not_dns_label_starting_with_letter,
        names.why_not_dns_subdomain,
        names.why_not_label_value,
        names.why_not_qualified_name,
        names.why_not_annotation_key,
    ],
)
def test_there_is_no_reason_against_a_good_name(why_not: Callable[[str], str | None]) -> None:
    assert why_not("a-1") is None


@pytest.mark.parametrize(
    ("model", "digits"),
    [("Qwen/Qwen3-0.6B", "fb68f5a6"), ("Qwen/Qwen3", "cf172107"), ("meta-llama/Llama-3.3-70B-Instruct", "99668f5d")],
)
def test_the_model_hashes_of_the_specification_hold(model: str, digits: str) -> None:
    assert names.model_hash(model) == digits


def test_a_model_name_is_hashed_as_utf8() -> None:
    assert names.model_hash("\u00e9") == hashlib.sha256(b"\xc3\xa9").hexdigest()[:8]

"""Laws of the small Kubernetes values: quantities, durations, registries and names."""

from __future__ import annotations

import base64
import json
from contextlib import suppress
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from dynamo_render.kube import durations, names, quantity, registries

INT64 = st.integers(-(2**63), 2**63 - 1)
SIGNS = st.sampled_from(["", "+", "-"])
DIGITS = st.text("0123456789", max_size=21)
DECIMAL_FACTORS = {
    "": Fraction(1),
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    **{suffix: Fraction(1000**power) for power, suffix in enumerate("kMGTPE", start=1)},
}
BINARY_FACTORS = {f"{suffix}i": Fraction(1024**power) for power, suffix in enumerate("KMGTPE", start=1)}
FACTORS = {**DECIMAL_FACTORS, **BINARY_FACTORS, **{f"e{power}": Fraction(10) ** power for power in range(-12, 25)}}


@st.composite
def quantities_with_values(draw: st.DrawFn) -> tuple[str, Fraction]:
    """A quantity and the exact value that its text says, before Kubernetes rounds or caps it."""
    sign, whole, fraction = draw(SIGNS), draw(DIGITS.filter(bool)), draw(st.text("0123456789", max_size=12))
    suffix = draw(st.sampled_from(sorted(FACTORS)))
    value = Fraction(int(whole + fraction), 10 ** len(fraction)) * FACTORS[suffix]
    point = "." if fraction else ""
    return f"{sign}{whole}{point}{fraction}{suffix}", -value if sign == "-" else value


QUANTITIES = quantities_with_values().filter(lambda pair: quantity.is_quantity(pair[0]))
LIKELY_QUANTITIES = st.text("+-.0123456789eEnumkKMGTPi ", max_size=10)


@given(QUANTITIES)
def test_normalising_twice_equals_normalising_once(pair: tuple[str, Fraction]) -> None:
    once = quantity.normalise(pair[0])
    assert quantity.normalise(once) == once


@given(QUANTITIES)
def test_normalising_keeps_the_number(pair: tuple[str, Fraction]) -> None:
    assert quantity.as_number(quantity.normalise(pair[0])) == quantity.as_number(pair[0])


@given(QUANTITIES)
def test_a_number_is_rounded_away_from_zero_by_less_than_a_billionth(pair: tuple[str, Fraction]) -> None:
    text, value = pair
    billionths = abs(value) * 10**9
    rounded = Fraction(-(-billionths.numerator // billionths.denominator), 10**9)
    expected = min(rounded, 2**63 - 1) if text.endswith("i") else rounded
    assert abs(Fraction(quantity.as_number(text))) == expected


@given(QUANTITIES)
def test_a_number_keeps_its_sign(pair: tuple[str, Fraction]) -> None:
    text, value = pair
    assert (quantity.as_number(text) < 0, quantity.is_zero(text)) == (value < 0, value == 0)


@given(LIKELY_QUANTITIES)
def test_every_quantity_fits_the_schema(text: str) -> None:
    assert quantity.fits_schema(text) or not quantity.is_quantity(text)


@given(LIKELY_QUANTITIES)
def test_a_stored_text_fits_the_schema(text: str) -> None:
    assert not quantity.is_quantity(text) or quantity.fits_schema(quantity.normalise(text))


@given(st.one_of(st.text(), LIKELY_QUANTITIES))
def test_any_text_is_normalised_or_refused_with_the_one_error(text: str) -> None:
    with suppress(quantity.InvalidQuantity):
        assert quantity.normalise(text)


@given(INT64)
def test_a_whole_number_and_its_text_are_the_same_quantity(number: int) -> None:
    assert quantity.from_json(number) == quantity.from_json(f" {number} ")


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=1e-6, max_value=1e20))
def test_a_float_is_the_quantity_of_its_shortest_text(number: float) -> None:
    error = Fraction(quantity.as_number(quantity.from_json(number))) - Fraction(repr(number))
    assert 0 <= error < Fraction(1, 10**9)


@given(INT64)
def test_a_printed_duration_reads_back_equal(nanoseconds: int) -> None:
    assert durations.parse(durations.format(nanoseconds)) == nanoseconds


@given(st.integers(-(10**12), 10**12))
def test_a_short_printed_duration_reads_back_equal(nanoseconds: int) -> None:
    assert durations.parse(durations.format(nanoseconds)) == nanoseconds


@given(INT64.filter(lambda number: number > -(2**63)))
def test_the_sign_of_a_duration_is_a_prefix(nanoseconds: int) -> None:
    magnitude = durations.format(abs(nanoseconds))
    assert durations.format(nanoseconds) == (f"-{magnitude}" if nanoseconds < 0 else magnitude)


@given(
    st.lists(
        st.tuples(st.integers(0, 1000), st.sampled_from(["ns", "us", "ms", "s", "m", "h"])), min_size=1, max_size=5
    )
)
def test_a_duration_is_the_sum_of_its_terms(terms: list[tuple[int, str]]) -> None:
    parts = [f"{count}{unit}" for count, unit in terms]
    assert durations.parse("".join(parts)) == sum(durations.parse(part) for part in parts)


@given(st.one_of(st.text(max_size=12), st.text("+-.0123456789hmnsu\u00b5", max_size=12)))
def test_any_text_is_a_duration_that_prints_or_refused_with_the_one_error(text: str) -> None:
    nanoseconds = 0
    with suppress(durations.InvalidDuration):
        nanoseconds = durations.parse(text)
    assert durations.parse(durations.format(nanoseconds)) == nanoseconds


HOST_NAMES = st.from_regex(r"[a-z0-9]{1,5}(\.[a-z0-9]{1,5}){1,2}(:[0-9]{1,4})?", fullmatch=True)
IMAGE_PATHS = st.from_regex(r"[a-z0-9]{1,6}(/[a-z0-9]{1,6}){0,2}(:[a-z0-9.]{1,6})?", fullmatch=True).filter(
    lambda path: ":." not in path
)
LIKELY_ADDRESSES = st.lists(
    st.sampled_from(
        ["http", "reg.io", "://", "/", "//", "@", ":", "5000", "?", "#", "%25", "%C3%A4", "%z", "[::1]", " "]
    ),
    max_size=7,
).map("".join)


@given(HOST_NAMES, IMAGE_PATHS)
def test_both_rules_agree_on_an_image_with_a_small_letter_registry(registry: str, path: str) -> None:
    image = f"{registry}/{path}"
    assert registries.image_registry(image) == registries.host(image) == registry


@given(HOST_NAMES, st.sampled_from(["", "http://", "https://"]), st.sampled_from(["", "/", "/v1/", "/v2/x"]))
def test_a_credential_for_a_registry_serves_its_images(registry: str, scheme: str, path: str) -> None:
    image = f"{registry.upper()}/x"
    assert registries.server_registry(f"{scheme}{registry}{path}") == registries.image_registry(image)


@given(IMAGE_PATHS.filter(lambda path: ":" not in path.partition("/")[0] and "." not in path.partition("/")[0]))
def test_an_image_without_a_host_is_on_docker_hub(path: str) -> None:
    image = path.replace("localhost", "local")
    assert registries.image_registry(image) == registries.image_registry(f"index.docker.io/{image}") == "docker.io"


@given(st.one_of(st.text(), LIKELY_ADDRESSES))
def test_any_text_has_a_host_or_is_refused_with_the_one_error(text: str) -> None:
    with suppress(registries.InvalidHost):
        assert registries.host(text)


@given(st.permutations([("a", "x"), ("a", "y"), ("b", "x"), ("b", "bad")]), st.permutations(["a.io", "b.io", "B.io"]))
def test_the_order_of_secrets_and_hosts_does_not_show_in_the_index(
    order: list[tuple[str, str]], hosts: list[str]
) -> None:
    def secret(namespace: str, name: str) -> dict[str, object]:
        auths: dict[str, object] = dict.fromkeys([*hosts, ""] if name == "bad" else hosts)
        data = base64.b64encode(json.dumps({"auths": auths}).encode()).decode()
        return {
            "type": registries.PULL_SECRET_TYPE,
            "metadata": {"namespace": namespace, "name": name},
            "data": {registries.PULL_SECRET_KEY: data},
        }

    index, skipped = registries.pull_secret_index([secret(*entry) for entry in order], rule="reference")
    both = {"a.io": ("x", "y"), "b.io": ("x", "y")}
    assert repr(index) == repr({"a": both, "b": {"a.io": ("x",), "b.io": ("x",)}})
    assert [entry[:2] for entry in skipped] == [("b", "bad")]


NAME_LIKE = st.text("aZ09-._/ \u00e9", max_size=70)


@given(NAME_LIKE)
def test_a_service_name_is_a_label_is_a_subdomain_is_a_label_value(text: str) -> None:
    """Each check implies the next, so a text that passes one never fails a laxer one."""
    chain = [
        names.is_dns_label_starting_with_letter(text),
        names.is_dns_label(text),
        names.is_dns_subdomain(text) and len(text) <= names.MAX_LABEL_VALUE,
        bool(text) and names.is_label_value(text),
        names.is_qualified_name(text),
        names.is_annotation_key(text),
    ]
    assert chain == sorted(chain)


@given(st.text(), st.text())
def test_a_model_hash_is_a_label_value_and_depends_on_the_name_only(name: str, other: str) -> None:
    digits = names.model_hash(name)
    assert names.is_label_value(digits)
    assert (digits == names.model_hash(other)) == (name == other)

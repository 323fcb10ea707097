"""What Kubernetes accepts as a name, a label value or an annotation key, and the reason when it does not.

Every ``is_...`` question has a ``why_not_...`` twin that returns None or a short reason, written to follow "must be a
name, but". Nothing here shortens, builds or decides a name of Dynamo.
"""

from __future__ import annotations

import functools
import re

from dynamo_render.kube.patterns import pattern

MAX_DNS_LABEL = 63
MAX_DNS_SUBDOMAIN = 253
MAX_LABEL_VALUE = 63
MAX_QUALIFIED_NAME_PART = 63

_LOWER = "lower-case letters, digits and '-'"
_LOWER_DOTTED = "lower-case letters, digits, '-' and '.'"
_MIXED = "letters, digits, '-', '_' and '.'"
_NOT_LOWER = pattern(r"[^a-z0-9-]")
_NOT_LOWER_DOTTED = pattern(r"[^a-z0-9.-]")
_NOT_MIXED = pattern(r"[^A-Za-z0-9._-]")
_LETTER = pattern(r"[a-z]")
_LOWER_END = pattern(r"[a-z0-9]")
_MIXED_END = pattern(r"[A-Za-z0-9]")


def is_dns_label(text: str) -> bool:
    """Say whether *text* is a DNS label: what Pods, Namespaces and most parts of generated names must be."""
    return why_not_dns_label(text) is None


def is_dns_label_starting_with_letter(text: str) -> bool:
    """Say whether *text* is a DNS label that starts with a letter, as the name of a Service must."""
    return why_not_dns_label_starting_with_letter(text) is None


def is_dns_subdomain(text: str) -> bool:
    """Say whether *text* is DNS labels joined by dots, as the name of most objects must be."""
    return why_not_dns_subdomain(text) is None


def is_label_value(text: str) -> bool:
    """Say whether *text* may be the value of a label; the empty text may."""
    return why_not_label_value(text) is None


def is_qualified_name(text: str) -> bool:
    """Say whether *text* may be the key of a label: a name, or a DNS subdomain, a slash and a name."""
    return why_not_qualified_name(text) is None


def is_annotation_key(text: str) -> bool:
    """Say whether *text* may be the key of an annotation: a qualified name whose prefix may have capitals."""
    return why_not_annotation_key(text) is None


@functools.lru_cache(maxsize=1024)
def why_not_dns_label(text: str) -> str | None:
    """Return why *text* is no DNS label, or None."""
    return (
        _why_not_length(text, MAX_DNS_LABEL)
        or _why_not_characters(text, _NOT_LOWER, _LOWER)
        or _why_not_ends(text, _LOWER_END, "a letter or digit")
    )


def why_not_dns_label_starting_with_letter(text: str) -> str | None:
    """Return why *text* is no DNS label that starts with a letter, or None."""
    reason = why_not_dns_label(text)
    if reason is None and not _LETTER.match(text):
        return f"it starts with '{text[0]}' instead of a letter"
    return reason


@functools.lru_cache(maxsize=1024)
def why_not_dns_subdomain(text: str) -> str | None:
    """Return why *text* is no DNS subdomain, or None; its parts may be longer than a DNS label."""
    reason = _why_not_length(text, MAX_DNS_SUBDOMAIN) or _why_not_characters(text, _NOT_LOWER_DOTTED, _LOWER_DOTTED)
    if reason is not None:
        return reason
    for part in text.split("."):
        if not part:
            return "it has an empty part before, after or between dots"
        part_reason = _why_not_ends(part, _LOWER_END, "a letter or digit")
        if part_reason is not None:
            return part_reason if part == text else f"in its part '{part}' {part_reason}"
    return None


def why_not_label_value(text: str) -> str | None:
    """Return why *text* cannot be the value of a label, or None."""
    return _why_not_name_part(text, MAX_LABEL_VALUE) if text else None


def why_not_qualified_name(text: str) -> str | None:
    """Return why *text* cannot be the key of a label, or None."""
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        return "it has more than one '/'"
    prefix_reason = why_not_dns_subdomain(prefix) if slash else None
    if prefix_reason is not None:
        return f"its prefix is no DNS subdomain: {prefix_reason}"
    name_reason = _why_not_name_part(name, MAX_QUALIFIED_NAME_PART)
    return f"after its prefix {name_reason}" if name_reason and slash else name_reason


def why_not_annotation_key(text: str) -> str | None:
    """Return why *text* cannot be the key of an annotation, or None."""
    return why_not_qualified_name(text.lower())


def model_hash(name: str) -> str:
    """Return the eight hexadecimal digits by which labels and Service names refer to the model *name*."""
    import hashlib  # noqa: PLC0415 - only graphs with a model need it

    # A lone surrogate comes through json.loads; it is odd, but has a hash like any other text.
    return hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:8]


def _why_not_name_part(text: str, limit: int) -> str | None:
    return (
        _why_not_length(text, limit)
        or _why_not_characters(text, _NOT_MIXED, _MIXED)
        or _why_not_ends(text, _MIXED_END, "a letter or digit")
    )


def _why_not_length(text: str, limit: int) -> str | None:
    if not text:
        return "it is empty"
    return f"it has {len(text)} characters, at most {limit} are allowed" if len(text) > limit else None


def _why_not_characters(text: str, wrong: re.Pattern[str], allowed: str) -> str | None:
    found = wrong.search(text)
    return f"it contains {_shown(found[0])}, only {allowed} are allowed" if found else None


def _why_not_ends(text: str, right: re.Pattern[str], wanted: str) -> str | None:
    if not right.match(text[0]):
        return f"it starts with '{text[0]}' instead of {wanted}"
    return f"it ends with '{text[-1]}' instead of {wanted}" if not right.match(text[-1]) else None


def _shown(character: str) -> str:
    return f"'{character}'" if character.isprintable() and character != "'" else ascii(character)

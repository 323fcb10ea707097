"""Names of graphs, services and namespaces, keys and values of labels and annotations. Nothing here knows a field."""

from __future__ import annotations

import string
from functools import cache

from hypothesis import strategies as st

LOWER = string.ascii_lowercase
LOWER_AND_DIGITS = LOWER + string.digits
LETTERS_AND_DIGITS = string.ascii_letters + string.digits


@cache
def _name(first: str, inner: str, last: str, max_size: int) -> st.SearchStrategy[str]:
    middle = st.text(inner, max_size=max_size - 2)
    longer = st.builds("{}{}{}".format, st.sampled_from(first), middle, st.sampled_from(last))
    return st.sampled_from(first) | longer


@cache
def dns_labels(max_size: int = 10) -> st.SearchStrategy[str]:
    """Return lower-case names that start with a letter, as Services ask for."""
    return _name(LOWER, LOWER_AND_DIGITS + "-", LOWER_AND_DIGITS, max_size)


@cache
def namespaces() -> st.SearchStrategy[str]:
    """Return names of namespaces."""
    return st.sampled_from(("default", "team-a")) | dns_labels(12)


@cache
def graph_names() -> st.SearchStrategy[str]:
    """Return names of graphs, short enough for Grove's budget together with a service name."""
    return st.sampled_from(("demo", "llm-prod")) | dns_labels(9)


@cache
def service_names() -> st.SearchStrategy[str]:
    """Return names of services as users write them, capitals included, up to ten characters."""
    usual = st.sampled_from(("Frontend", "Decode", "Prefill", "Worker", "Planner", "Epp"))
    return usual | _name(string.ascii_letters, LETTERS_AND_DIGITS + "-", LETTERS_AND_DIGITS, 10)


@cache
def related_service_names() -> st.SearchStrategy[str]:
    """Return names that differ by endings which computed names have too: ``w`` and ``w-ldr`` in one graph."""
    return st.builds("{}{}".format, st.sampled_from("wW"), st.sampled_from(("", "-d", "-p", "-0", "-ldr", "-wkr")))


@cache
def label_values() -> st.SearchStrategy[str]:
    """Return values that labels may have, the empty one included."""
    return st.sampled_from(("", "gold", "v1.2_x")) | _name(
        LETTERS_AND_DIGITS, LETTERS_AND_DIGITS + "-_.", LETTERS_AND_DIGITS, 12
    )


@cache
def label_keys() -> st.SearchStrategy[str]:
    """Return keys that labels and annotations may have and that mean nothing to the operator."""
    return st.sampled_from(("tier", "example.com/owner", "app.kubernetes.io/part-of")) | dns_labels(8)


@cache
def user_labels() -> st.SearchStrategy[dict[str, str]]:
    """Return labels of the user's own."""
    return st.dictionaries(label_keys(), label_values(), max_size=3)


@cache
def user_annotations() -> st.SearchStrategy[dict[str, str]]:
    """Return annotations of the user's own, with any text."""
    return st.dictionaries(label_keys(), texts(), max_size=3)


@cache
def texts(max_size: int = 12) -> st.SearchStrategy[str]:
    """Return any text that JSON and YAML can carry."""
    readable = st.characters(exclude_categories=("Cs", "Cc"))
    return st.sampled_from(("", "on", "1", "a b", "$(HOME)", "it's")) | st.text(readable, max_size=max_size)


@cache
def images() -> st.SearchStrategy[str]:
    """Return references to container images, with and without a registry, a port, a tag, a digest."""
    registry = st.sampled_from(("", "nvcr.io/", "registry.example.com:5000/", "docker.io/library/", "team/"))
    suffix = st.sampled_from(("", ":1.0", ":latest", f"@sha256:{'a' * 64}"))
    return st.builds("{}{}{}".format, registry, st.sampled_from(("runtime", "busy_box")), suffix)

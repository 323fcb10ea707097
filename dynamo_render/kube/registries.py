"""Which registry an image comes from, which one a credential is for, and which pull secrets serve a host.

Specification: operator-config.md sections 5.1 and 5.2 (the rule of the released operator) and decision D-24 (the rule
of the standard image reference). Credentials are never looked at; nothing here chooses between the two rules.
"""

from __future__ import annotations

import binascii
import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from dynamo_render.kube.patterns import pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

PULL_SECRET_TYPE = "kubernetes.io/dockerconfigjson"  # noqa: S105 - a type, not a secret
PULL_SECRET_KEY = ".dockerconfigjson"  # noqa: S105 - a file name, not a secret
DEFAULT_REGISTRY = "docker.io"

Rule = Literal["exact", "reference"]

_OTHER_NAMES = {"index.docker.io": DEFAULT_REGISTRY}

_SCHEME = pattern(r"([A-Za-z][A-Za-z0-9+.-]*):")
_CONTROL = pattern(r"[\x00-\x1f\x7f]")
_BAD_ESCAPE = pattern(r"%(?![0-9A-Fa-f]{2})")
_USER = pattern(r"[A-Za-z0-9._:~!$&'()*+,;=%@-]*")
_HOST = pattern(r"(?:[A-Za-z0-9_.~!$&'()*+,;=:\[\]<>\"-]|[^\x00-\x7f]|%25|%[89A-Fa-f][0-9A-Fa-f])*")
_HOST_ESCAPES = pattern(r"%25|(?:%[89A-Fa-f][0-9A-Fa-f])+")
_PORT = pattern(r"(?::[0-9]*)?")

_DOMAIN_PART = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_DOMAIN = pattern(rf"(?:{_DOMAIN_PART}(?:\.{_DOMAIN_PART})*|\[[0-9A-Fa-f:]+\])(?::[0-9]+)?")
_PATH_PART = r"[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*"
_PATH = pattern(rf"{_PATH_PART}(?:/{_PATH_PART})*")
_TAG = pattern(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_DIGEST = pattern(r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9A-Fa-f]{32,}")
_IMAGE_ID = pattern(r"[0-9a-f]{64}")
_MAX_PATH = 255


class InvalidHost(ValueError):
    """A text names no registry by the rule that was asked; the message quotes it and says why."""


class InvalidPullSecret(ValueError):
    """A pull secret cannot be read; *namespace*, *name* and *reason* say which and why."""

    def __init__(self, namespace: str, name: str, reason: str) -> None:
        """Keep the parts beside the message."""
        self.namespace = namespace
        self.name = name
        self.reason = reason
        super().__init__(f"pull secret {namespace}/{name}: {reason}")


class SkippedSecret(NamedTuple):
    """A pull secret that was left out of the index, and why."""

    namespace: str
    name: str
    reason: str


PullSecretIndex = dict[str, dict[str, tuple[str, ...]]]


def host(text: str) -> str:
    """Return the host, with its port, that the released operator reads from *text*; raise InvalidHost.

    It reads image references and registry addresses alike as URLs: ``ubuntu`` is a host, ``ubuntu:latest`` is none.
    """
    url, _, fragment = (text if "://" in text else f"dummy://{text}").partition("#")
    if _CONTROL.search(url):
        raise _no_registry(text, "it contains a control character")
    authority, path = _authority_and_path(url, text)
    user, at, address = authority.rpartition("@")
    if at and not _USER.fullmatch(user):
        raise _no_registry(text, "the part before '@' contains a character that is not allowed")
    if any(_BAD_ESCAPE.search(part) for part in (user, path, fragment)):
        raise _no_registry(text, "'%' is not followed by two hexadecimal digits")
    _check_port(address, text)
    if not _HOST.fullmatch(address):
        raise _no_registry(text, "the host contains a character that is not allowed")
    if not address:
        raise _no_registry(text, "it has no host")
    return _HOST_ESCAPES.sub(_unescaped, address)


def why_not_url(text: str) -> str | None:
    """Return why *text* is no URL as the operator checks it at its start, or None; scheme and host may be missing."""
    before_path = text.partition("#")[0].partition("?")[0].partition("/")[0]
    scheme, colon, _rest = before_path.partition(":")
    if colon and not _SCHEME.match(f"{scheme}:"):
        return "the text before the first ':' is no scheme"
    if "://" not in text:
        return "'%' is not followed by two hexadecimal digits" if _BAD_ESCAPE.search(text) else None
    try:
        host(text)
    except InvalidHost as error:
        return None if "no host" in str(error) else str(error)
    return None


def image_registry(reference: str) -> str:
    """Return the registry that *reference* is pulled from, in lower case; raise InvalidHost for what is no reference.

    The first component is a host only when it could not be part of a path on Docker Hub.
    """
    named, at, digest = reference.partition("@")
    if at and not _DIGEST.fullmatch(digest):
        raise InvalidHost(f"{reference!r} is no image reference: bad digest {digest!r}")
    first, slash, rest = named.partition("/")
    is_host = bool(slash) and ("." in first or ":" in first or first.lower() == "localhost")
    path, colon, tag = (rest if is_host else named).partition(":")
    if colon and not _TAG.fullmatch(tag):
        raise InvalidHost(f"{reference!r} is no image reference: bad tag {tag!r}")
    if not _PATH.fullmatch(path) or len(path) > _MAX_PATH or _IMAGE_ID.fullmatch(reference):
        raise InvalidHost(f"{reference!r} is no image reference: bad name {path!r}")
    if not is_host:
        return DEFAULT_REGISTRY
    if not _DOMAIN.fullmatch(first):
        raise InvalidHost(f"{reference!r} is no image reference: bad registry {first!r}")
    return _well_known(first)


def server_registry(key: str) -> str:
    """Return the registry, in lower case, that an ``auths`` *key* (a URL or a host) is for; raise InvalidHost."""
    return _well_known(host(key).removesuffix(":"))


def pull_secret_index(
    secrets: Iterable[Mapping[str, Any]], rule: Rule
) -> tuple[PullSecretIndex, tuple[SkippedSecret, ...]]:
    """Return which secrets serve a host, by namespace and host, and the secrets that could not be read.

    *secrets* are Secrets as read from a cluster; other types are passed over. Names come in ascending order. By rule
    ``exact`` one bad secret raises InvalidPullSecret, whatever its namespace; by ``reference`` it is skipped whole.
    """
    registry_of_key = host if rule == "exact" else server_registry
    found: set[tuple[str, str, str]] = set()
    skipped: list[SkippedSecret] = []
    for namespace, name, secret in _pull_secrets(secrets):
        try:
            found.update((namespace, registry, name) for registry in _registries(secret, registry_of_key))
        except ValueError as problem:
            if rule == "exact":
                raise InvalidPullSecret(namespace, name, str(problem)) from problem
            skipped.append(SkippedSecret(namespace, name, str(problem)))
    index: PullSecretIndex = {}
    for namespace, registry, name in sorted(found):
        names = index.setdefault(namespace, {})
        names[registry] = (*names.get(registry, ()), name)
    return index, tuple(skipped)


def _authority_and_path(url: str, text: str) -> tuple[str, str]:
    """Split a URL that has lost its fragment; no authority at all is an InvalidHost."""
    scheme = _SCHEME.match(url)
    rest = (url[scheme.end() :] if scheme else url).partition("?")[0]
    if not rest.startswith("//") or (scheme is None and rest.startswith("///")):
        raise _no_registry(text, "it is not a URL with a host")
    authority, slash, path = rest[2:].partition("/")
    return authority, slash + path


def _check_port(address: str, text: str) -> None:
    """Raise InvalidHost unless what follows the last colon, or the closing bracket, is empty or a number."""
    if address.startswith("["):
        _, bracket, port = address.rpartition("]")
        if not bracket:
            raise _no_registry(text, "']' is missing in the host")
    else:
        _, colon, number = address.rpartition(":")
        port = colon + number if colon else ""
    if not _PORT.fullmatch(port):
        raise _no_registry(text, "what follows the last ':' is no port")


def _unescaped(escapes: re.Match[str]) -> str:
    """Return the characters behind percent escapes; bytes that are no UTF-8 stay visible and distinct."""
    return binascii.unhexlify(escapes[0].replace("%", "")).decode("utf-8", "backslashreplace")


def _no_registry(text: str, reason: str) -> InvalidHost:
    """Return the error for *text*; a password in it, as URLs may have, is not shown."""
    user, _, rest = text.rpartition("@")
    shown = f"***@{rest}" if ":" in user.replace("://", "") else text
    return InvalidHost(f"{shown!r} names no registry: {reason}")


def _well_known(registry: str) -> str:
    folded = registry.lower()
    return _OTHER_NAMES.get(folded, folded)


def _pull_secrets(secrets: Iterable[Mapping[str, Any]]) -> list[tuple[str, str, Mapping[str, Any]]]:
    """Return namespace, name and content of each secret with registry credentials, in that order."""
    named = [
        (secret["metadata"]["namespace"], secret["metadata"]["name"], secret)
        for secret in secrets
        if secret.get("type") == PULL_SECRET_TYPE
    ]
    return sorted(named, key=lambda entry: entry[:2])


def _registries(secret: Mapping[str, Any], registry_of_key: Callable[[str], str]) -> tuple[str, ...]:
    """Return the registries that *secret* serves; raise ValueError with the reason when any of it is malformed."""
    encoded = (secret.get("data") or {}).get(PULL_SECRET_KEY)
    if not encoded:
        raise ValueError(f"has no data under {PULL_SECRET_KEY}")
    try:
        # Go passes over line breaks in base64.
        decoded = binascii.a2b_base64(encoded.replace("\r", "").replace("\n", ""), strict_mode=True)
    except ValueError:
        raise ValueError(f"the data under {PULL_SECRET_KEY} is no base64") from None
    return tuple(map(registry_of_key, _auths_keys(decoded.decode("utf-8", "replace"))))


class _Members(tuple[tuple[str, Any], ...]):
    """The members of a JSON object in their order, repeated names included."""

    __slots__ = ()


def _auths_keys(config: str) -> list[str]:
    """Return the keys of ``auths`` as Go reads them: any letter case, repeated members merged, null forgets."""
    keys: list[str] = []
    for name, value in _members(_json(config), "the configuration"):
        if name.casefold() != "auths":
            continue
        if value is None:
            keys.clear()
        keys.extend(key for key, _ in _members(value, "auths"))
    return keys


def _members(value: object, what: str) -> _Members:
    """Return the members of a JSON object, none for null; raise ValueError for anything else."""
    if value is None:
        return _Members()
    if not isinstance(value, _Members):
        # The value is not shown: it may hold a credential.
        raise ValueError(f"{what} is not a JSON object")  # noqa: TRY004 - wrong content, not a wrong call
    return value


def _json(text: str) -> object:
    """Return *text* read as strict JSON; numbers stay texts, because nobody looks at them."""
    import json  # noqa: PLC0415 - a render without secrets never needs it

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        return json.loads(text, object_pairs_hook=_Members, parse_constant=refuse, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        # The reader's own message is dropped: it may quote a credential.
        raise ValueError("the configuration is no JSON") from None

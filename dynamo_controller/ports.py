"""All that the shell may do: protocols of cluster, pods, clock, events, log, the error a cluster raises, requests.

Objects are plain JSON mappings. Nothing here knows a client library, and nothing here has an effect.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol

import attrs

from dynamo_render.kinds.shared.machine import HttpCall, Outcome
from dynamo_render.values import Value

Json = dict[str, Any]
Object = Mapping[str, Any]

FieldPath = tuple[str | int, ...]
"""The keys and indexes that lead to a field of an object."""

FIELD_MANAGER = "dynamo-controller"
UNREACHABLE = 0


@attrs.frozen(eq=False, repr=False)
class Kind(Value):
    """One kind of object as the API names it."""

    api_version: str
    kind: str

    @property
    def group(self) -> str:
        """The API group; empty for the core group."""
        return self.api_version.rpartition("/")[0]


@attrs.frozen(eq=False, repr=False)
class Selection(Value):
    """Which objects of one kind: of one *namespace* or, when empty, of all, by *labels* and *fields* selectors."""

    kind: Kind
    namespace: str = ""
    labels: str = ""
    fields: str = ""


@attrs.frozen(eq=False, repr=False)
class Page(Value):
    """A part of a list; *next_page* asks for the rest and is empty at the end."""

    items: tuple[Json, ...]
    resource_version: str
    next_page: str = ""


@attrs.frozen(eq=False, repr=False)
class WatchEvent(Value):
    """One thing that a watch tells; a bookmark carries nothing but a resource version."""

    sort: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]
    content: Json


class ClusterError(Exception):
    """A request did not succeed: *status* is HTTP's, or `UNREACHABLE`; *reason* is the API's own word for it."""

    def __init__(self, status: int, reason: str, message: str, retry_after: float | None = None) -> None:
        """Keep the parts; *retry_after* is the number of seconds that the server asks to wait."""
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.retry_after = retry_after

    @property
    def is_missing(self) -> bool:
        """Whether the object, or its kind, does not exist."""
        return self.status == 404  # noqa: PLR2004 - HTTP's own number

    @property
    def is_conflict(self) -> bool:
        """Whether the object has changed since it was read, exists already, or has another owner of a field."""
        return self.status == 409  # noqa: PLR2004 - HTTP's own number

    @property
    def is_forbidden(self) -> bool:
        """Whether the account may not do this; the message names the verb and the resource."""
        return self.status == 403  # noqa: PLR2004 - HTTP's own number

    @property
    def is_expired(self) -> bool:
        """Whether a resource version or a page is too old to go on from."""
        return self.status == 410 or self.reason in {"Expired", "Gone"}  # noqa: PLR2004 - HTTP's own number

    @property
    def is_dying_namespace(self) -> bool:
        """Whether nothing can be created because the namespace is being deleted."""
        return self.status == 403 and "being terminated" in str(self)  # noqa: PLR2004 - HTTP's own number


class Cluster(Protocol):
    """An API server. Every method raises `ClusterError`; none retries."""

    async def reach(self) -> None:
        """Return when the server says that it can serve."""

    async def groups(self) -> frozenset[str]:
        """Return the names of the API groups that are served."""

    async def get(self, kind: Kind, namespace: str, name: str) -> Json | None:
        """Return an object, or None where there is none or the kind is not served."""

    async def page(self, selection: Selection, *, limit: int, next_page: str = "") -> Page:
        """Return a part of a list."""

    def watch(self, selection: Selection, resource_version: str) -> AsyncIterator[WatchEvent]:
        """Yield what happens after *resource_version*, with bookmarks, until the server ends it."""

    async def apply(self, content: Object, *, force: bool) -> Json:
        """Apply on the server's side as `FIELD_MANAGER` and return what is stored.

        A uid or resource version in *content* must be the stored one, or the apply is a conflict. With *force*, fields
        that others have set come to us; only what *content* holds is touched either way.
        """

    async def create(self, content: Object) -> Json:
        """Create an object and return it as stored."""

    async def delete(self, target: Object) -> None:
        """Delete the object with the identity and the uid of *target*, its dependents in the background."""

    async def merge(self, target: Object, patch: Object) -> Json:
        """Merge *patch* into the object unless it has changed since *target* was read, and return it."""

    async def merge_status(self, target: Object, patch: Object) -> Json:
        """Merge *patch* into the status of the object unless it has changed since *target* was read."""

    async def replace_status(self, target: Object, status: Object) -> Json:
        """Make *status* the whole status of the object, nulls included, unless it has changed since it was read."""

    async def remove_fields(self, target: Object, paths: Sequence[FieldPath]) -> Json:
        """Remove the fields at *paths* unless the object has changed since *target* was read, and return it."""

    async def scale(self, kind: Kind, namespace: str, name: str, replicas: int) -> None:
        """Set the scale subresource of an object."""


class Clock(Protocol):
    """Time."""

    def monotonic(self) -> float:
        """Return seconds that never go back."""

    def utc(self) -> datetime:
        """Return the time of day in UTC."""

    def timestamp(self) -> str:
        """Return the time of day as RFC 3339 text with whole seconds."""

    async def sleep(self, seconds: float) -> None:
        """Return after *seconds*."""


class Events(Protocol):
    """What users read beside a resource."""

    async def tell(self, resource: Object, sort: Literal["Normal", "Warning"], reason: str, message: str) -> None:
        """Record an event; never raises `ClusterError`."""


class Endpoints(Protocol):
    """Pods that serve models, and answer calls over HTTP."""

    async def call(self, calls: Sequence[HttpCall]) -> Mapping[str, Outcome]:
        """Make *calls* side by side, and return the outcome of each by its id, whatever the other side does."""


class Nobody:
    """`Endpoints` of which none answers and none is called: for plans."""

    async def call(self, calls: Sequence[HttpCall]) -> Mapping[str, Outcome]:
        """Return that no call was made."""
        return {call.id: Outcome("refused", "not called") for call in calls}


class Log(Protocol):
    """What operators read."""

    def write(self, level: Literal["info", "warning", "error"], message: str, **fields: object) -> None:
        """Record one line."""


@attrs.frozen(eq=False, repr=False)
class Request(Value):
    """What somebody asks over HTTP: the *path* is without its query."""

    method: str
    path: str
    body: bytes = b""


@attrs.frozen(eq=False, repr=False)
class Answer(Value):
    """What is answered over HTTP."""

    status: int
    body: bytes
    content_type: str = "text/plain; charset=utf-8"


Handler = Callable[[Request], Awaitable[Answer]]
"""Answers requests; what it raises becomes a 500."""


OFF = "0"
"""The address of a server that is not wanted."""


class BadAddress(ValueError):
    """A text is no address to listen on; the message says why."""


@attrs.frozen(eq=False, repr=False)
class Address(Value):
    """Where a server listens: *host* is empty for all addresses of the machine; port 0 lets the system choose."""

    host: str
    port: int

    @classmethod
    def parsed(cls, text: str) -> Address | None:
        """Return the address that *text* gives as `host:port`, `:port` or `[v6]:port`, or None for `0`, which is off.

        Raises BadAddress.
        """
        if text == OFF:
            return None
        host, colon, port = text.rpartition(":")
        if not colon or not (port.isascii() and port.isdigit()) or int(port) > 2**16 - 1:
            raise BadAddress(f'must be "0", ":PORT" or "HOST:PORT", got "{text}"')
        if ":" in host and not (host.startswith("[") and host.endswith("]")):
            raise BadAddress(f'an IPv6 address stands in brackets, got "{text}"')
        return cls(host.strip("[]"), int(port))

    def __str__(self) -> str:
        """Return the text that leads back to this address."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@attrs.frozen(eq=False, repr=False)
class Pair(Value):
    """A certificate with its key, and who has signed it; all as PEM."""

    certificate: str
    key: str
    authority: str


class Keys(Protocol):
    """Makes keys."""

    async def ssh_key(self) -> Mapping[str, bytes]:
        """Return a new key for SSH as files: ``private.key`` and ``private.key.pub``."""


class DiscoveryError(Exception):
    """What components leave behind outside of the cluster could not be removed; the message says why."""


class DiscoveryKeys(Protocol):
    """Keys by which components find each other, in a store outside of the cluster."""

    async def delete_all(self, prefix: str) -> None:
        """Delete every key that begins with *prefix*. Raises `DiscoveryError`."""


class Authority(Protocol):
    """Makes certificates and judges them."""

    def issued(self, names: Sequence[str]) -> Pair:
        """Return a new certificate for a server that is called by *names*."""

    def days_left(self, pair: Pair, names: Sequence[str]) -> float:
        """Return for how many days *pair* can still be used for all of *names*; zero or less when it cannot."""


class CertificateStore(Protocol):
    """Where a server finds its certificate."""

    @property
    def is_loaded(self) -> bool:
        """Whether there is a certificate to serve with."""

    def reload(self) -> bool:
        """Use what is stored now, and return whether that is something else than before. Raises OSError."""

    def write(self, certificate: str, key: str) -> None:
        """Store a certificate. Raises OSError."""

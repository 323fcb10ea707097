"""What a proxy may do to the requests of a controller: small values, each with the requests that it concerns.

A harm sees a request before it goes to the server, when the server has answered, and each line of a watch. It may
answer itself, wait, change or leave out a line, or cut the connection. It never makes up an object.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

import attrs

Json = dict[str, Any]

POLL = 0.02
OF_WATCH = "watch"
ABOUT_ITSELF = ("events", "leases")
"""Kinds of which the controller writes what is no part of a graph."""

WRITES = {"PATCH": "patch", "POST": "create", "PUT": "update", "DELETE": "delete"}


@attrs.frozen(eq=False)
class Asked:
    """One request: where it leads, what it carries, and in *answered* the status that the server gave, if any."""

    number: int
    method: str
    path: str
    query: Mapping[str, str]
    body: bytes
    agent: str = ""
    answered: list[int] = attrs.field(factory=list)

    @property
    def verb(self) -> str:
        """The verb as the API has it, reads of everything else among `get`."""
        if self.query.get("watch") == "true":
            return OF_WATCH
        return WRITES.get(self.method) or ("get" if self.name else "list")

    @property
    def is_write(self) -> bool:
        """Whether the request changes something that is not an event or a Lease."""
        return self.method in WRITES and "dryRun" not in self.query and self.resource not in ABOUT_ITSELF

    @property
    def is_accepted(self) -> bool:
        """Whether the server has done what was asked."""
        return bool(self.answered) and self.answered[0] < 400

    @property
    def namespace(self) -> str:
        """The namespace, empty for all."""
        parts = self._below_version
        return parts[1] if parts[:1] == ["namespaces"] and len(parts) > 2 else ""

    @property
    def resource(self) -> str:
        """The plural of the kind, empty for what is no object."""
        return next(iter(self._of_object), "")

    @property
    def name(self) -> str:
        """The name of the object, empty for collections."""
        return self._of_object[1] if len(self._of_object) > 1 else ""

    @property
    def subresource(self) -> str:
        """The subresource, such as `status`."""
        return self._of_object[2] if len(self._of_object) > 2 else ""

    @property
    def content(self) -> Json:
        """What the request carries."""
        return json.loads(self.body) if self.body else {}

    @property
    def target(self) -> tuple[str, str, str, str]:
        """What a write does to what: verb, kind as plural, name, subresource."""
        return self.verb, self.resource, self.name, self.subresource

    @property
    def _below_version(self) -> list[str]:
        parts = self.path.strip("/").split("/")
        return parts[2:] if parts[0] == "api" else parts[3:]

    @property
    def _of_object(self) -> list[str]:
        parts = self._below_version
        return parts[2:] if self.namespace else parts


Where = Callable[[Asked], bool]


class CutError(Exception):
    """The connection ends here; *rest* is passed on before."""

    def __init__(self, rest: bytes = b"") -> None:
        """Keep the rest."""
        super().__init__("cut")
        self.rest = rest


@attrs.frozen(eq=False)
class Said:
    """An answer that does not come from the server."""

    status: int
    body: bytes
    headers: Mapping[str, str] = attrs.field(factory=dict)


@attrs.define(eq=False, kw_only=True)
class Harm:
    """Does nothing yet, to requests that *where* names, at most *times*; *done* counts."""

    where: Where
    times: int = -1
    done: int = 0

    def concerns(self, asked: Asked) -> bool:
        """Whether the harm is done to this request; counts."""
        if self.done == self.times or not self.where(asked):
            return False
        self.done += 1
        return True

    async def before(self, asked: Asked) -> Said | None:
        """Act before the server is asked; an answer is given instead of the server's."""

    async def after(self, asked: Asked) -> None:
        """Act when the server has done its part, before the answer is passed on."""

    async def line(self, asked: Asked, line: bytes) -> bytes | None:  # noqa: ARG002 - others look at the request
        """Return what is passed on of a line of a watch, or None."""
        return line


@attrs.define(eq=False, kw_only=True)
class Refusal(Harm):
    """Answers with *status* in the server's stead, asking to wait for *retry_after* seconds where there are any."""

    status: int
    reason: str = ""
    retry_after: int | None = None

    async def before(self, asked: Asked) -> Said:
        """Refuse."""
        told = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": self.status, "reason": self.reason}
        told["message"] = f"the proxy refuses {asked.method} {asked.path}"
        waits = {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
        return Said(self.status, json.dumps(told).encode(), {"Content-Type": "application/json", **waits})


@attrs.define(eq=False, kw_only=True)
class Gateway(Harm):
    """Answers with a page for humans, as something between controller and server might."""

    status: int = 200

    async def before(self, asked: Asked) -> Said:  # noqa: ARG002 - it says the same to everyone
        """Answer with HTML."""
        return Said(self.status, b"<html>one moment please</html>", {"Content-Type": "text/html"})


@attrs.define(eq=False, kw_only=True)
class Loss(Harm):
    """Lets the server do what is asked, and loses the answer."""

    async def after(self, asked: Asked) -> None:  # noqa: ARG002 - it treats all alike
        """Cut the connection."""
        raise CutError


@attrs.define(eq=False, kw_only=True)
class Drop(Harm):
    """Cuts the connection before the server hears of the request."""

    async def before(self, asked: Asked) -> None:  # noqa: ARG002 - it treats all alike
        """Cut the connection."""
        raise CutError


@attrs.define(eq=False, kw_only=True)
class Act(Harm):
    """Calls *deed* with the request before the server hears of it, in a thread; the request waits for its end."""

    deed: Callable[[Asked], Any]

    async def before(self, asked: Asked) -> None:
        """Act."""
        await asyncio.to_thread(self.deed, asked)


@attrs.define(eq=False, kw_only=True)
class Silence(Harm):
    """Swallows every byte, as a peer that is gone without a farewell: of requests, or of the lines of watches."""

    of_lines: bool = False
    is_over: threading.Event = attrs.field(factory=threading.Event)

    async def before(self, asked: Asked) -> None:  # noqa: ARG002 - it treats all alike
        """Wait until it is over, which may be never."""
        if not self.of_lines:
            await _wait(self.is_over)

    async def line(self, asked: Asked, line: bytes) -> bytes:  # noqa: ARG002 - it treats all alike
        """Hold every line back until it is over; then all come, in order."""
        await _wait(self.is_over)
        return line


@attrs.define(eq=False, kw_only=True)
class Blindness(Harm):
    """Leaves out the lines of a watch that *unseen* names."""

    unseen: Callable[[Json], bool]

    async def line(self, asked: Asked, line: bytes) -> bytes | None:  # noqa: ARG002 - it treats all alike
        """Leave the line out, or not."""
        return None if self.unseen(json.loads(line)) else line


@attrs.define(eq=False, kw_only=True)
class Scissors(Harm):
    """Ends a watch in the middle of its line *number*, with a farewell (*politely*) or without."""

    number: int = 1
    politely: bool = False
    heard: int = 0

    async def line(self, asked: Asked, line: bytes) -> bytes:  # noqa: ARG002 - it treats all alike
        """Cut one line."""
        self.heard += 1
        if self.heard != self.number:
            return line
        if self.politely:
            raise EndError(line[: len(line) // 2])
        raise CutError(line[: len(line) // 2])


class EndError(CutError):
    """As a cut, but the answer ends as every answer does."""


@attrs.define(eq=False, kw_only=True)
class Expiry(Harm):
    """Tells in a watch that the version has expired, and ends it: at once, or instead of a line that was to come."""

    of_lines: bool = False
    is_due: threading.Event = attrs.field(factory=threading.Event)

    async def before(self, asked: Asked) -> Said | None:  # noqa: ARG002 - it treats all alike
        """Tell the error with the status of success, as servers do."""
        return None if self.of_lines else Said(200, self._told(), {"Content-Type": "application/json"})

    async def line(self, asked: Asked, line: bytes) -> bytes:  # noqa: ARG002 - it treats all alike
        """Tell the error instead of the line, when it is due."""
        if not self.is_due.is_set():
            return line
        raise EndError(self._told())

    def _told(self) -> bytes:
        status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 410, "reason": "Expired"}
        told = {"type": "ERROR", "object": {**status, "message": "The resourceVersion is too old."}}
        return json.dumps(told).encode() + b"\n"


@attrs.define(eq=False, kw_only=True)
class Death(Harm):
    """Calls *kill* when the server has accepted the write with number *count*; later ones pass when that is over."""

    count: int
    kill: Callable[[], None]
    passed: int = 0
    last: Asked | None = None
    is_over: bool = False

    async def before(self, asked: Asked) -> None:
        """Let the first ones pass, and those of the next life."""
        if self.passed >= self.count and not self.is_over:
            raise CutError
        self.passed += 1
        if self.passed == self.count:
            self.last = asked

    async def after(self, asked: Asked) -> None:
        """Kill."""
        if asked is self.last:
            self.kill()
            self.is_over = True
            raise CutError


async def _wait(event: threading.Event) -> None:
    while not event.is_set():  # noqa: ASYNC110 - tests set it in another thread
        await asyncio.sleep(POLL)

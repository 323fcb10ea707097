"""A small client of an API server for tests: JSON over kept connections, nothing hidden.

Finds the path of a kind through the server's own discovery. Never retries a refusal, never fills in anything.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import queue
import ssl
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import attrs

Json = dict[str, Any]

FIELD_MANAGER = "dynamo-render-tests"
REQUEST_LIMIT = 60.0
"""Seconds that one request may take."""

JSON, YAML, APPLY_PATCH = "application/json", "application/yaml", "application/apply-patch+yaml"
MERGE_PATCH = "application/merge-patch+json"

FIRST_REFUSAL = 400


@attrs.frozen(eq=False)
class Answer:
    """What the server said to one request: the *status* of HTTP, the *body*, and its *warnings* in order."""

    status: int
    body: Json
    warnings: tuple[str, ...] = ()

    @property
    def is_refusal(self) -> bool:
        """Whether the request was refused."""
        return self.status >= FIRST_REFUSAL

    @property
    def message(self) -> str:
        """The server's reason for a refusal; empty for an object."""
        return str(self.body.get("message", "")) if self.is_refusal else ""

    @property
    def causes(self) -> tuple[tuple[str, str], ...]:
        """The field and the message of each cause of a refusal, as far as the server names them."""
        listed = (self.body.get("details") or {}).get("causes") or () if self.is_refusal else ()
        return tuple((cause.get("field", ""), cause.get("message", "")) for cause in listed)


class RefusedError(Exception):
    """A request that should succeed was refused; *answer* has the server's words."""

    def __init__(self, request: str, answer: Answer) -> None:
        """Name the *request* in the message."""
        super().__init__(f"{request}: {answer.status} {answer.message}")
        self.answer = answer


@attrs.frozen
class Access:
    """How to reach a server: a loopback *port*, the *authority* that signed its certificate as a file, a *token*."""

    port: int
    authority: Path
    token: str


class Client:
    """Requests to one API server. All threads may use it; there are as many connections as requests at one time."""

    def __init__(self, access: Access) -> None:
        """Read the authority; nothing is sent yet."""
        self._access = access
        self._trust = ssl.create_default_context(cafile=str(access.authority))
        self._idle: queue.SimpleQueue[http.client.HTTPSConnection] = queue.SimpleQueue()
        self._resources: dict[str, dict[str, tuple[str, bool]]] = {}

    def send(self, method: str, path: str, body: Json | str | None = None, content: str = JSON) -> Answer:
        """Return the answer to one request, whatever it is; a text as *body* is sent as it stands."""
        text = body if body is None or isinstance(body, str) else json.dumps(body)
        payload = None if text is None else text.encode()
        headers = {"Authorization": f"Bearer {self._access.token}", "Accept": JSON, "Content-Type": content}
        connection = self._connection()
        try:
            answer = _exchange(connection, method, path, payload, headers)
        except (http.client.RemoteDisconnected, ConnectionError, ssl.SSLEOFError):
            # The server may close an idle connection at any time; a new one settles whether it is alive.
            connection.close()
            answer = _exchange(connection, method, path, payload, headers)
        finally:
            self._idle.put(connection)
        return answer

    def close(self) -> None:
        """Close all connections; the client can still be used."""
        with contextlib.suppress(queue.Empty):
            while True:
                self._idle.get_nowait().close()

    def get(self, api_version: str, kind: str, name: str = "", namespace: str = "") -> Json:
        """Return one object, or without a *name* the list of its kind."""
        return self._expect("GET", self.path(api_version, kind, name, namespace))

    def create(self, content: Json, *, dry_run: bool = False) -> Json:
        """Create an object, under strict field validation, and return it as stored."""
        return self._expect("POST", _with(self._collection(content), dry_run=dry_run), content)

    def apply(self, content: Json, *, dry_run: bool = False) -> Json:
        """Apply an object on the server's side, under strict field validation, and return it as stored."""
        return self._expect("PATCH", self._apply_path(content, dry_run=dry_run), content, APPLY_PATCH)

    def patch_status(self, content: Json, status: Json) -> Json:
        """Merge *status* into the status of an object and return the object."""
        return self._expect("PATCH", f"{self._own_path(content)}/status", {"status": status}, MERGE_PATCH)

    def delete(self, content: Json) -> Json:
        """Delete an object, its dependents in the background."""
        return self._expect("DELETE", f"{self._own_path(content)}?propagationPolicy=Background")

    def verdict_on_create(self, content: Json) -> Answer:
        """Return what the server would say to a create under strict field validation; nothing is stored."""
        return self.send("POST", _with(self._collection(content), dry_run=True), content)

    def verdict_on_apply(self, content: Json) -> Answer:
        """Return what the server would say to a server-side apply under strict field validation; nothing is stored."""
        return self.send("PATCH", self._apply_path(content, dry_run=True), content, APPLY_PATCH)

    def path(self, api_version: str, kind: str, name: str = "", namespace: str = "") -> str:
        """Return the path of a kind's collection or, with a *name*, of one object."""
        plural, is_namespaced = self._resource(api_version, kind)
        inside = f"/namespaces/{quote(namespace, safe='')}" if is_namespaced and namespace else ""
        return f"{_root(api_version)}{inside}/{plural}" + (f"/{quote(name, safe='')}" if name else "")

    def _collection(self, content: Json) -> str:
        return self.path(content["apiVersion"], content["kind"], namespace=content["metadata"].get("namespace", ""))

    def _own_path(self, content: Json) -> str:
        return f"{self._collection(content)}/{quote(content['metadata']['name'], safe='')}"

    def _apply_path(self, content: Json, *, dry_run: bool) -> str:
        return _with(self._own_path(content), dry_run=dry_run, force="true")

    def _resource(self, api_version: str, kind: str) -> tuple[str, bool]:
        if kind not in self._resources.get(api_version, {}):
            # Asked again for a kind that is missing: its definition may be newer than the last answer.
            listed = self._expect("GET", _root(api_version))["resources"]
            self._resources[api_version] = {
                entry["kind"]: (entry["name"], entry["namespaced"]) for entry in listed if "/" not in entry["name"]
            }
        return self._resources[api_version][kind]

    def _expect(self, method: str, path: str, body: Json | str | None = None, content: str = JSON) -> Json:
        answer = self.send(method, path, body, content)
        if answer.is_refusal:
            raise RefusedError(f"{method} {path}", answer)
        return answer.body

    def _connection(self) -> http.client.HTTPSConnection:
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            port, trust = self._access.port, self._trust
            return http.client.HTTPSConnection("127.0.0.1", port, timeout=REQUEST_LIMIT, context=trust)


def answers(ask: Callable[[Json], Answer], contents: Iterable[Json], *, threads: int = 4) -> list[Answer]:
    """Return what *ask*, a method of a client, answers to each of *contents*, in their order, several at a time."""
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(ask, contents))


def _exchange(
    connection: http.client.HTTPSConnection, method: str, path: str, payload: bytes | None, headers: Mapping[str, str]
) -> Answer:
    try:
        connection.request(method, path, payload, dict(headers))
        response = connection.getresponse()
        text = response.read().decode()
    except BaseException:
        # What is left of this exchange must not be read as the answer to the next one.
        connection.close()
        raise
    is_json = response.headers.get_content_type() == JSON
    body = json.loads(text) if is_json else {"message": text}
    warnings = tuple(_warning_text(value) for value in response.headers.get_all("Warning") or ())
    return Answer(response.status, body, warnings)


def _root(api_version: str) -> str:
    return f"/api/{api_version}" if "/" not in api_version else f"/apis/{api_version}"


def _with(path: str, *, dry_run: bool, **more: str) -> str:
    query = {"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict", **more}
    return f"{path}?{urlencode({**query, 'dryRun': 'All'} if dry_run else query)}"


def _warning_text(header: str) -> str:
    # 299 - "the text"
    return header.partition('"')[2].removesuffix('"').replace('\\"', '"').replace("\\\\", "\\")
